package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/examples/gitlab/standin"
	"github.com/pratique-dev/pratique/examples/unattended"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

func TestMain(m *testing.M) { unattended.Main(m) }

// A gitlab is the world of the story: a stand-in at one address that is made anew
// for each vector.
type gitlab struct {
	api string
	mu  sync.Mutex // holds what follows
	now *standin.Server
}

// newGitLab is the one world of all tests of the package, so that the server before it
// is the same launch in all of them. It ends with the process.
var newGitLab = sync.OnceValue(func() *gitlab {
	w := &gitlab{now: standin.New()}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.server().ServeHTTP(rw, r) }))
	w.api = s.URL + "/api/v4"
	return w
})

func (w *gitlab) server() *standin.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Reset implements unattended.World.
func (w *gitlab) Reset() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = standin.New()
	return nil
}

// State implements unattended.World.
func (w *gitlab) State() ([]string, error) { return w.server().State(), nil }

// Requests implements unattended.World.
func (w *gitlab) Requests() int { return len(w.server().Requests()) }

// command is the real server before the world.
func (w *gitlab) command(t testing.TB) launch.Server {
	return launch.GitLab(unattended.NPM(t), w.api, standin.Token, "all")
}

func vectors(t testing.TB, file string) []unattended.Vector {
	t.Helper()
	list, err := unattended.Read(file, "{SECRET}", standin.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// mostWant is what most tools want.
const mostWant = `{"project_id":"7","group_id":"fleet","branch_name":"feat/x","url":"https://drift.example/in"}`

// names are the tools that are listed, sorted.
func names(d *unattended.Desk) string {
	var list []string
	for _, x := range d.Tools {
		list = append(list, x.Name)
	}
	return sorted(strings.Join(list, " "))
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}
