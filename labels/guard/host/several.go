package host

import "strings"

const (
	maxSeveral = 64 // URLs in one text
	maxScheme  = 16 // bytes of a scheme that is looked for inside of a text
)

// ends are what no URL goes on behind, where another begins or nothing more of a host
// follows.
const ends = " ,;|<>\"'\t\r\n"

// further judges the URLs in a text besides the one that it begins with, of which why
// was said, if n is 1. All of them have to pass; WhyOther is said where surely none
// does.
func (r *Rule) further(text, why string, n int) string {
	passed, other, first := n == 1 && why == "", n == 1 && why == WhyOther, why
	from := 0
	if s := schemeOf(text); strings.HasPrefix(text[len(s):], "://") {
		from = len(s) + 3
	}
	for {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			break
		}
		i += from
		from = i + 3
		at := r.fetchedFrom(text, i)
		if at < 0 {
			continue
		}
		if n++; n > maxSeveral {
			return WhySeveral
		}
		switch next := r.check(cutURL(text, at, i+3), 1); next {
		case "":
			passed = true
		case WhyOther:
			other = true
		default:
			if first == "" || first == WhyOther {
				first = next
			}
		}
	}
	switch {
	case first != "" && first != WhyOther:
		return first
	case passed && other:
		return WhySeveral
	case other:
		return WhyOther
	}
	return ""
}

// fetchedFrom is where a scheme begins that ends before i and that programs follow to
// a host; negative where none does.
func (r *Rule) fetchedFrom(text string, i int) int {
	at := i
	for at > 0 && i-at < maxScheme && schemed(text[at-1]) {
		at--
	}
	for ; at < i; at++ {
		if s := text[at:i]; letter(s[0]) && (listed(browsed, s) || listed(fetched, s) || r.speaks(s)) {
			return at
		}
	}
	return -1
}

func schemed(c byte) bool { return letter(c) || digit(c) || c == '+' || c == '-' || c == '.' }

// cutURL is the URL that begins at a place of a text, its authority behind the colon
// and slashes. It ends where a list goes on, unless what follows could make another
// host of it.
func cutURL(text string, at, authority int) string {
	end := strings.IndexAny(text[authority:], ends)
	if end < 0 {
		return text[at:]
	}
	end += authority
	rest := text[end:]
	if i := strings.Index(rest, "://"); i >= 0 {
		rest = rest[:i]
	}
	if strings.IndexByte(rest, '@') >= 0 {
		return text[at:]
	}
	return text[at:end]
}
