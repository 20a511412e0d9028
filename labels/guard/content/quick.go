package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// worth tells whether the arguments of a call hold anything that is to be judged. It is
// a first look that may say yes for nothing, and never no where something would be
// found: most calls are done with it.
func (j *Judge) worth(root args.Value) bool {
	more := !j.secretsOnly
	hot := false
	root.Walk(func(v args.Value) bool {
		switch v.Kind() {
		case '"':
			t := v.Text()
			hot = len(t) >= least && suspicious(t) || len(t) < 256 && strings.Contains(t, ".env") || more && effective(v)
		case '0', 't':
			hot = more && effective(v)
		}
		return !hot
	})
	return hot
}

// effective tells whether a value may be more than a text without a place: it says
// where to, how, or is a patch. Names that are paths themselves are looked at too.
func effective(v args.Value) bool {
	name := v.Key()
	switch roleOf(name) {
	case pathName, weakName:
		return len(v.Text()) < 4096 && kindOf(fold(v.Text())) != plain
	case patchName:
		return strings.Contains(v.Text(), "\n")
	case execName, modeName:
		return true
	case actionName, fromName, encodingName:
		return v.Kind() == '"'
	}
	for p := v; p.Kind() != 0; p = p.Parent() {
		if n := p.Name(); strings.ContainsAny(n, "./") && kindOf(fold(n)) != plain {
			return true
		}
	}
	return false
}

// marks of bytes that suspicious looks at more closely.
const (
	isRun byte = 1 << iota
	isJoint
	isAssign
	isPercent
	isAt
)

var classes = func() (t [256]byte) {
	for c := range 256 {
		if runChars[c] {
			t[c] = isRun
		}
	}
	for _, c := range []byte("\"'`\\") {
		t[c] |= isJoint
	}
	t['='] |= isAssign
	t[':'] |= isAssign
	t['%'] |= isPercent
	t['@'] |= isAt
	return t
}()

// beginnings are those of all forms, and of tokens and keys that are known by what they
// are made of, by their first two bytes.
var (
	beginnings     = map[uint16][]string{}
	beginningPairs [1 << 10]uint64 // a set of bits
)

func init() {
	list := []string{"eyJ", "-----BEGIN ", "PuTTY-User"}
	for _, f := range forms {
		list = append(list, f.prefix)
	}
	for _, p := range list {
		k := uint16(p[0])<<8 | uint16(p[1])
		beginnings[k] = append(beginnings[k], p)
		beginningPairs[k>>6] |= 1 << (k & 63)
	}
}

// suspicious tells whether a text may hold a credential: whether any way to find one
// has something to begin with.
func suspicious(t string) bool {
	percents, from, url, at := 0, 0, false, false
	prev := uint16(0)
	for i := range len(t) {
		c := t[i]
		prev = prev<<8 | uint16(c)
		if beginningPairs[prev>>6]&(1<<(prev&63)) != 0 && i > 0 {
			for _, p := range beginnings[prev] {
				if strings.HasPrefix(t[i-1:], p) {
					return true
				}
			}
		}
		class := classes[c]
		if class == isRun {
			continue
		}
		if i-from >= leastBase64 && decodable(t[from:i]) {
			return true
		}
		from = i + 1
		switch {
		case class == 0:
		case class&isJoint != 0:
			if pieceEnd(t, i) != 0 || c == '\\' && escapes(t[i:min(len(t), i+4)]) || strings.HasPrefix(t[i:], `"kty"`) {
				return true
			}
		case class&isAssign != 0:
			if name, _ := nameBefore(t, i); keyName(name) || strings.HasPrefix(t[i:], ":AA") {
				return true
			}
			url = url || strings.HasPrefix(t[i:], "://")
		case class&isAt != 0:
			at = true
		default:
			percents++
		}
	}
	return percents >= 3 || url && at || len(t)-from >= leastBase64 && decodable(t[from:])
}

// decodable tells whether a run may be text in base64 or hex.
func decodable(run string) bool {
	s := sighting{budget: 1 << 30}
	return s.run(run, nil)
}
