package stage

import (
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// Entries is the decision log, as `pratique ledger show` prints it.
func (h *House) Entries() []registry.Entry {
	h.t.Helper()
	var shown struct {
		Entries []struct {
			Entry registry.Entry `json:"entry"`
		} `json:"entries"`
	}
	h.JSON(&shown, "ledger", "show", "--data", h.Data, "--last", "0")
	list := make([]registry.Entry, 0, len(shown.Entries))
	for _, e := range shown.Entries {
		list = append(list, e.Entry)
	}
	return list
}

// Find is those entries that are such.
func (h *House) Find(such func(e registry.Entry) bool) []registry.Entry {
	h.t.Helper()
	return slices.DeleteFunc(h.Entries(), func(e registry.Entry) bool { return !such(e) })
}

// A Refusal is what an agent is told of a call that the gateway refused (RULES.md
// 10).
type Refusal struct {
	Status, EnforcedBy, Reason, Rule, Ref string
	Invoked                               string // the JSON text
	Retryable                             bool
}

// RefusalOf reads a refusal from an answer: the structured content of a result, or
// the data of an error.
func RefusalOf(m mcptest.Message) (r Refusal, ok bool) {
	o := mcptest.Path(m.Result, "structuredContent")
	if o == nil {
		o = mcptest.Path(m.Error, "data")
	}
	if o == nil {
		return r, false
	}
	r = Refusal{
		Status: mcptest.Text(o, "status"), EnforcedBy: mcptest.Text(o, "enforcedBy"), Reason: mcptest.Text(o, "reason"),
		Rule: mcptest.Text(o, "rule"), Ref: mcptest.Text(o, "ref"), Invoked: string(mcptest.Path(o, "capabilityInvoked")),
		Retryable: string(mcptest.Path(o, "retryable")) == "true",
	}
	return r, r.Status != ""
}

// Refused wants the answer to be a refusal of the gateway before anything was
// executed, for one of the reasons, and gives it. No reasons: any.
func Refused(t testing.TB, m mcptest.Message, reasons ...string) Refusal {
	t.Helper()
	r, ok := RefusalOf(m)
	switch {
	case !ok:
		t.Errorf("not a refusal: %.600s", m.Raw)
	case r.Status != "blocked_by_policy" || r.EnforcedBy != "pratique" || r.Invoked != "false" || r.Ref == "" || !m.IsError():
		t.Errorf("not the refusal of RULES.md 10: %.600s", m.Raw)
	case len(reasons) > 0 && !slices.Contains(reasons, r.Reason):
		t.Errorf("refused for %s, not for any of %q: %.600s", r.Reason, reasons, m.Raw)
	}
	return r
}

// Recorded wants one entry for each refusal that says that the server was not
// invoked.
func (h *House) Recorded(refs ...Refusal) []registry.Entry {
	h.t.Helper()
	byRef := map[string][]registry.Entry{}
	for _, e := range h.Entries() {
		if e.Call != "" {
			byRef[e.Call] = append(byRef[e.Call], e)
		}
	}
	var out []registry.Entry
	for _, r := range refs {
		es := byRef[r.Ref]
		if len(es) != 1 {
			h.t.Errorf("refusal %s (%s) has %d entries: %+v", r.Ref, r.Reason, len(es), es)
			continue
		}
		e := es[0]
		if e.Invoked != "no" || e.Outcome != registry.OutcomeRefused || e.Verb != "deny" && e.Verb != "ask" || e.Reason == "" || e.Upstream == "" || e.Origin == "" {
			h.t.Errorf("entry of refusal %s: %+v", r.Ref, e)
		}
		out = append(out, e)
	}
	return out
}

// A Waiting is an item that waits for the operator, as `pratique surface diff` says.
type Waiting struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Digest  string   `json:"digest"`
	Verdict string   `json:"verdict"`
	Changes []Change `json:"changes"`
}

// A Change is one value that differs, old and new as people are shown them.
type Change struct {
	What string `json:"what"`
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Diff is what waits for the operator.
func (h *House) Diff() []Waiting {
	h.t.Helper()
	var out struct {
		Waiting []Waiting `json:"waiting"`
	}
	h.JSON(&out, "surface", "diff", "--data", h.Data)
	return out.Waiting
}

// Waits is the item of that name that waits; the zero Waiting if none does.
func (h *House) Waits(name string) (w Waiting) {
	h.t.Helper()
	for _, x := range h.Diff() {
		if x.Name == name {
			w = x
		}
	}
	return w
}

// Accept accepts the version of an item that waits, and wants that to succeed.
func (h *House) Accept(name string) {
	h.t.Helper()
	var out struct{}
	h.JSON(&out, "surface", "accept", "--data", h.Data, "--name", name, "--yes")
}

// A Held is something in quarantine, as `pratique quarantine list` says.
type Held struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Verdict string `json:"verdict"`
	Cut     bool   `json:"cut"`     // the agent got the rest
	Call    string `json:"call"`    // of a result or message
	Conduct string `json:"conduct"` // violated, suspect: what was observed of the version
}

// Quarantine is what is withheld, released and condemned.
func (h *House) Quarantine() []Held {
	h.t.Helper()
	var out struct {
		Held []Held `json:"held"`
	}
	h.JSON(&out, "quarantine", "list", "--data", h.Data)
	return out.Held
}

// Withheld is the item of that name whose text or conduct is not clear; the zero Held
// if none is.
func (h *House) Withheld(name string) Held {
	h.t.Helper()
	return h.WithheldDigest(name, "")
}

// WithheldDigest is that of exactly one version; an empty digest: of any.
func (h *House) WithheldDigest(name, digest string) (w Held) {
	h.t.Helper()
	for _, x := range h.Quarantine() {
		if x.Name == name && (digest == "" || x.Digest == digest) && x.State == "withheld" && x.Kind != "result" && x.Kind != "message" {
			w = x
		}
	}
	return w
}

// Release lets exactly what has this id through, and wants that to succeed.
func (h *House) Release(id string) {
	h.t.Helper()
	var out struct{}
	h.JSON(&out, "quarantine", "release", "--data", h.Data, "--id", id, "--yes")
}

// AcceptDigest accepts only that version, and tells whether it was there.
func (h *House) AcceptDigest(name, digest string) bool {
	h.t.Helper()
	_, _, code := h.Run("surface", "accept", "--data", h.Data, "--name", name, "--digest", digest, "--yes", "--json")
	return code == 0
}

// Held is the entries that say that an item was not, or no longer, cleared.
func (h *House) Held(name string) []registry.Entry {
	h.t.Helper()
	return h.Find(func(e registry.Entry) bool {
		return e.Type == registry.EntrySurface && e.Name == name && e.Detail != "pinned" && e.Detail != ""
	})
}
