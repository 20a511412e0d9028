package gateway

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine"
)

// Bounds of looking for an agent's own words in an answer.
const (
	minEcho = 12 // bytes; shorter ones are in every text, and would take a server's own words out
	maxEcho = 64 // strings of arguments, in their order
)

// toolsOwn is the verdict of an error text less the words of the call itself. Honest
// servers repeat what they were asked ("no such town: …"), so that an agent's
// argument must not be held against the tool, for everybody.
func (s *Session) toolsOwn(w *recorded, x *sent, v quarantine.Verdict) quarantine.Verdict {
	if v != quarantine.Hostile && v != quarantine.Suspect {
		return v
	}
	words := argumentWords(w.p.arguments(), nil)
	if w.p.name != "" {
		words = append(words, w.p.name)
	}
	set, err := x.specimens()
	if err != nil || len(words) == 0 {
		return v
	}
	echoed := false
	for i := range set {
		for _, word := range words {
			if strings.Contains(set[i].Text, word) {
				set[i].Text, echoed = strings.ReplaceAll(set[i].Text, word, " "), true
			}
		}
	}
	if !echoed {
		return v
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.g.o.Limits.Inspect)
	defer cancel()
	return s.judge(ctx, quarantine.Full, set).Verdict
}

// argumentWords are the strings in arguments, those in JSON in them as they stand.
func argumentWords(v jsontext.Value, out []string) []string {
	if len(out) >= maxEcho {
		return out
	}
	switch v.Kind() {
	case '"':
		if t, ok := mcp.String(v); ok && len(t) >= minEcho {
			out = append(out, t)
		}
	case '{':
		for name, sub := range mcp.Members(v) {
			if len(name) >= minEcho {
				out = append(out, name)
			}
			out = argumentWords(sub, out)
		}
	case '[':
		for sub := range mcp.Elements(v) {
			out = argumentWords(sub, out)
		}
	}
	return out
}
