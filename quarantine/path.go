package quarantine

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Whoever wrote a document chooses its member names and how deep they nest, and a
// path stands with every string below them: what is short in the document could be
// long in memory. So paths are cut, and all of a document's are held against its
// size.
const (
	// MaxPath is the longest path of a specimen in bytes.
	MaxPath = 512

	maxPlain  = 64  // bytes of the longest name that is shown in a path as it is
	maxAbove  = 192 // bytes of what stands before the last part of a path
	keptAbove = 120 // of them, where they were more

	perByte = 16      // bytes of paths and texts for each byte of a document
	alone   = 4 << 10 // and so many more
)

// plainName tells whether a name is a plain short word.
func plainName(name string) bool {
	plain := name != "" && len(name) <= maxPlain
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_$-/:@+", c) >= 0
	}
	return plain
}

// appendMember appends a member's name to a path. Paths are shown to people:
// what is not a plain short word is quoted, in ASCII, and cut.
func appendMember(path []byte, name string) []byte {
	if plainName(name) {
		if len(path) > 0 {
			path = append(path, '.')
		}
		return append(path, name...)
	}
	if len(name) > maxPlain {
		name = strings.ToValidUTF8(name[:maxPlain], "") + "…"
	}
	path = append(path, '[')
	path = strconv.AppendQuoteToASCII(path, name)
	return append(path, ']')
}

// ShortPath is the beginning of a path, or of a name in one, that is too long to
// stand before others, and a digest of all of it, so that two of them differ.
func ShortPath(path string) string {
	if len(path) <= maxAbove {
		return path
	}
	return string(shorten([]byte(path)))
}

// shorten leaves room behind, for the part of the path that follows.
func shorten(path []byte) []byte {
	sum := sha256.Sum256(path)
	out := make([]byte, 0, MaxPath)
	out = append(append(out, strings.ToValidUTF8(string(path[:keptAbove]), "")...), '~')
	out = hex.AppendEncode(out, sum[:8])
	return append(out, '~')
}

// enter is called where an array or object begins. The path that it gives, if any,
// is the one to go on with behind it.
func (w *walker) enter() (outer []byte) {
	if len(w.path) > maxAbove {
		outer = w.path
		w.path = shorten(outer)
	}
	return outer
}

// leave goes back to the path of before enter, which was at bytes long.
func (w *walker) leave(outer []byte, at int) {
	if w.path = w.path[:at]; outer != nil {
		w.path = outer
	}
}

// spend takes note of what a specimen costs.
func (w *walker) spend(s string) error {
	if *w.left -= len(w.path) + len(s); *w.left < 0 {
		return ErrTooMany
	}
	return nil
}
