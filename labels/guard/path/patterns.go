package path

import "strings"

// many tells whether a text is a pattern that names any number of files.
func many(text string) bool {
	return strings.ContainsAny(text, "*?") || strings.IndexByte(text, '{') >= 0 && strings.IndexByte(text, '}') > 0
}

// patterns judges wildcards and braces by whether a segment could become "..". "[id]" and "[...slug]" are ordinary names of files.
func (r *Rule) patterns(text string) string {
	braces := strings.IndexByte(text, '{') >= 0
	for rest := text; rest != ""; {
		i := 0
		for i < len(rest) && !r.separates(rest[i]) {
			i++
		}
		seg := rest[:i]
		rest = rest[min(i+1, len(rest)):]
		if braces && bracedDots(seg) || matchesParent(seg) {
			return WhyPattern
		}
	}
	return ""
}

// dots tells whether a text is nothing but dots, and blanks behind them.
func dots(s string) bool {
	s = strings.TrimRight(s, " ")
	return s != "" && strings.Trim(s, ".") == ""
}

// bracedDots tells whether what braces make of a segment can be nothing but dots: one
// of the pieces between them is.
func bracedDots(seg string) bool {
	for piece := range strings.FieldsFuncSeq(seg, func(c rune) bool { return c == '{' || c == '}' || c == ',' }) {
		if dots(piece) {
			return true
		}
	}
	return false
}

// matchesParent tells whether a segment is a pattern that shells match with "..". A
// dot at the beginning of a name has to be named: a star there does not match it.
func matchesParent(seg string) bool {
	if seg == "" || !strings.ContainsAny(seg, "*?[") || seg[0] == '*' || seg[0] == '?' {
		return false
	}
	single, star := 0, false
	for i := 0; i < len(seg); i++ {
		switch seg[i] {
		case '*':
			star = true
		case '.', '?':
			single++
		case '[':
			n, dot := class(seg[i:])
			if !dot {
				return false
			}
			single++
			i += n - 1
		default:
			return false
		}
	}
	return single == 2 || star && single < 2
}

// class is the length of the bracket expression that a text begins with, and whether
// it may match a dot. Without an end it is a bracket.
func class(s string) (n int, dot bool) {
	end := 2
	for end < len(s) && s[end] != ']' {
		end++
	}
	if end >= len(s) {
		return 1, false
	}
	body := s[1:end]
	return end + 1, strings.ContainsAny(body, ".-:=") || body[0] == '!' || body[0] == '^'
}
