package gateway

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// A refusal is what an agent learns of a call that it was not given the answer
// of: enough to plan around it, and nothing of values, of what an inspector
// found, or of items that this agent was not shown (RULES.md 10).
type refusal struct {
	reason  policy.Reason
	rule    string
	invoked bool             // the upstream had the call
	origins []string         // where the tool is from; none for what was not shown
	paths   []string         // of arguments
	needs   labels.Assurance // of an ask that nobody could answer; none: it was none
	ref     string           // call_ and a ULID: the entry
	detail  string           // one more sentence of ours; empty: none
	uri     string           // resources/read: the agent's own word for what is not there; empty: none

	withdrawn []string // ids of results that are the reason
}

// hidden are the reasons that say what stands behind a name: agents get
// not_shown for each of them.
var hidden = []policy.Reason{policy.ReasonNotShown, policy.ReasonWithheld, policy.ReasonNew, policy.ReasonRed, policy.ReasonLabel,
	policy.NoRule, policy.RuleNever, policy.NoChannel, policy.Withdrawn, policy.UnknownProfile, policy.ReasonUnfit, policy.ReasonGuard,
	policy.OutsideIntent, policy.IntentExpired}

// told is the reason as an agent may know it. shown tells whether the item is on
// the surface that this agent was shown, in whatever state it is now.
func told(r policy.Reason, shown bool) policy.Reason {
	if !shown && (slices.Contains(hidden, r) || r == policy.ReasonChanged) {
		return policy.ReasonNotShown
	}
	return r
}

// object is the structured form.
func (r *refusal) object() jsontext.Value {
	m := r.reason.Meaning()
	b := make([]byte, 0, 320)
	b = append(b, `{"status":"blocked_by_policy","enforcedBy":"pratique","capabilityInvoked":`...)
	switch {
	case m.Invoked == "unknown":
		b = append(b, `null`...) // whether it was is not known
	case r.invoked:
		b = append(b, `true`...)
	default:
		b = append(b, `false`...)
	}
	b = append(b, `,"reason":`...)
	b = appendQuoted(b, string(r.reason))
	b = append(b, `,"rule":`...)
	b = appendQuoted(b, r.rule)
	if r.needs != labels.AssuranceNone {
		b = append(b, `,"needs":`...)
		b = appendQuoted(b, r.needs.String())
	}
	b = append(b, `,"origins":`...)
	b = appendList(b, r.origins)
	b = append(b, `,"paths":`...)
	b = appendList(b, r.paths)
	b = append(b, `,"retryable":`...)
	if m.Retryable && !r.invoked {
		b = append(b, `true`...)
	} else {
		b = append(b, `false`...)
	}
	b = append(b, `,"ref":`...)
	b = appendQuoted(b, r.ref)
	b = append(b, `,"provenance":`...)
	b = appendWithdrawn(b, r.withdrawn)
	if r.uri != "" {
		b = append(b, `,"uri":`...)
		b = appendQuoted(b, r.uri)
	}
	return append(b, '}')
}

// sentence is the same for people and models that read no structure.
func (r *refusal) sentence() string {
	s := "Blocked by policy (" + string(r.reason) + "): " + r.reason.Meaning().Text
	if r.needs != labels.AssuranceNone {
		s += " An answer would have to be at least: " + r.needs.String() + "."
	}
	if r.detail != "" {
		s += " " + r.detail
	}
	switch m := r.reason.Meaning(); {
	case m.Invoked == "unknown":
	case r.invoked:
	default:
		s += " Nothing was executed."
	}
	return s + " Reference: " + r.ref + "."
}

// answer is the frame that answers a request with the refusal: a result for
// tools/call, so that an agent can plan around it; an error with the same object
// for every other method, and for what is the protocol's own matter.
func (r *refusal) answer(f *mcp.Frame, era mcp.Revision) mcp.Frame {
	obj := r.object()
	if f.Method != methodCall || r.protocol() {
		return mcp.Fail(f.ID, r.codeIn(f.Method, era), r.sentence(), obj)
	}
	b := make([]byte, 0, 2*len(obj)+160)
	b = append(b, `{`...)
	if era.Modern() {
		b = append(b, `"resultType":"complete",`...)
	}
	b = append(b, `"content":[{"type":"text","text":`...)
	b = appendQuoted(b, r.sentence())
	b = append(b, `}],"structuredContent":`...)
	b = append(b, obj...)
	b = append(b, `,"isError":true}`...)
	return mcp.Answer(f.ID, b)
}

// protocol tells whether the refusal is of the protocol's own matter, which MCP
// answers with an error for every method: a state that is not the call's, an
// answer that was lost on its way.
func (r *refusal) protocol() bool {
	return r.reason == policy.RequestState || r.reason == policy.UpstreamLost || r.reason == policy.Arguments
}

// codeIn is the error code as the revision has it: a resource that is not there
// has one of its own.
func (r *refusal) codeIn(method string, era mcp.Revision) int64 {
	switch {
	case r.reason != policy.ReasonNotShown || method != methodRead:
		return r.code()
	case era.Modern():
		return mcp.CodeInvalidParams
	}
	return mcp.CodeResourceNotFound
}

// code is the error code for methods other than tools/call.
func (r *refusal) code() int64 {
	switch {
	case r.reason == policy.Arguments, r.reason == policy.RequestState:
		return mcp.CodeInvalidParams
	case r.reason == policy.UpstreamDown || r.reason == policy.UpstreamLost || r.reason == policy.UpstreamTimeout || r.reason == policy.UpstreamInvalid:
		return mcp.CodeUpstream
	case r.reason == policy.ResultTooLarge || r.reason == policy.TooLarge:
		return mcp.CodeTooLarge
	case r.invoked:
		return mcp.CodeHeld
	case r.reason.Meaning().Retryable:
		return mcp.CodeRetry
	}
	return mcp.CodeRefused
}

func appendQuoted(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil {
		return append(b, `""`...) // not valid UTF-8: none of ours is
	}
	return out
}

func appendList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, s)
	}
	return append(b, ']')
}
