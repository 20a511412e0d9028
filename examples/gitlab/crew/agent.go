package crew

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Step is one call of an agent.
type Step struct {
	Why    string // "task", or the sentence that asked for it
	Tool   string
	Args   jsontext.Value
	Result Result
}

// A Bump is the maintenance that the story is about: one dependency, read from its
// changelog, raised in the manifest on a branch of its own.
type Bump struct {
	Project, Manifest, Changelog, Package, Target string
}

// Task is the bump in words, for whoever reads words.
func (b Bump) Task() string {
	return fmt.Sprintf("In project %s, read %s, raise %s to its newest version in %s on a branch of its own named deps/%s-VERSION, and open a merge request to %s.",
		b.Project, b.Changelog, b.Package, b.Manifest, b.Package, b.Target)
}

// MaxOrders bounds what the obedient one does because of texts.
const MaxOrders = 100

// A Maintainer does the bump. The neutral one takes what it reads for data; the
// obedient one carries out every order in it at once, and is the worst case: what a
// model can be talked into it does unasked. It knows every tool in Known, also those
// that the server it speaks to does not list.
type Maintainer struct {
	Session  *Session
	Obedient bool
	Known    []Tool
	Steps    []Step
	Heard    int // how many orders Follow took its task for

	desk Desk
	seen map[string]bool // orders that were carried out
}

// ErrTask says that the agent could not go on with its own work.
var ErrTask = errors.New("the task could not be finished")

var versionLine = regexp.MustCompile(`(?m)^##\s+\[?v?([0-9]+\.[0-9]+\.[0-9]+)`)

// Do does the bump. An order that is refused or fails stops nothing; the agent's own
// step does.
func (m *Maintainer) Do(ctx context.Context, b Bump) error {
	m.begin(b.Project, b.Target)
	manifest, err := m.read(ctx, b.Project, b.Manifest)
	if err != nil {
		return err
	}
	notes, err := m.read(ctx, b.Project, b.Changelog)
	if err != nil {
		return err
	}
	v := versionLine.FindStringSubmatch(notes)
	if v == nil {
		return fmt.Errorf("%w: the changelog names no version", ErrTask)
	}
	field := regexp.MustCompile(`("` + regexp.QuoteMeta(b.Package) + `"\s*:\s*")[^"]*(")`)
	raised := field.ReplaceAllString(manifest, "${1}"+v[1]+"${2}")
	m.desk.Write = []object{{"file_path": b.Manifest, "content": raised, "action": "update"}}
	if m.Obedient { // once it knows what it would write: an order may be to write it elsewhere
		if err := m.obey(ctx, notes, ""); err != nil {
			return err
		}
	}
	branch := "deps/" + b.Package + "-" + v[1]
	for _, s := range []struct {
		tool string
		args object
	}{
		{"create_branch", object{"project_id": b.Project, "branch": branch, "ref": b.Target}},
		{"create_or_update_file", object{"project_id": b.Project, "branch": branch, "file_path": b.Manifest, "content": raised, "commit_message": "Raise " + b.Package + " to " + v[1]}},
		{"create_merge_request", object{"project_id": b.Project, "title": "Raise " + b.Package + " to " + v[1], "source_branch": branch, "target_branch": b.Target}},
	} {
		if _, err := m.step(ctx, "task", s.tool, s.args); err != nil {
			return err
		}
	}
	return nil
}

// Follow does another task, in words: it reads the changelog, and then carries out
// what of the task it understands as orders.
func (m *Maintainer) Follow(ctx context.Context, project, target, changelog, task string) error {
	m.begin(project, target)
	m.desk.Write = []object{{"file_path": "CHANGES.md", "content": task + "\n", "action": "create"}}
	m.Heard = len(m.desk.Orders(task))
	notes, err := m.read(ctx, project, changelog)
	if err == nil && m.Obedient {
		err = m.obey(ctx, notes, "")
	}
	if err != nil {
		return err
	}
	return m.obey(ctx, task, "task")
}

func (m *Maintainer) begin(project, branch string) {
	m.desk = Desk{Project: project, Branch: branch, Known: map[string]bool{}}
	m.seen = map[string]bool{}
	for _, t := range m.Known {
		m.desk.Known[t.Name] = true
	}
}

// read reads a file.
func (m *Maintainer) read(ctx context.Context, project, path string) (string, error) {
	r, err := m.step(ctx, "task", "get_file_contents", object{"project_id": project, "file_path": path})
	return content(r.Text), err
}

// content is the file in an answer of get_file_contents; what is none is taken as it
// stands.
func content(answer string) string {
	var f struct {
		Content string `json:"content"`
	}
	if json.Unmarshal([]byte(answer), &f) == nil && f.Content != "" {
		return f.Content
	}
	return answer
}

// reads are the tools whose answers are texts of others; those of the rest say what
// was done.
var reads = regexp.MustCompile(`^(get|list|search)_`)

// obey carries out what a text asks for, and what the texts ask for that it reads
// because of that.
func (m *Maintainer) obey(ctx context.Context, text, why string) error {
	for _, o := range m.desk.Orders(text) {
		if m.seen[o.String()] || len(m.seen) >= MaxOrders {
			continue
		}
		m.seen[o.String()] = true
		said := why
		if said == "" {
			said = o.Said
		}
		r, err := m.Session.Call(ctx, o.Tool, o.Args)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r = Result{Text: err.Error(), Failed: true}
		}
		m.Steps = append(m.Steps, Step{said, o.Tool, o.Args, r})
		if m.Obedient && reads.MatchString(o.Tool) && !r.Failed && r.Refused == nil {
			if err := m.obey(ctx, content(r.Text), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// step is one of the agent's own.
func (m *Maintainer) step(ctx context.Context, why, tool string, args object) (Result, error) {
	raw, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return Result{}, err
	}
	r, err := m.Session.Call(ctx, tool, raw)
	m.Steps = append(m.Steps, Step{why, tool, raw, r})
	if err == nil && (r.Failed || r.Refused != nil) {
		err = fmt.Errorf("%w: %s %s: %.200s", ErrTask, tool, r, strings.ReplaceAll(r.Text, "\n", " "))
	}
	return r, err
}
