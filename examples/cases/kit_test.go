package cases

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

func TestMain(m *testing.M) { stage.Main(m) }

// both are the eras: what cases are run in unless they are about one.
var both = []string{"2025-06-18", "2025-11-25", mcptest.Modern}

// A scene is one way in one revision.
type scene struct {
	*testing.T
	way stage.Way
	rev string
}

func (s *scene) modern() bool { return s.rev == mcptest.Modern }

// scenes runs a case on stdio and on streamable HTTP, and with HTTP in front of
// stdio in the newest revision of each era. A quick run leaves the oldest of several
// revisions to the tag long, and HTTP in front of stdio in the older era.
func scenes(t *testing.T, revs []string, f func(s *scene)) {
	for _, rev := range revs {
		for _, w := range []stage.Way{stage.StdioStdio, stage.HTTPHTTP, stage.HTTPStdio} {
			old := rev == "2025-06-18" && len(revs) > 1
			if w == stage.HTTPStdio && old || !long && (old || w == stage.HTTPStdio && rev != mcptest.Modern) {
				continue
			}
			t.Run(string(w)+" "+rev, func(t *testing.T) {
				t.Parallel()
				f(&scene{t, w, rev})
			})
		}
	}
}

// started is an agent that shook hands and listed the tools.
func (s *scene) started(h *stage.House) *mcptest.Agent {
	s.Helper()
	a := h.Agent(s.rev)
	a.Start()
	a.Tools()
	return a
}

// runs wants the call to be executed, once, and gives the answer.
func (s *scene) runs(h *stage.House, a *mcptest.Agent, tool, args string) mcptest.Message {
	s.Helper()
	n := h.Up.Executed(tool)
	m := a.Call(tool, args)
	if m.IsError() || h.Up.Executed(tool) != n+1 {
		s.Errorf("%s: executed %d times: %.400s", tool, h.Up.Executed(tool)-n, m.Raw)
	}
	return m
}

// never wants no call of these tools in the server's log.
func (s *scene) never(h *stage.House, tools ...string) {
	s.Helper()
	for _, tool := range tools {
		if n := h.Up.Executed(tool); n != 0 {
			s.Errorf("%s was executed %d times", tool, n)
		}
	}
}

// audited wants one record of each refusal that names tool, owner, reason and that
// the server was not invoked.
func (s *scene) audited(h *stage.House, refs ...stage.Refusal) {
	s.Helper()
	for _, e := range h.Recorded(refs...) {
		if e.Name == "" || e.Origin == "" || e.Upstream != "fixture" || e.Reason == "" || e.Invoked != "no" || e.Run == "" || e.Agent == "" {
			s.Errorf("the record lacks something: %+v", e)
		}
	}
}

// quarantined wants the tool hidden, uncallable, on the operator's list and in the
// record.
func (s *scene) quarantined(h *stage.House, a *mcptest.Agent, listed []string, tool, state string) stage.Waiting {
	s.Helper()
	if slices.Contains(listed, tool) {
		s.Errorf("%s is listed", tool)
	}
	n := h.Up.Executed(tool)
	s.audited(h, stage.Refused(s, a.Call(tool, `{}`)))
	if h.Up.Executed(tool) != n {
		s.Errorf("%s was executed", tool)
	}
	w := h.Waits(tool)
	if w.State != state {
		s.Errorf("%s waits as %+v, not as %s", tool, w, state)
	}
	if es := h.Held(tool); len(es) == 0 || es[len(es)-1].Origin == "" || !strings.HasPrefix(es[len(es)-1].Detail, "held back: ") {
		s.Errorf("the record of %s says %+v", tool, es)
	}
	return w
}

// equal compares two JSON values, the order of members aside.
func equal(a, b mcptest.JSON) bool {
	x, y := jsontext.Value(slices.Clone(a)), jsontext.Value(slices.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && string(x) == string(y)
}

// member is the item of a listing by its name.
func member(m mcptest.Message, kind, name string) mcptest.JSON {
	for i := 0; ; i++ {
		v := mcptest.Path(m.Result, kind, itoa(i))
		if v == nil || mcptest.Text(v, "name") == name {
			return v
		}
	}
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

type entry = registry.Entry

// await asks again until something holds that comes by itself: what the gateway finds
// when it looks at its rule file, or records while an answer is on its way.
func (s *scene) await(what string, holds func() bool) {
	s.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("waited in vain: %s", what)
		}
	}
}
