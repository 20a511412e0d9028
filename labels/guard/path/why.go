package path

import "slices"

// What a rule says of a path that it refuses. None repeats the path. All but
// WhyOutside mean that it cannot be told where the path lies, or that programs do not
// agree on it.
const (
	WhyNoRule = "No rule was made; no path can be judged."
	// WhyOutside is said of a plain path, and of no other: it lies elsewhere, whatever
	// the case of its letters and, where links can be seen, wherever they lead.
	WhyOutside   = "The path lies outside of the folders and files that are allowed."
	WhyEmpty     = "The path is empty."
	WhyLong      = "The path is longer than 4096 bytes."
	WhyRelative  = "The path is relative; the folders and files that are allowed are absolute."
	WhyAbsolute  = "The path is absolute; the folders and files that are allowed are relative."
	WhyOtherForm = "The path is another spelling of one that is allowed."
	WhyFolder    = "The path names a folder where a file is allowed."
	WhyParent    = "The path has a segment \"..\"."
	WhyTrailing  = "A segment of the path ends in a dot or a blank, which some systems drop."
	WhyLeading   = "The path begins with a blank, which some programs drop."
	WhyOption    = "The path begins with \"-\", like an option of a command."
	WhyControl   = "The path has a control character."
	WhyUTF8      = "The path is not text in UTF-8."
	WhyInvisible = "The path has an invisible character, which some systems drop."
	WhyLookalike = "The path has a character that resembles or becomes a dot, a slash or a sign of paths."
	WhyBackslash = "The path has a backslash, which some systems take for a slash."
	WhyNetwork   = "The path begins with two slashes, which some systems take for a host."
	WhyDrive     = "The path begins with a drive, or lacks one."
	WhyURL       = "The path is a URL or begins with a host."
	WhyStream    = "The path names a stream of a file, or has a character that Windows refuses."
	WhyShort     = "The path may be the short form of another name."
	WhyDevice    = "A segment of the path is a device on Windows."
	WhyPercent   = "The path is percent-encoded where its parts depend on it, or more than once."
	WhyExpands   = "The path has a variable or a command that shells put something else in place of."
	WhyHome      = "The path begins with \"~\", which some programs take for a home folder."
	WhyPattern   = "The path is a pattern that can name other files."
	WhyLink      = "A link on the path leads out of what is allowed."
	WhyUntold    = "Where the links on the path lead cannot be told."
)

var reasons = []string{
	WhyNoRule, WhyOutside, WhyEmpty, WhyLong, WhyRelative, WhyAbsolute, WhyOtherForm, WhyFolder, WhyParent, WhyTrailing, WhyLeading,
	WhyOption, WhyControl, WhyUTF8, WhyInvisible, WhyLookalike, WhyBackslash, WhyNetwork, WhyDrive, WhyURL, WhyStream, WhyShort,
	WhyDevice, WhyPercent, WhyExpands, WhyHome, WhyPattern, WhyLink, WhyUntold,
}

// Reasons are all sentences that Check can say.
func Reasons() []string { return slices.Clone(reasons) }
