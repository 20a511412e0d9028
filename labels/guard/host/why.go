package host

import "slices"

// What a rule says of a text that it refuses. None repeats the text. All but WhyOther
// mean that it cannot be told which host is meant, or that no rule can allow it.
const (
	WhyNoRule = "No rule was made; no host can be judged."
	// WhyOther is said of a plain host, or of several, and of no other: it is none of
	// Allow.
	WhyOther     = "The host is none of those that are allowed."
	WhyUnlike    = "The host is an address where names are allowed, or the other way round."
	WhyOtherPort = "The port is not one that is allowed with this host."
	WhyEmpty     = "The URL is empty."
	WhyLong      = "The URL is longer than 8192 bytes."
	WhyNoHost    = "The URL names no host."
	WhyScheme    = "The scheme of the URL is not one that is allowed."
	WhySlashes   = "The scheme of the URL is not followed by two slashes and a host."
	WhyControl   = "The URL has a control character, or a blank at its beginning, its end or in its host."
	WhyBackslash = "The URL has a backslash, which browsers take for a slash."
	WhyUser      = "The URL has a user before its host, or what some programs take for one."
	WhyPort      = "The port is not a plain number from 1 to 65535."
	WhyHost      = "The host is not a plain name or address."
	WhyDot       = "The name of the host ends in a dot."
	WhyAddress   = "The host is an address in a form that programs read in different ways."
	WhyIDN       = "The host is an international name that is not written in its one plain form."
	WhyLookalike = "The host mixes scripts, or resembles a name in other letters."
	WhyPrivate   = "The host is not public: this machine, a private network, or a cloud's own service."
	WhyNested    = "A parameter of the URL is itself a URL to a host that is refused."
	WhySeveral   = "The text has several URLs, of which not all surely name a host that is allowed."
)

var reasons = []string{
	WhyNoRule, WhyOther, WhyUnlike, WhyOtherPort, WhyEmpty, WhyLong, WhyNoHost, WhyScheme, WhySlashes, WhyControl, WhyBackslash,
	WhyUser, WhyPort, WhyHost, WhyDot, WhyAddress, WhyIDN, WhyLookalike, WhyPrivate, WhyNested, WhySeveral,
}

// Reasons are all sentences that Check can say.
func Reasons() []string { return slices.Clone(reasons) }
