package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
)

// TestInspectorIsConfined: what these tests meet is the real engine, as people run
// it: in processes of the gateway's own, behind every fence. Without them, which is a
// setting, /readyz says so.
func TestInspectorIsConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere there are no fences, and docs/design/warden.md says so")
	}
	for _, c := range crossings() {
		t.Run(string(c.way)+" "+c.rev, func(t *testing.T) {
			t.Parallel()
			s := &scene{t, c.way, c.rev}
			s.inspected("", "required: ", 1)
		})
	}
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		s := &scene{t, stage.HTTPHTTP, revisions[len(revisions)-1]}
		s.inspected("  sandbox: off", "off: unsandboxed", 0)
	})
}

// inspected meets one bad tool under these settings of the inspector.
func (s *scene) inspected(settings, level string, least int) {
	bad := badTools[0]
	h := stage.New(s, s.way, with(bad), stage.Options{Inspector: settings})
	a := s.started(h)
	s.works(h, a, "add")
	if w := h.Withheld(bad.name); w.Verdict != "hostile" {
		s.Errorf("withheld as %+v", w)
	}
	if pids := h.Inspectors(a); len(pids) < least || least == 0 && len(pids) > 0 {
		s.Errorf("processes that inspect: %v", pids)
	}
	if s.way.Guarded() {
		return // guard has no /readyz
	}
	if note, ok := h.Inspector(); !ok || !strings.HasPrefix(note, level) {
		s.Errorf("/readyz says %v %q, not %q", ok, note, level)
	} else {
		s.Log(note)
	}
}
