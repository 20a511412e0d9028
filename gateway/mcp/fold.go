package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FoldClash is ErrFold if the object has a member whose name is not among the
// known ones and becomes one by Unicode case folding: somebody else would read
// the one where we read the other.
func FoldClash(object jsontext.Value, known []string) error {
	w, ok := walk(object)
	if !ok || !w.object {
		return nil
	}
	for {
		s, ok := w.next()
		if !ok {
			return nil
		}
		if w.clashes(s, known) {
			return ErrFold
		}
	}
}

// clashes tells whether the member's name differs from a known one in case only.
func (w *walker) clashes(s span, known []string) bool {
	raw := w.b[s.name:s.nameEnd]
	for _, k := range known {
		if len(raw) == len(k)+2 && string(raw[1:len(raw)-1]) == k {
			return false
		}
	}
	name := w.name(s)
	clash := false
	for _, k := range known {
		if name == k {
			return false
		}
		clash = clash || strings.EqualFold(name, k)
	}
	return clash
}

// A nameSet is a large set of names to hold members against.
type nameSet struct {
	exact, folded map[string]bool
}

func newNameSet(names ...string) nameSet {
	s := nameSet{exact: map[string]bool{}, folded: map[string]bool{}}
	for _, n := range names {
		s.exact[n] = true
		s.folded[fold(n)] = true
	}
	return s
}

// clash is FoldClash, and gives the object's member _meta on the way (nil: there
// is none).
func (n nameSet) clash(object []byte) (meta []byte, err error) {
	w, ok := walk(object)
	if !ok || !w.object {
		return nil, nil
	}
	for {
		s, ok := w.next()
		if !ok {
			return meta, nil
		}
		raw := w.b[s.name:s.nameEnd]
		exact := n.exact[string(raw[1:len(raw)-1])]
		if !exact {
			name := w.name(s)
			if exact = n.exact[name]; !exact && n.folded[fold(name)] {
				return nil, ErrFold
			}
		}
		if exact && meta == nil && w.is(s, "_meta") {
			meta = w.b[s.value:s.valueEnd]
		}
	}
}

// fold maps all texts that strings.EqualFold takes for equal to one: each rune
// becomes the smallest one of its orbit.
func fold(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				r = next
				break
			}
			r = next
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// resultNames are the members that results of any method are known to have.
var resultNames = newNameSet(
	"_meta", "resultType", "inputRequests", "requestState", "ttlMs", "cacheScope",
	"content", "structuredContent", "isError",
	"tools", "prompts", "resources", "resourceTemplates", "nextCursor",
	"messages", "description", "contents", "completion",
	"protocolVersion", "supportedVersions", "capabilities", "serverInfo", "instructions",
	"roots", "action", "role", "model", "stopReason", "task", "tasks",
)

// metaNames are the members of _meta that mean something to somebody.
var metaNames = newNameSet(
	MetaVersion, MetaClientInfo, MetaCapabilities, MetaServerInfo, MetaLogLevel, MetaSubscription,
	MetaProgress, MetaTraceparent, MetaTracestate, MetaBaggage, MetaLabel,
)
