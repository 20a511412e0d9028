package content

import (
	"strings"
)

// secrets looks for credentials in the text: as they are, in pieces, and in encodings.
func (c *check) secrets() {
	if c.j.off[Secret] {
		return
	}
	s := &sighting{c: c, budget: 16*len(c.text) + 1<<20}
	s.look(c.text, 0, func(i int) int { return i })
	if s.budget < 0 {
		c.all(Secret, whyLayers)
	}
}

// A sighting is one search for credentials. Whatever is decoded on the way is counted,
// so that the search stays linear.
type sighting struct {
	c      *check
	budget int
	lines  map[int]bool // of the text, on which something was found
}

// maxLayers is how many encodings on top of each other are taken off.
const maxLayers = 4

// look searches a text that was decoded so many times; at says where in the text that
// is written an offset comes from.
func (s *sighting) look(t string, layer int, at func(int) int) {
	if len(t) < 8 || s.budget < 0 || s.c.full() {
		return
	}
	if layer > maxLayers {
		s.budget = -1 // nobody encodes so often without a reason
		return
	}
	s.budget -= len(t)
	found := func(why string) func(from, to int) {
		if layer > 0 {
			why = whyHidden
		}
		return func(from, to int) { s.found(at(from), at(to), why) }
	}
	tokens(t, func(from, to int, pieces bool) {
		why := whySecret
		if pieces {
			why = whyHidden
		}
		found(why)(from, to)
	})
	privateKeys(t, found(whyKey))
	structured(t, found(whySecret))
	if layer == 0 || s.c.kind == dotenv {
		assignments(t, s.c.kind == dotenv, found(whyRandom))
	}
	s.encoded(t, layer, at)
}

// found records a credential, once for each line.
func (s *sighting) found(from, to int, why string) {
	if why == whyHidden || why == whyRandom {
		if s.lines[s.c.lineAt(s.c.place(from))] {
			return
		}
	}
	n := len(s.c.out)
	if s.c.add(Secret, from, to, why); len(s.c.out) > n {
		if s.lines == nil {
			s.lines = map[int]bool{}
		}
		s.lines[s.c.lineAt(s.c.place(from))] = true
	}
}

// privateKeys finds private keys in PEM and the like.
func privateKeys(t string, f func(from, to int)) {
	const begin = "-----BEGIN "
	for at := 0; ; {
		i := strings.Index(t[at:], begin)
		if i < 0 {
			break
		}
		from := at + i
		at = from + len(begin)
		label, _, ok := strings.Cut(t[at:min(len(t), at+80)], "-----")
		if !ok || !strings.Contains(label, "PRIVATE KEY") {
			continue
		}
		body := at + len(label) + 5
		if keyBody(t[body:min(len(t), body+400)]) {
			f(from, body)
		}
	}
	if i := strings.Index(t, "PuTTY-User-Key-File-"); i >= 0 && strings.Contains(t[i:], "\nPrivate-Lines: ") {
		f(i, i+20)
	}
	if i := strings.Index(t, "\"kty\""); i >= 0 {
		if j := strings.Index(t[max(0, i-4096):min(len(t), i+4096)], "\"d\""); j >= 0 {
			rest := strings.TrimLeft(t[max(0, i-4096)+j+3:], " \t:\n\"")
			n := 0
			for n < len(rest) && url64[rest[n]] {
				n++
			}
			if n >= 40 && credible(rest[:n], false) {
				f(i, i+5)
			}
		}
	}
}

// keyBody tells whether what follows is a key and no stand-in for one: so much base64,
// whatever breaks its lines.
func keyBody(t string) bool {
	n := 0
	var seen [256]bool
	distinct := 0
	for i := 0; i < len(t) && n < 64; i++ {
		switch c := t[i]; {
		case std64[c]:
			n++
			if !seen[c] {
				seen[c] = true
				distinct++
			}
		case strings.IndexByte(" \t\r\n\\\"'+,:-", c) >= 0:
		default:
			return false
		}
	}
	return n >= 40 && distinct > 10
}

// structured finds tokens that are known by what they are made of: JSON web tokens,
// passwords in URLs, bots of Telegram.
func structured(t string, f func(from, to int)) {
	for at := 0; ; {
		i := strings.Index(t[at:], "eyJ")
		if i < 0 {
			break
		}
		from := at + i
		at = from + 3
		if from > 0 && url64[t[from-1]] {
			continue
		}
		if end := webToken(t, from); end > 0 {
			f(from, end)
			at = end
		}
	}
	for at := 0; ; {
		i := strings.Index(t[at:], "://")
		if i < 0 {
			break
		}
		at += i + 3
		if end := urlPassword(t[at:min(len(t), at+512)]); end > 0 {
			f(at, at+end)
		}
	}
	for at := 0; ; {
		i := strings.Index(t[at:], ":AA")
		if i < 0 {
			break
		}
		at += i + 3
		n := at
		for n < len(t) && url64[t[n]] && n-at < 40 {
			n++
		}
		d := at - 4
		for d >= 0 && t[d] >= '0' && t[d] <= '9' && at-d < 16 {
			d--
		}
		if n-at == 33 && at-4-d >= 8 && at-4-d <= 10 && credible(t[at:n], true) {
			f(d+1, n)
		}
	}
}

// sampleClaims begins the claims of the web token that every manual shows: that of
// subject 1234567890.
const sampleClaims = "eyJzdWIiOiIxMjM0NTY3ODkwIi"

// webToken is where a JSON web token that begins at i ends; 0: there is none.
func webToken(t string, i int) int {
	j := i
	for part := range 3 {
		from := j
		for j < len(t) && url64[t[j]] {
			j++
		}
		if j-from < 16 || part == 2 && (j-from < 40 || !credible(t[from:j], true)) {
			return 0
		}
		if part < 2 {
			if j >= len(t) || t[j] != '.' {
				return 0
			}
			j++
			if part == 0 && (!strings.HasPrefix(t[j:], "ey") || strings.HasPrefix(t[j:], sampleClaims)) {
				return 0
			}
		}
	}
	return j
}

// urlPassword is where the user information of an authority ends, if it holds a password
// that is more than a stand-in; 0: it does not.
func urlPassword(s string) int {
	end := strings.IndexAny(s, "@/?# \t\r\n\"'`<>")
	if end <= 0 || s[end] != '@' {
		return 0
	}
	_, pass, ok := strings.Cut(s[:end], ":")
	if !ok || len(pass) < 8 || strings.ContainsAny(pass, "$%{}[]()*") {
		return 0
	}
	digits, letters := 0, 0
	for i := range len(pass) {
		if pass[i] >= '0' && pass[i] <= '9' {
			digits++
		} else if alnum[pass[i]] {
			letters++
		}
	}
	low := strings.ToLower(pass)
	if digits < 2 || letters < 2 || strings.HasPrefix(low, "pass") || strings.HasPrefix(low, "secret") || standIn(low) {
		return 0
	}
	return end
}
