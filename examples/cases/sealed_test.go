package cases

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// A bound is an agent whose run is sealed to an intent: a launch of guard, or a
// credential that nobody has presented yet.
type bound struct {
	*mcptest.Agent
	id  string // of the agent
	url string // of up
}

// intent writes a file with an intent for these tools.
func (s *scene) intent(h *stage.House, name, text string) string {
	s.Helper()
	file := filepath.Join(h.Dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return file
}

// sealed is an agent under the intent of a file. It has said nothing yet.
func (s *scene) sealed(h *stage.House, file string) *bound {
	s.Helper()
	if h.Way.Guarded() {
		argv := h.Argv()
		b := &bound{Agent: mcptest.StartStdio(s, s.rev, slices.Concat(argv[:2], []string{"--intent", file}, argv[2:])...)}
		b.Request("ping", "") // the seal is there before the first byte
		b.id = s.bindings(h)[0].Agent
		return b
	}
	first := h.Agent(s.rev) // what nobody saw cannot be sealed
	first.Start()
	first.Tools()
	first.Close()
	u, err := url.Parse(h.URL())
	if err != nil {
		s.Fatal(err)
	}
	var made struct {
		ID         string `json:"id"`
		Credential string `json:"credential"`
	}
	h.JSON(&made, "agents", "new", "--name", "sealed", "--profile", "personal", "--registry", "http://"+u.Host, "--key", filepath.Join(h.Data, "operator.jwk"))
	if out, errs, code := s.seal(h, made.ID, file); code != 0 {
		s.Fatalf("sealing: %d: %s%s", code, out, errs)
	}
	u.Path = "/mcp/" + made.Credential
	b := &bound{id: made.ID, url: u.String()}
	return b.again(s)
}

// again is the same credential on a connection of its own.
func (b *bound) again(s *scene) *bound {
	return &bound{Agent: mcptest.DialHTTP(s, s.rev, b.url), id: b.id, url: b.url}
}

// seal is what an operator does.
func (s *scene) seal(h *stage.House, agent, file string) (out, errs string, code int) {
	return h.Run("intent", "seal", "--data", h.Data, "--agent", agent, "--yes", "--json", file)
}

// A binding is an intent as `intent show` has it.
type binding struct {
	Agent  string `json:"agent"`
	State  string `json:"state"`
	Digest string `json:"digest"`
}

func (s *scene) bindings(h *stage.House) []binding {
	s.Helper()
	var out struct {
		Intents []binding `json:"intents"`
	}
	h.JSON(&out, "intent", "show", "--data", h.Data)
	if len(out.Intents) == 0 {
		s.Fatal("nothing is sealed")
	}
	return out.Intents
}
