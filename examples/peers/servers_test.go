package peers_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A call is one call of a job.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// A job is what a client does: start the command, list, call in turn.
type job struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Calls   []call            `json:"calls"`
}

// A did is what came back.
type did struct {
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Results []jsontext.Value `json:"results"`
}

func (d did) names() []string {
	var names []string
	for _, t := range d.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// servers are the real servers and an ordinary task for each.
func servers(t *testing.T) map[string]job {
	t.Helper()
	script := func(parts ...string) string {
		return filepath.Join(append([]string{npm(t), "node_modules"}, parts...)...)
	}
	folder, memory := t.TempDir(), filepath.Join(t.TempDir(), "memory.json")
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("some text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]job{
		"everything": {Args: []string{script("@modelcontextprotocol", "server-everything", "dist", "index.js")}, Calls: []call{
			{"echo", map[string]any{"message": "hello"}}, {"get-sum", map[string]any{"a": 2, "b": 3}},
			{"get-structured-content", map[string]any{"location": "Chicago"}}, {"get-tiny-image", map[string]any{}},
		}},
		"filesystem": {Args: []string{script("@modelcontextprotocol", "server-filesystem", "dist", "index.js"), folder}, Calls: []call{
			{"write_file", map[string]any{"path": filepath.Join(folder, "b.txt"), "content": "written\n"}},
			{"list_directory", map[string]any{"path": folder}}, {"read_text_file", map[string]any{"path": filepath.Join(folder, "a.txt")}},
		}},
		"memory": {Args: []string{script("@modelcontextprotocol", "server-memory", "dist", "index.js")}, Env: map[string]string{"MEMORY_FILE_PATH": memory}, Calls: []call{
			{"create_entities", map[string]any{"entities": []any{map[string]any{"name": "ship", "entityType": "thing", "observations": []any{"sails"}}}}},
			{"read_graph", map[string]any{}}, {"delete_entities", map[string]any{"entityNames": []any{"ship"}}},
		}},
		"gitlab": {Args: []string{script("@zereight", "mcp-gitlab", "build", "index.js")}, Env: map[string]string{
			"GITLAB_PERSONAL_ACCESS_TOKEN": "none", "GITLAB_API_URL": gitlab(t) + "/api/v4", "GITLAB_TOOLSETS": "all",
		}, Calls: []call{
			{"get_project", map[string]any{"project_id": "7"}},
			{"list_issues", map[string]any{"project_id": "7"}},
		}},
	}
}

// gitlab stands in for a GitLab: one project, one issue.
func gitlab(t *testing.T) string {
	t.Helper()
	project := `{"id":7,"name":"ship","path":"ship","path_with_namespace":"fleet/ship","description":null,"visibility":"private","default_branch":"main",
"web_url":"http://gitlab.example/fleet/ship","created_at":"2026-01-01T00:00:00Z","last_activity_at":"2026-01-01T00:00:00Z","namespace":{"id":1,"name":"fleet","path":"fleet","kind":"group","full_path":"fleet"}}`
	issue := `[{"id":1,"iid":1,"project_id":7,"title":"Sails torn","description":"Both of them.","state":"opened","created_at":"2026-01-01T00:00:00Z",
"updated_at":"2026-01-01T00:00:00Z","closed_at":null,"labels":[],"milestone":null,"assignees":[],"author":{"id":2,"username":"mate","name":"Mate","avatar_url":null,"web_url":"http://gitlab.example/mate"},"web_url":"http://gitlab.example/fleet/ship/-/issues/1"}]`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/issues") {
			_, _ = io.WriteString(w, issue)
			return
		}
		_, _ = io.WriteString(w, project)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// clients are the ways in which an agent speaks MCP.
var clients = map[string]func(*testing.T, job) did{
	"go-sdk":    goClient,
	"npm-sdk":   func(t *testing.T, j job) did { return script(t, "sdk.mjs", j) },
	"framework": func(t *testing.T, j job) did { return script(t, "framework.mjs", j) },
}

func script(t *testing.T, name string, j job) did {
	t.Helper()
	arg, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), name, string(arg))
	cmd.Dir = npm(t)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, tail(errs.String(), 3000))
	}
	var d did
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

func goClient(t *testing.T, j job) did {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.Command(j.Command, j.Args...)
	cmd.Env = os.Environ()
	for k, v := range j.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "peer-go-sdk", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var d did
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		d.Tools = append(d.Tools, struct {
			Name string `json:"name"`
		}{tool.Name})
	}
	for _, c := range j.Calls {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		d.Results = append(d.Results, raw)
	}
	return d
}

// TestRealServers has every client use every server directly and behind guard:
// the same tools, the same results, nothing withheld, nothing asked.
func TestRealServers(t *testing.T) {
	npm(t)
	bin := build(t, pratique)
	for name, direct := range servers(t) {
		for _, who := range slices.Sorted(maps.Keys(clients)) {
			t.Run(name+"/"+who, func(t *testing.T) {
				j := direct
				j.Command = node(t)
				want := clients[who](t, j)
				j.Args = append([]string{"guard", "--data", filepath.Join(t.TempDir(), "data"), "--", node(t)}, j.Args...)
				j.Command = bin
				j.Env = map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH"), "PRATIQUE_GATEWAY_WAIT": wait}
				maps.Copy(j.Env, direct.Env)
				got := clients[who](t, j)
				if !slices.Equal(got.names(), want.names()) {
					t.Errorf("tools behind guard: %d, directly: %d", len(got.Tools), len(want.Tools))
				}
				if len(got.Results) != len(want.Results) {
					t.Fatalf("%d results, want %d", len(got.Results), len(want.Results))
				}
				for i := range want.Results {
					if a, b := plain(t, got.Results[i]), plain(t, want.Results[i]); a != b {
						t.Errorf("%s: behind guard\n%.600s\ndirectly\n%.600s", j.Calls[i].Name, a, b)
					}
				}
				t.Logf("%d tools, %d calls", len(got.Tools), len(got.Results))
			})
		}
	}
}

// plain is a result without our label, in canonical form.
func plain(t *testing.T, raw jsontext.Value) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok {
		if meta, ok := m["_meta"].(map[string]any); ok {
			delete(meta, "dev.pratique/label")
			if len(meta) == 0 {
				delete(m, "_meta")
			}
		}
	}
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
