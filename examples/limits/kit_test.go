package limits_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

func TestMain(m *testing.M) { stage.Main(m) }

// legacy is the newest revision of the era with sessions.
const legacy = "2025-11-25"

// A scene is the built gateway with a scripted server behind it.
type scene struct {
	*testing.T
	h *stage.House
}

func open(t *testing.T, o stage.Options, answers map[string]mcptest.Answer, tools ...mcptest.JSON) *scene {
	t.Helper()
	return &scene{t, stage.New(t, stage.HTTPHTTP, mcptest.Script{Tools: mcptest.List{Items: tools}, Answers: answers}, o)}
}

// openWay is open with a server of another kind.
func openWay(t *testing.T, w stage.Way, o stage.Options, tools ...mcptest.JSON) *scene {
	t.Helper()
	return &scene{t, stage.New(t, w, mcptest.Script{Tools: mcptest.List{Items: tools}}, o)}
}

// file writes a file beside the configuration.
func (s *scene) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.h.Dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// sealed is an agent whose credential an operator sealed an intent for, after it listed
// the tools. Somebody must have seen the server before.
func (s *scene) sealed(name, intent string) *mcptest.Agent {
	s.Helper()
	url := s.h.Credential(name)
	if _, errs, code := s.h.Run("intent", "seal", "--data", s.h.Data, "--agent", name, "--yes", s.file(name+".yaml", intent)); code != 0 {
		s.Fatalf("sealing: exit code %d: %s", code, errs)
	}
	a := mcptest.DialHTTP(s, legacy, url)
	a.Start()
	a.Tools()
	return a
}

// agent is one that listed the tools.
func (s *scene) agent() *mcptest.Agent {
	s.Helper()
	a := s.h.Agent(legacy)
	a.Start()
	a.Tools()
	return a
}

// again starts the gateway with other options.
func (s *scene) again(a *mcptest.Agent, o stage.Options) *mcptest.Agent {
	s.Helper()
	a.Close()
	s.h.Stop()
	s.h.Configure(o)
	s.h.Start()
	b := s.h.Other(legacy, "of-"+o.Profile)
	b.Start()
	b.Tools()
	return b
}

// runs wants the call to be executed.
func (s *scene) runs(a *mcptest.Agent, tool, args string) mcptest.Message {
	s.Helper()
	n := s.h.Up.Executed(tool)
	m := a.Call(tool, args)
	if m.IsError() || s.h.Up.Executed(tool) != n+1 {
		s.Errorf("%s: executed %d times: %s: %.400s", tool, s.h.Up.Executed(tool)-n, moved, m.Raw)
	}
	return m
}

// refused wants it not to be, for the reason.
func (s *scene) refused(a *mcptest.Agent, tool, args string, reasons ...string) stage.Refusal {
	s.Helper()
	n := s.h.Up.Executed(tool)
	r := stage.Refused(s, a.Call(tool, args), reasons...)
	if got := s.h.Up.Executed(tool); got != n {
		s.Errorf("%s was executed: %s", tool, moved)
	}
	return r
}
