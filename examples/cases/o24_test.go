package cases

import (
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

const rulesO24 = `guards:
  refs:
    protected: [main, "release/*"]
    keys: {create_pipeline: [ref]}
rules:
- name: work
  allow: [create_commit, push, git, create_pipeline, create_merge_request, deploy]
- name: pipelines
  ask: [run_pipeline]
`

// rowsO24 are the rows of the case in its order; at is the argument that the refusal
// names.
var rowsO24 = []struct{ tool, args, at string }{
	{"create_commit", `{"branch":"main"}`, "/branch"},
	{"create_commit", `{"branch":"refs/heads/main"}`, "/branch"},
	{"create_commit", `{"branch":"release/2.4"}`, "/branch"},
	{"create_commit", `{"options":{"commit":{"branch":"main"}}}`, "/options/commit/branch"},
	{"push", `{"refspec":"HEAD:refs/heads/main"}`, "/refspec"},
	{"push", `{"refspec":"+main"}`, "/refspec"},
	{"push", `{"refspec":":main"}`, "/refspec"},
	{"push", `{"refspecs":["feat/x","HEAD:main"]}`, "/refspecs/1"},
	{"git", `{"args":["push","-u","origin","HEAD:main"]}`, "/args"},
	{"create_pipeline", `{"ref":"main"}`, "/ref"},
	{"push", `{"refspec":"main:feat/x"}`, ""},
	{"create_commit", `{"branch":"maintenance"}`, ""},
	{"create_commit", `{"branch":"feat/main-menu"}`, ""},
	{"create_merge_request", `{"source_branch":"feat/x","target_branch":"main"}`, ""},
}

// moreO24 are calls whose destination stands under a key that the policy does not
// name for the tool, and what refuses each of them.
var moreO24 = []struct{ tool, args, reason, at string }{
	{"deploy", `{"deploy_branch":"main"}`, "guard", "/deploy_branch"},    // a name with a branch in it
	{"deploy", `{"Branch":"refs/heads/main"}`, "unfit", ""},              // a name that the schema does not know
	{"create_pipeline", `{"ref":"feat/x","branch":"main"}`, "unfit", ""}, // so is one that the policy would not look at
	{"run_pipeline", `{"onto":"main"}`, "no_channel", ""},                // a key that nobody knows, where a person is asked
	{"publish", `{"onto":"main"}`, "not_shown", ""},                      // and in a tool that the policy does not name
	{"create_commit", `{"options":"{\"commit\":{\"branch\":\"main\"}}"}`, "unfit", ""},
	{"git", `{"args":["push","--mirror"]}`, "guard", "/args"},
}

// toolsO24 are the tools with schemas as servers have them.
func toolsO24() []mcptest.JSON {
	return mcptest.Texts(
		`{"name":"create_commit","description":"Makes a commit.","inputSchema":{"type":"object","properties":{"branch":{"type":"string"},"options":{"type":"object"}}}}`,
		`{"name":"push","description":"Pushes.","inputSchema":{"type":"object","properties":{"refspec":{"type":"string"},"refspecs":{"type":"array","items":{"type":"string"}}}}}`,
		`{"name":"git","description":"Runs git.","inputSchema":{"type":"object","properties":{"args":{"type":"array","items":{"type":"string"}}}}}`,
		`{"name":"create_pipeline","description":"Starts a pipeline.","inputSchema":{"type":"object","properties":{"ref":{"type":"string"}}}}`,
		`{"name":"run_pipeline","description":"Starts a pipeline.","inputSchema":{"type":"object"}}`,
		`{"name":"create_merge_request","description":"Opens a merge request.","inputSchema":{"type":"object","properties":{"source_branch":{"type":"string"},"target_branch":{"type":"string"}}}}`,
		`{"name":"deploy","description":"Deploys a branch.","inputSchema":{"type":"object","properties":{"deploy_branch":{"type":"string"}}}}`,
		`{"name":"publish","description":"Publishes.","inputSchema":{"type":"object"}}`)
}

func TestCaseO24(t *testing.T) {
	scenes(t, both, func(s *scene) {
		h := stage.New(s, s.way, mcptest.Script{Tools: mcptest.List{Items: toolsO24()}}, stage.Options{Rules: rulesO24})
		a := s.started(h)
		var refused []string
		for _, row := range rowsO24 {
			if row.at == "" {
				s.runs(h, a, row.tool, row.args)
				if sent := mcptest.Path(h.Up.Last(row.tool).Params, "arguments"); string(sent) != row.args {
					s.Errorf("%s was forwarded as %s", row.args, sent)
				}
				continue
			}
			s.guarded(h, a, row.tool, row.args, "ref", row.at, "main", "2.4")
			refused = append(refused, row.args)
		}
		for _, row := range moreO24 {
			if row.reason == "guard" {
				s.guarded(h, a, row.tool, row.args, "ref", row.at)
			} else {
				s.audited(h, stage.Refused(s, a.Call(row.tool, row.args), row.reason))
			}
			refused = append(refused, row.args)
		}
		for _, m := range h.Up.Received() { // nothing that was refused is among what the server got
			if m.Method == "tools/call" && slices.Contains(refused, string(mcptest.Path(m.Params, "arguments"))) {
				s.Errorf("the server got %s", m.Raw)
			}
		}
		s.never(h, "deploy", "publish", "run_pipeline", "git", "create_pipeline")
	})
}

// guarded wants the call refused by a guard, with the place of the argument, none of
// these texts of its value, and the server not asked.
func (s *scene) guarded(h *stage.House, a *mcptest.Agent, tool, args, guard, at string, values ...string) {
	s.Helper()
	n := h.Up.Executed(tool)
	m := a.Call(tool, args)
	r := stage.Refused(s, m, "guard")
	if h.Up.Executed(tool) != n {
		s.Errorf("%s %s was executed", tool, args)
	}
	for _, v := range values {
		if strings.Contains(string(m.Raw), v) {
			s.Errorf("%s %s: the refusal repeats it: %.600s", tool, args, m.Raw)
		}
	}
	s.audited(h, r)
	for _, e := range h.Recorded(r) {
		if e.Guard != guard || !slices.Equal(e.Paths, []string{at}) {
			s.Errorf("%s %s: the record has %s %q, want %s at %s", tool, args, e.Guard, e.Paths, guard, at)
		}
	}
}
