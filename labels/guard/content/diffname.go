package content

import (
	"strings"
)

// mostCuts is how many blanks in a name are tried as its end.
const mostCuts = 8

// headerNames are the names that readers of patches may see in a header: what stands in
// quotes, as Git writes it; what stands before a tab; what stands before any blank, for
// a time may follow.
func headerNames(s string) (names []string) {
	s = strings.TrimLeft(s, " \t")
	if strings.HasPrefix(s, `"`) {
		name, _ := unquoteC(s)
		return named(named(nil, name), strings.Trim(strings.TrimSpace(s), `"`))
	}
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	names = named(nil, s)
	for i, n := 0, 0; i < len(s) && n < mostCuts; i++ {
		if s[i] == ' ' {
			names = named(names, s[:i])
			n++
		}
	}
	return names
}

// gitNames are the new names in "a/x b/x".
func gitNames(s string) (names []string) {
	s = strings.TrimSpace(s)
	for i, n := 0, 0; i < len(s) && n < mostCuts; n++ {
		if s[i] == '"' {
			name, end := unquoteC(s[i:])
			if i += end; n > 0 {
				names = named(names, name)
			}
		} else {
			if n > 0 {
				names = named(names, strings.Trim(s[i:], `"`))
			}
			for i < len(s) && s[i] != ' ' && s[i] != '\t' {
				i++
			}
		}
		for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
			i++
		}
	}
	return names
}

// named adds a name without the letter that Git puts before it.
func named(names []string, n string) []string {
	if n = strings.TrimPrefix(n, "b/"); n == "" || strings.HasPrefix(n, "/dev/null") || len(n) >= 4096 {
		return names
	}
	return append(names, n)
}

// unquoteC reads a name in quotes as C writes it, and says where it ends.
func unquoteC(s string) (name string, end int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i + 1
		case s[i] == '\\' && i+1 < len(s):
			i += unescape(&b, s[i+1:])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), len(s)
}
