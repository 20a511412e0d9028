package policy

import (
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// A Sealed is an intent as a layer: what one run was sealed for, and until when. It is
// not changed once a policy was made of it. The zero value permits nothing.
type Sealed struct {
	Rules   *Rules             // nil: tools/call and prompts/get of the items, and no other method
	Items   []SealedItem       // everything else is outside
	Expires time.Time          // the end; zero: it has ended
	Digest  credentials.Digest // of the sealed intent
	Agent   credentials.AgentID
}

// A SealedItem is one item of an intent, in one version (RULES.md 32).
type SealedItem struct {
	Origin string             // text form of the upstream's origin
	Kind   string             // tool, prompt, resource or template
	Name   string             // the upstream's own name
	ID     credentials.ToolID // empty: it has none
	Digest credentials.Digest // of the version; zero: never met
}

// Names of what an intent says without rules of its own. No rule of a file has a name
// with a colon.
const (
	intentRule = "intent" // of a refusal, with its own reasons
	namedRule  = intentPrefix + "named"
)

// kindsOf are the kinds of item that a method is used on.
func kindsOf(method string) []string {
	switch method {
	case "tools/call":
		return []string{"tool"}
	case "prompts/get":
		return []string{"prompt"}
	case "completion/complete":
		return []string{"prompt", "resource", "template"}
	}
	return []string{"resource", "template"}
}

// sealed is an intent with its items by name.
type sealed struct {
	*Sealed
	items map[string][]int
}

func sealedOf(s *Sealed) *sealed {
	x := &sealed{Sealed: s, items: make(map[string][]int, len(s.Items))}
	for i, it := range s.Items {
		x.items[it.Name] = append(x.items[it.Name], i)
	}
	return x
}

// outside is why the intent does not include the call; empty: it does. An intent that
// has ended says so of everything.
func (s *sealed) outside(f *Facts) Reason {
	if f.At.IsZero() || !f.At.Before(s.Expires) {
		return IntentExpired
	}
	if s.Agent != "" && s.Agent != f.Agent {
		return OutsideIntent
	}
	for _, i := range s.items[f.Tool] {
		it := &s.Items[i]
		if it.Origin == f.Origin && it.ID == f.ID && !it.Digest.IsZero() && it.Digest == f.Digest && slices.Contains(kindsOf(f.Method), it.Kind) {
			return ""
		}
	}
	return OutsideIntent
}

// say is the intent without rules of its own: the use of its items, in the methods that
// are their use.
func (s *sealed) say(f *Facts) Decision {
	if f.Method == "tools/call" || f.Method == "prompts/get" {
		return Decision{verb: Allow, reason: RuleAllow, rule: namedRule, way: Cut}
	}
	return Decision{reason: NoRule, rule: intentPrefix + "default"}
}
