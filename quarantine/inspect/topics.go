package inspect

import "strings"

// sideNames are parameters for what no tool needs: a note on the side of the call.
var sideNames = set("sidenote side_note side_notes sidecar scratchpad_secret hidden_note secret_note llm_model_name")

// eachWord gives the words of a text, letters only, parted at humps as well, in
// lower case.
func eachWord(text string, do func(w string)) {
	var buf [longest]byte
	for i := 0; i < len(text); {
		if kinds[text[i]] != aByte {
			i++
			continue
		}
		from, n := i, 0
		for i < len(text) && kinds[text[i]] == aByte && (i == from || text[i] >= 'a' || text[i-1] < 'a') {
			if n < longest {
				buf[n] = text[i] | 0x20
				n++
			}
			i++
		}
		do(string(buf[:n]))
	}
}

// plainName is a name in small letters, its parts joined by underscores.
func plainName(name string) string {
	var b strings.Builder
	eachWord(name, func(w string) {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteString(w)
	})
	return b.String()
}
