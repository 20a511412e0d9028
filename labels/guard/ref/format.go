package ref

import "strings"

// Valid tells whether git takes the text for the name of a ref below refs/heads or
// refs/tags (git check-ref-format --allow-onelevel).
func Valid(name string) bool {
	if name == "" || name == "@" || name[len(name)-1] == '.' || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return false
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// matches tells whether a name fits a pattern, in which "*" is any characters.
func matches[T string | []byte](glob []byte, name T) bool {
	g, n, star, back := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, back = g, n
			g++
		case g < len(glob) && glob[g] == name[n]:
			g++
			n++
		case star >= 0:
			back++
			g, n = star+1, back
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

// meets tells whether some name fits both patterns. The cost is the product of their
// lengths.
func meets(a, b []byte) bool {
	row := make([]bool, len(b)+1) // row[j]: whether a[:i] and b[:j] can be one text
	row[0] = true
	for j := 0; j < len(b) && b[j] == '*'; j++ {
		row[j+1] = true
	}
	for i := range a {
		corner := row[0] // of the row before, one to the left
		row[0] = row[0] && a[i] == '*'
		for j := range b {
			above := row[j+1]
			if a[i] == '*' || b[j] == '*' { // the star takes one more, or ends
				row[j+1] = above || row[j]
			} else {
				row[j+1] = corner && a[i] == b[j]
			}
			corner = above
		}
	}
	return row[len(b)]
}
