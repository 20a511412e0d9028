package inspect

import (
	"encoding/base64"
	"encoding/hex"

	"github.com/pratique-dev/pratique/quarantine"
)

// encoded finds runs of base64 and of hexadecimal digits in metadata that stand
// for text: with blanks in it, and nothing but what prints. Hashes, keys and
// images do not.
func (j *judge) encoded(text string) {
	const least = 24
	for i := 0; i < len(text); {
		n, digits := 0, true
		for i+n < len(text) && code[text[i+n]] != 0 {
			digits = digits && code[text[i+n]] == 'h'
			n++
		}
		if n >= least {
			run := text[i : i+n]
			var b []byte
			if digits {
				b, _ = hex.DecodeString(run[:n&^1])
			} else {
				b, _ = base64.RawStdEncoding.DecodeString(run[:n-tail(n)])
			}
			if sentence(b) {
				j.find(quarantine.Invisible, quarantine.Suspect, i, i+n)
				j.view(string(b), i)
			}
		}
		i += n + 1
	}
}

// code is h for a hexadecimal digit and b for the rest of base64.
var code = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			t[c] = 'h'
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '+' || c == '/':
			t[c] = 'b'
		}
	}
	return t
}()

// sentence tells whether bytes are a text of several words.
func sentence(b []byte) bool {
	if len(b) < 12 {
		return false
	}
	blanks, prints := 0, 0
	for _, c := range b {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			prints++
		}
		if c == ' ' {
			blanks++
		}
	}
	return prints*100 >= len(b)*95 && blanks*25 >= len(b)
}

// tail is what is left over of n digits of base64 that stand for no byte.
func tail(n int) int {
	if n%4 == 1 {
		return 1
	}
	return 0
}
