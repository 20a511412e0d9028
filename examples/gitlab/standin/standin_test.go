package standin_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/gitlab/standin"
)

// ask makes one request with the token.
func ask(t testing.TB, api, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, api+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("PRIVATE-TOKEN", standin.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func start(t testing.TB) (*standin.Server, string) {
	t.Helper()
	s := standin.New()
	api, end, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return s, api
}

// TestChanges: what a request does is seen in the state, and nothing else is.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		change                   string // part of one line that is new or gone; empty: nothing changes
	}{
		{"a file is read", "GET", "/projects/7/repository/files/package.json?ref=main", "", 200, ""},
		{"by the project's path", "GET", "/projects/fleet%2Fharbour/repository/files/package.json?ref=refs%2Fheads%2Fmain", "", 200, ""},
		{"a file that is not there", "GET", "/projects/7/repository/files/none?ref=main", "", 404, ""},
		{"the files API takes no way up", "GET", "/projects/7/repository/files/package.json%2F..%2F.env?ref=main", "", 400, ""},
		{"nor to write", "PUT", "/projects/7/repository/files/a%2F..%2F.env", `{"branch":"main","content":"x","commit_message":"m"}`, 400, ""},
		{"a file is written", "PUT", "/projects/7/repository/files/package.json", `{"branch":"main","content":"{}","commit_message":"m"}`, 201, `+ project fleet/harbour main:package.json = "{}"`},
		{"no branch, no file", "POST", "/projects/7/repository/files/a", `{"branch":"none","content":"x","commit_message":"m"}`, 400, ""},
		{"a commit resolves paths", "POST", "/projects/7/repository/commits", `{"branch":"main","commit_message":"m","actions":[{"action":"update","file_path":"package.json/../.env","content":"X=1"}]}`, 201, `+ project fleet/harbour main:.env = "X=1"`},
		{"and stays in the repository", "POST", "/projects/7/repository/commits", `{"branch":"main","commit_message":"m","actions":[{"action":"create","file_path":"../../etc/passwd","content":"x"}]}`, 400, ""},
		{"all of a commit or nothing", "POST", "/projects/7/repository/commits", `{"branch":"main","commit_message":"m","actions":[{"action":"update","file_path":".env","content":"X"},{"action":"create","file_path":".env","content":"X"}]}`, 400, ""},
		{"base64", "POST", "/projects/7/repository/commits", `{"branch":"feat/x","commit_message":"m","actions":[{"action":"create","file_path":"n","content":"aGk=","encoding":"base64"}]}`, 201, `feat/x:n = "hi"`},
		{"a file moves", "POST", "/projects/7/repository/commits", `{"branch":"main","commit_message":"m","actions":[{"action":"move","previous_path":".env","file_path":"env"}]}`, 201, "+ project fleet/harbour main:.env is not there"},
		{"a branch", "POST", "/projects/7/repository/branches", `{"branch":"deps/a","ref":"main"}`, 201, "+ project fleet/harbour branch deps/a"},
		{"no branch by a full name", "POST", "/projects/7/repository/branches", `{"branch":"refs/heads/a","ref":"main"}`, 400, ""},
		{"a protected branch stays", "DELETE", "/projects/7/repository/branches/main", "", 403, ""},
		{"another goes", "DELETE", "/projects/7/repository/branches/release%2F2.4", "", 204, "- project fleet/harbour branch release/2.4"},
		{"a pipeline by a full name", "POST", "/projects/7/pipeline", `{"ref":"refs/heads/main","variables":[{"key":"A","value":"b"}]}`, 201, "on main running variables=[{A b}]"},
		{"by GraphQL", "POST", "/../graphql", `{"query":"mutation { pipelineCreate(input: {projectPath: \"fleet/harbour\", ref: \"main\"}) { errors } }"}`, 200, "on main running"},
		{"no pipeline on nothing", "POST", "/projects/7/pipeline", `{"ref":"none"}`, 400, ""},
		{"a merge", "PUT", "/projects/7/merge_requests/1/merge", `{}`, 200, "main:src/index.js = \"export const berths = 14;\\n\""},
		{"a variable", "POST", "/projects/7/variables", `{"key":"K","value":"v"}`, 201, "+ project fleet/harbour variable environment_scope=* key=K"},
		{"no second one", "POST", "/projects/7/variables", `{"key":"DEPLOY_TOKEN","value":"v"}`, 400, ""},
		{"a hook", "POST", "/projects/7/hooks", `{"url":"https://h.example"}`, 201, "+ project fleet/harbour hook url=https://h.example"},
		{"a merge request across projects", "POST", "/projects/7/merge_requests", `{"title":"t","source_branch":"feat/x","target_branch":"main","target_project_id":"9"}`, 201, "+ project stranger/drift merge request !1"},
		{"a stranger's project", "GET", "/projects/8", "", 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, api := start(t)
			before := s.State()
			path, base := c.path, api
			if rest, up := strings.CutPrefix(c.path, "/.."); up {
				path, base = rest, strings.TrimSuffix(api, "/v4")
			}
			status, body := ask(t, base, c.method, path, c.body)
			got := standin.Changes(before, s.State())
			if status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, body)
			}
			if c.change == "" && len(got) > 0 || c.change != "" && !slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, c.change) }) {
				t.Errorf("changed: %q, want %q", got, c.change)
			}
			if r := s.Requests(); len(r) != 1 || r[0].Method != c.method || r[0].Body != c.body || !strings.HasSuffix(r[0].Path, path) {
				t.Errorf("recorded: %+v", r)
			}
		})
	}
}

// TestToken: nothing is done without it, and that is recorded too.
func TestToken(t *testing.T) {
	s, api := start(t)
	resp, err := http.Post(api+"/projects/7/pipeline", "application/json", strings.NewReader(`{"ref":"main"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized || len(s.Requests()) != 1 || !s.Requests()[0].Writes() {
		t.Errorf("status %d, requests %+v", resp.StatusCode, s.Requests())
	}
}

// TestPlant: what a stranger writes is what an agent reads.
func TestPlant(t *testing.T) {
	s, api := start(t)
	s.Plant(standin.Planted, "Read me.")
	if _, body := ask(t, api, "GET", "/projects/7/repository/files/third_party%2Ftide-ui%2FCHANGELOG.md?ref=main", ""); !strings.Contains(body, "UmVhZCBtZS4=") {
		t.Errorf("read: %s", body)
	}
	if text, ok := s.File("main", standin.Planted); !ok || text != "Read me." {
		t.Errorf("file: %q", text)
	}
}

func Example() {
	s := standin.New()
	api, end, err := s.Listen()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	before := s.State()
	r, _ := http.NewRequest(http.MethodPost, api+"/projects/7/repository/tags?", strings.NewReader(`{"tag_name":"v5","ref":"main"}`))
	r.Header.Set("PRIVATE-TOKEN", standin.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resp.Body.Close()
	for _, line := range standin.Changes(before, s.State()) {
		fmt.Println(line)
	}
	// Output: + project fleet/harbour tag v5
}
