package content

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxText is the longest text that is judged; a longer one is refused unread.
const maxText = 16 << 20

// maxManifest is the longest manifest that is read, in bytes; lock files are longer.
const maxManifest = 512 << 10

var lockKinds = map[kind]bool{npmLock: true, yarnLock: true, pnpmLock: true, pipfileLock: true, tomlLock: true, goSum: true, gemfileLock: true, composerLock: true}

// write judges c.w.
func (c *check) write() {
	c.name = fold(c.w.Path)
	c.kind = c.j.kindOf(c.name)
	c.bits()
	if c.w.Content == "" {
		if moves[strings.ToLower(c.w.Action)] {
			c.movedIn()
		}
		return
	}
	text, ok := c.decoded()
	if !ok {
		c.all(Unread, whyEncoding)
		text = c.w.Content
	}
	if len(text) > maxText {
		c.all(Unread, whyLong)
		c.all(Secret, whyLong)
		return
	}
	c.text = text
	if len(text) > maxManifest && c.kind != plain && c.kind < builds && !lockKinds[c.kind] {
		c.all(Unread, whyLong)
		c.kind = plain
	}
	if c.w.Patch && c.patch() {
		return
	}
	c.judged()
	c.ends()
}

// judged judges the text as it is read where a line ends at \n.
func (c *check) judged() {
	if !c.w.seen { // what has the shape of a patch is held against secrets where it stands
		c.secrets()
	}
	if c.w.named || c.w.Loose && !fileLike(c.text) {
		return
	}
	c.read()
	c.endCommands()
}

var moves = map[string]bool{"move": true, "rename": true, "copy": true}

// movedIn judges a file of unknown content that gets a name that has effects.
func (c *check) movedIn() {
	switch c.kind {
	case plain, shell, makefile, dotenv:
	case gitlabCI, workflow, action, otherCI, jenkins:
		c.all(CI, whyMoved)
	case builds, setupPy:
		c.all(Script, whyMoved)
	case settings, instructions, npmrc, yarnrc, pipConf, gitmodules, gitattributes:
		c.all(Settings, whyMoved)
	default:
		c.all(Dependency, whyMoved)
	}
}

// bits judges modes of files.
func (c *check) bits() {
	mode := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(c.w.Mode), "0o"), "0")
	switch {
	case mode == "120000" || mode == "160000" || mode == "symlink" || mode == "commit":
		c.all(Executable, whyLink)
	case c.w.Executable, mode == "executable", executableMode(mode):
		c.all(Executable, whyExecutable)
	}
}

// executableMode tells whether a mode in digits or in signs lets anybody execute, or
// sets the bits that make others' programs run as somebody.
func executableMode(m string) bool {
	if m == "" {
		return false
	}
	if strings.Trim(m, "01234567") == "" {
		if len(m) > 3 && (m[len(m)-4] == '4' || m[len(m)-4] == '2' || m[len(m)-4] == '6') && len(m) == 4 {
			return true
		}
		for _, d := range m[max(0, len(m)-3):] {
			if (d-'0')&1 == 1 {
				return true
			}
		}
		return false
	}
	for _, part := range strings.Split(m, ",") {
		if i := strings.IndexAny(part, "+="); i >= 0 && strings.ContainsAny(part[i:], "xs") && strings.Trim(part[:i], "ugoa") == "" {
			return true
		}
	}
	return len(m) >= 9 && strings.Trim(m, "rwxst-") == "" && strings.ContainsAny(m, "xs")
}

// decoded is the text that will be written; false where that cannot be told.
func (c *check) decoded() (string, bool) {
	s, ok := c.w.Content, true
	switch strings.ToLower(strings.ReplaceAll(strings.TrimSpace(c.w.Encoding), "_", "-")) {
	case "", "text", "utf-8", "utf8", "plain", "none", "ascii", "us-ascii", "text/plain", "string", "raw":
	case "base64", "base64url", "b64", "base-64":
		s, ok = unbase64(s)
	case "hex", "base16":
		var b []byte
		b, err := hex.DecodeString(strings.TrimSpace(s))
		s, ok = string(b), err == nil
	default:
		return s, false
	}
	if !ok {
		return s, false
	}
	if d, is := dataURL(s); is {
		s = d
	} else if c.kind != plain && c.w.Encoding == "" && len(s) >= 16 {
		if d, is := unbase64(s); is && utf8.ValidString(d) {
			s = d
		}
	}
	if c.w.Patch && c.w.Encoding == "" && c.kind == plain && !patchy(s) {
		s = patchText(s)
	}
	s = unicodeText(s)
	if c.kind != plain && c.kind != builds && c.kind != settings && (!utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0) {
		return s, false
	}
	return s, true
}

// unicodeText takes off a byte order mark, and reads UTF-16 where one says so.
func unicodeText(s string) string {
	if t, ok := strings.CutPrefix(s, "\ufeff"); ok {
		return t
	}
	if len(s) < 2 || s[:2] != "\xff\xfe" && s[:2] != "\xfe\xff" {
		return s
	}
	big := s[0] == 0xfe
	u := make([]uint16, 0, len(s)/2)
	for i := 2; i+1 < len(s); i += 2 {
		a, b := uint16(s[i]), uint16(s[i+1])
		if big {
			a, b = b, a
		}
		u = append(u, b<<8|a)
	}
	return string(utf16.Decode(u))
}

// unbase64 reads the usual and the URL alphabet, with or without padding and white
// space. Readers that overlook other characters would read something else, so that
// nothing is overlooked here.
func unbase64(s string) (string, bool) {
	if strings.ContainsAny(s, " \t\r\n") {
		s = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)
	}
	if strings.ContainsAny(s, "-_") {
		s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return string(b), err == nil
}

// dataURL is what a data URL holds.
func dataURL(s string) (string, bool) {
	if len(s) < 5 || !strings.EqualFold(s[:5], "data:") {
		return "", false
	}
	head, body, ok := strings.Cut(s[5:], ",")
	if !ok || len(head) > 200 || strings.ContainsAny(head, "\n{}\"") {
		return "", false
	}
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		return unbase64(unpercent(body))
	}
	return unpercent(body), true
}

// fileLike tells whether a text is more than a word or a sentence.
func fileLike(s string) bool {
	return strings.Contains(s, "\n") || strings.Contains(s, ": ") || strings.HasPrefix(strings.TrimSpace(s), "{")
}

// read judges the text by what reads the file.
func (c *check) read() {
	switch c.kind {
	case npmManifest, npmLock, composerManifest, composerLock, pipfileLock:
		c.readJSON()
	case yarnLock, pnpmLock, goSum, gemfileLock:
		c.readLock()
	case pyproject, pipfile, cargoManifest, tomlLock:
		c.readTOML()
	case requirements:
		c.requirements()
	case setupCfg:
		c.setupCfg()
	case setupPy:
		c.setupPy()
	case builds:
		c.all(Script, whyInstall)
	case goMod, goWork:
		c.goModule()
	case gemfile:
		c.gemfile()
	case pom:
		c.pom()
	case gradle:
		c.gradle()
	case wrapper:
		c.wrapper()
	case foreign:
		if !c.j.off[Dependency] {
			c.all(Unread, whyForeign)
		}
	case partly:
		if !c.j.off[Dependency] && partManifest(c.text) {
			c.all(Unread, whyForeign)
		}
	case dockerfile:
		c.dockerfile()
	case compose, gitlabCI, workflow, action, otherCI, pnpmWorkspace:
		c.readYAML()
	case jenkins, makefile, shell:
		c.scripts()
	case npmrc, yarnrc, pipConf, gitmodules, gitattributes, settings, instructions:
		c.settings()
	}
}
