package unfold

import "strings"

// control reads a control character of ASCII, with the sequence that it begins.
// In what is returned, colours and moves of a log are fine and concealing is
// not; in metadata nothing of it has a use. None of it is text, so words go on
// behind it.
func (f *folder) control(i int) int {
	if f.text[i] != esc {
		if !f.opt.Returned {
			f.add(ControlChar, Plain, i, i+1, 1)
		}
		return f.replace(i, 1, "")
	}
	n := 1 + sequence(f.text[i+1:])
	f.escaped(i, n, f.text[i+1:i+n])
	return f.replace(i, n, "")
}

// c1 reads a control character of the second set; one of them is an escape with
// its bracket.
func (f *folder) c1(i int, c rune, n int) int {
	if c == csi {
		m := csiEnd(f.text[i+n:])
		f.escaped(i, n+m, "["+f.text[i+n:i+n+m])
		return f.replace(i, n+m, "")
	}
	f.add(ControlChar, Plain, i, i+n, 1)
	return f.replace(i, n, "")
}

func (f *folder) escaped(i, n int, s string) {
	switch {
	case conceals(s):
		f.add(Concealed, Plain, i, i+n, 1)
	case !f.opt.Returned:
		f.add(Terminal, Plain, i, i+n, 1)
	}
}

// longestSequence bounds what is taken for a sequence: beyond, it is text.
const longestSequence = 64

// sequence is the length of what follows an escape character.
func sequence(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '[':
		return 1 + csiEnd(s[1:])
	case ']', 'P', '_', '^', 'X': // a string, up to BEL or ESC \: text in it may be shown
		if s[0] == ']' && strings.HasPrefix(s, "]8;") {
			if k := strings.IndexAny(s[:min(len(s), 2048)], "\a\x1b"); k >= 0 {
				return k
			}
		}
		n := 1
		for n < len(s) && n < 8 && classes[s[n]]&digitByte != 0 {
			n++
		}
		return n
	}
	return min(1, len(s))
}

// csiEnd is the length of parameters and final byte.
func csiEnd(s string) int {
	for i := 0; i < len(s) && i < longestSequence; i++ {
		if c := s[i]; c >= '@' && c <= '~' {
			return i + 1
		} else if c < ' ' || c > '?' {
			return i
		}
	}
	return 0
}

// conceals tells whether what follows an escape hides text or leaves the text: a
// conceal attribute, a line erased, letters in the colour of the ground, an
// operating system command.
func conceals(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == ']' {
		return len(s) > 1 && !strings.HasPrefix(s, "]8;") && s != "]0" && s != "]1" && s != "]2" && s != "]8" // links and titles
	}
	if s[0] != '[' || len(s) < 2 {
		return false
	}
	params, final := s[1:len(s)-1], s[len(s)-1]
	if final == 'K' {
		return params == "2"
	}
	if final != 'm' {
		return false
	}
	list := strings.Split(params, ";")
	fore, ground := "", ""
	for k := 0; k < len(list); k++ {
		switch list[k] {
		case "38", "48": // a colour's own parameters follow
			n := 4
			if k+1 < len(list) && list[k+1] == "5" {
				n = 2
			}
			end := min(k+n+1, len(list))
			if list[k] == "38" {
				fore = strings.Join(list[k+1:end], ";")
			} else {
				ground = strings.Join(list[k+1:end], ";")
			}
			k += n
		case "8", "08":
			return true
		}
	}
	return fore != "" && fore == ground || has(list, "30") && has(list, "40") || has(list, "37") && has(list, "47")
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
