package content

import (
	"math"
	"strings"
)

// secretKeys are parts of names under which secrets stand, in small letters and without
// what parts words.
var secretKeys = []string{"secret", "token", "passw", "apikey", "accesskey", "privatekey", "credential", "authkey", "signingkey", "encryptionkey", "clientkey", "bearer", "passphrase", "sastoken", "connectionstring", "authorization", "accountkey", "masterkey", "appkey"}

// keyName tells whether a value under a name is taken for a secret if it is random.
func keyName(name string) bool {
	if len(name) < 5 || len(name) > 80 {
		return false
	}
	var b [80]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != '_' && c != '-' && c != '.' {
			b[n] = c
			n++
		}
	}
	low := string(b[:n])
	if strings.HasSuffix(low, "id") || strings.HasSuffix(low, "hash") || strings.HasSuffix(low, "name") || strings.HasSuffix(low, "sha256") || strings.HasSuffix(low, "url") || strings.HasPrefix(low, "public") || strings.Contains(low, "pagetoken") || strings.Contains(low, "nexttoken") || strings.Contains(low, "continuationtoken") || strings.Contains(low, "cancellationtoken") {
		return false
	}
	for _, k := range secretKeys {
		if strings.Contains(low, k) {
			return true
		}
	}
	return false
}

// assignments finds values that stand under the name of a secret and are random; in
// files of variables under every name.
func assignments(t string, every bool, f func(from, to int)) {
	for i := 1; i < len(t); i++ {
		if t[i] != '=' && t[i] != ':' || t[i-1] == '=' || t[i-1] == ':' {
			continue
		}
		name, at := nameBefore(t, i)
		if name == "" || !keyName(name) && !every {
			continue
		}
		from, to := valueBehind(t, i+1)
		if to-from < 16 || to-from > 256 || !randomValue(t[from:to]) {
			continue
		}
		f(at, to)
		i = to
	}
}

// nameBefore is the name that stands before an assignment, and where.
func nameBefore(t string, i int) (string, int) {
	end := i
	for end > 0 && end > i-4 && (t[end-1] == ' ' || t[end-1] == '"' || t[end-1] == '\'' || t[end-1] == ']' || t[end-1] == '\t') {
		end--
	}
	start := end
	for start > 0 && end-start < 81 && (word62[t[start-1]] || t[start-1] == '-' || t[start-1] == '.') {
		start--
	}
	return t[start:end], start
}

// valueBehind is where the value of an assignment stands: in quotes, or up to white space.
func valueBehind(t string, i int) (from, to int) {
	for i < len(t) && (t[i] == ' ' || t[i] == '\t' || t[i] == '=' || t[i] == '>') {
		i++
	}
	for _, p := range []string{"Bearer ", "bearer ", "Basic ", "token ", `"Bearer `, `"Basic `, `"token `, `'Bearer `, `'token `} {
		if strings.HasPrefix(t[i:], p) {
			i += len(p)
			break
		}
	}
	if i < len(t) && (t[i] == '"' || t[i] == '\'' || t[i] == '`') {
		n := strings.IndexByte(t[i+1:min(len(t), i+300)], t[i])
		if n < 0 {
			return i, i
		}
		return i + 1, i + 1 + n
	}
	to = i
	for to < len(t) && to-i < 300 && strings.IndexByte(" \t\r\n\"'`,;)", t[to]) < 0 {
		to++
	}
	return i, to
}

// standIn tells whether a value, in small letters, is one of those that documentation
// and templates have where a secret goes.
func standIn(low string) bool {
	for _, p := range []string{"example", "changeme", "change-me", "change_me", "placeholder", "your", "xxxx", "****", "....", "dummy", "sample", "redacted", "replace", "insert", "fake", "todo", "notasecret", "not-a-secret", "12345678", "abcdef", "deadbeef", "00000000"} {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// least bits per character that a value under the name of a secret has; see randomValue.
const (
	leastBits    = 3.2
	leastBitsHex = 2.9
)

// randomValue tells whether a value is random enough to be a secret: letters and digits
// that change more often than in words and names, and spread.
func randomValue(s string) bool {
	var counts [256]int
	digits, letters, other, changes, last := 0, 0, 0, 0, 0
	hexOnly := true
	for i := range len(s) {
		c := s[i]
		counts[c]++
		class := 0
		switch {
		case c >= '0' && c <= '9':
			digits++
			class = 1
		case c >= 'a' && c <= 'z':
			letters++
			class = 2
		case c >= 'A' && c <= 'Z':
			letters++
			class = 3
		case strings.IndexByte("+/=_-.~!@#%^&*?:", c) >= 0:
			other++
		default:
			return false // expansions, calls, sentences
		}
		hexOnly = hexOnly && hexDigit(c) >= 0
		if class != 0 {
			if last != 0 && class != last {
				changes++
			}
			last = class
		}
	}
	if digits < 2 || letters < 2 || other*4 > len(s) || strings.Contains(s, "://") || strings.HasPrefix(s, "urn:") || standIn(strings.ToLower(s)) {
		return false
	}
	bits := entropy(&counts, len(s))
	if hexOnly {
		return len(s) >= 32 && bits >= leastBitsHex
	}
	return bits >= leastBits && changes*100 >= len(s)*28
}

// entropy is Shannon's, in bits per character.
func entropy(counts *[256]int, n int) float64 {
	h := 0.0
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / float64(n)
			h -= p * math.Log2(p)
		}
	}
	return h
}
