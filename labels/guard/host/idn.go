package host

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// registered is how names are looked up (UTS 46), with every check on.
var registered = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.ValidateLabels(true), idna.StrictDomainName(true), idna.Transitional(false))

// readIDN reads an international name, in its own letters or in ASCII. It has to be
// written in the one form that both standards come to. A name whose letters mislead is
// read, with WhyLookalike.
func readIDN(h string) (n name, why string) {
	ascii, err := registered.ToASCII(h)
	if err != nil || len(ascii) > 253 {
		return n, WhyIDN
	}
	own, err := registered.ToUnicode(ascii)
	if err != nil || own != h && ascii != strings.ToLower(h) || strings.ContainsFunc(own, deviates) {
		return n, WhyIDN
	}
	n, why = readASCII(ascii)
	for l := range strings.SplitSeq(own, ".") {
		if why == "" && misleads(l) {
			why = WhyLookalike
		}
	}
	return n, why
}

// deviates tells whether IDNA 2003 and 2008 read a character differently.
func deviates(c rune) bool { return c == 'ß' || c == 'ς' || c == '\u200c' || c == '\u200d' }

// misleads tells whether a label mixes scripts that no language mixes, or is told from
// one of ours by letters alone that pass for ASCII.
func misleads(l string) bool {
	scripts := map[string]bool{}
	foreign, alike := 0, 0
	for _, c := range norm.NFD.String(l) {
		s := scriptOf(c)
		if s == "" {
			continue
		}
		scripts[s] = true
		if c < utf8.RuneSelf || european(c) {
			continue
		}
		foreign++
		if plain(lookalike.Fold(nil, string(c))) {
			alike++
		}
	}
	return foreign > 0 && (foreign == alike || mixed(scripts))
}

// european are letters of Latin script beyond ASCII that have a keyboard's key of
// their own and are not taken for others: not dotless i, long s and kra.
func european(c rune) bool {
	return c >= 0xdf && c <= 0x17e && c != 0xf7 && c != 0x131 && c != 0x138 && unicode.Is(unicode.Latin, c)
}

func plain(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// scriptOf is the script of a letter; empty for digits, signs and marks, which stand
// in all of them.
func scriptOf(c rune) string {
	if unicode.In(c, unicode.Common, unicode.Inherited) {
		return ""
	}
	for s, table := range unicode.Scripts {
		if unicode.Is(table, c) {
			return s
		}
	}
	return "unknown"
}

// mixed tells whether scripts stand in one label that no language writes together.
func mixed(scripts map[string]bool) bool {
	if len(scripts) < 2 {
		return false
	}
	for _, together := range [...][]string{{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Hangul"}, {"Latin", "Han", "Bopomofo"}} {
		n := 0
		for _, s := range together {
			if scripts[s] {
				n++
			}
		}
		if n == len(scripts) {
			return false
		}
	}
	return true
}
