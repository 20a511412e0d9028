package holds_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry/holds"
)

// TestActsAreOfOneFormAndMethod: what was released as one thing is not released as
// another one that has the same bytes, and what is condemned goes on being it.
func TestActsAreOfOneFormAndMethod(t *testing.T) {
	of := func(form holds.Form, method string) func(*holds.Hold) {
		return func(h *holds.Hold) { h.Form, h.Method, h.Tool, h.Gen, h.Ver = form, method, "", 0, 0 }
	}
	all := []func(*holds.Hold){
		of(holds.FormMessage, "notifications/message"), of(holds.FormMessage, "notifications/progress"), of(holds.FormMessage, "sampling/createMessage"),
		of(holds.FormMessage, "elicitation/create"), of(holds.FormResult, "tools/call"), of(holds.FormError, "tools/call"),
		of(holds.FormResult, "prompts/get"), of(holds.FormResult, "resources/read"), of(holds.FormError, "resources/read"),
	}
	for i := range all {
		k := newKit(t)
		var kept []holds.Hold
		ids := map[string]bool{}
		for _, f := range all {
			h := k.put(hold(f), `{"a":"bad"}`)
			kept, ids[h.ID] = append(kept, h), true
		}
		if len(ids) != len(all) {
			t.Fatalf("%d holds of %d", len(ids), len(all))
		}
		k.release(kept[i].Subject)
		for n, h := range kept {
			if k.store.Released(h.Subject) != (n == i) {
				t.Errorf("%s released, %s is: %v", kept[i].Kind, h.Kind, n != i)
			}
			if place := h.Place(); place != quarantine.KindResult && place != quarantine.KindMessage {
				t.Errorf("%s is at %s", h.Kind, place)
			}
		}
	}
	// The act itself names the form: one that was signed for another is none for this.
	k := newKit(t)
	h := k.put(hold(of(holds.FormMessage, "sampling/createMessage")), `{}`)
	sub := h.Subject
	sub.Kind = holds.KindOf(holds.FormMessage, "notifications/message")
	if _, err := k.store.Release(t.Context(), k.sign(k.op, holds.OpRelease, sub)); err == nil || k.store.Released(h.Subject) {
		t.Errorf("released by an act on something else: %v", err)
	}
	// Whoever keeps something names no kind of its own.
	lie := hold(of(holds.FormMessage, "sampling/createMessage"))
	lie.Kind = holds.KindOf(holds.FormResult, "tools/call")
	if got := k.put(lie, `{}`); got.Subject != h.Subject {
		t.Errorf("kept as %s", got.Kind)
	}
	// However long a method is, store and gateway mean the same.
	long := k.put(hold(of(holds.FormMessage, strings.Repeat("ü", 300))), `{}`)
	if long.Kind != holds.KindOf(holds.FormMessage, strings.Repeat("ü", 300)) || long.Kind != holds.KindOf(long.Form, long.Method) {
		t.Errorf("%s", long.Kind)
	}
}
