package gateway

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/observed"
)

// A session whose list is older than what was accepted in another one holds nothing
// against the version that was accepted: the upstream did not go back to the old text,
// the session has not listed since.
func TestAnOlderListIsNoMove(t *testing.T) {
	u := newServer(writes, reads)
	own := newPerson()
	w := newWatched(t, u, false, policy.Personal, own)
	u.set(methodTools, strings.Replace(writes, "of a day", "of one day", 1), reads)
	b := w.shown(newPerson()) // the wording rule accepts it
	e, there, _ := b.keeper.Peek(gate.Tool, "notes")
	if !there || e.Listed != policy.Cleared || e.Ver != 2 {
		t.Fatalf("listed %v, version %d", e.Listed, e.Ver)
	}
	w.s.keeper.Check() // judged anew: an old text beside a new version
	for {              // what is held against an upstream is, before the agent is told
		if f := <-own.notify; f.Method == "notifications/tools/list_changed" {
			break
		}
	}
	if old, _, _ := w.s.keeper.Peek(gate.Tool, "notes"); old.Was != e.Digest {
		t.Fatalf("the older session has %+v", old)
	}
	a, err := w.p.Account(observed.SubjectOf(&e))
	if err != nil || len(a.Signs) != 0 {
		t.Errorf("%v %+v", err, a)
	}
}
