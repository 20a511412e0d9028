package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A project is a repository and what belongs to it.
type project struct {
	id          int
	path        string // with its namespace
	description string
	visibility  string
	deflt       string // the default branch
	from        string // path of what it was forked from
	archived    bool
	root        map[string]file // how it began

	commits   map[string]*commit
	branches  map[string]string // name to commit
	tags      map[string]string
	protected map[string]bool
	requests  []*mergeRequest
	issues    []*issue
	pipelines []*pipeline
	jobs      []*job
	schedules []object
	variables []object
	triggers  []object
	hooks     []object
	releases  []object
	wiki      []object
	labels    []object
	uploads   []object
	members   []object
}

// A commit is a tree as a whole.
type commit struct {
	id, message, at string
	parents         []string
	files           map[string]file
}

type file struct {
	content string
	exec    bool
}

type mergeRequest struct {
	iid                int
	title, description string
	source, target     string
	targetProject      int
	state, at          string
	sha                string
	approved           bool
	labels             []string
	notes              []object
}

type issue struct {
	iid                int
	title, description string
	state, at          string
	labels             []string
	confidential       bool
	notes              []object
}

type pipeline struct {
	id        int
	ref, sha  string
	status    string
	at        string
	variables []variable
}

type variable struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type job struct {
	id, pipeline        int
	name, stage, status string
	ref, trace, at      string
}

type group struct {
	id        int
	path      string
	variables []object
}

// project finds by number or by path. It is called under the lock.
func (s *Server) project(id string) *project {
	for _, p := range s.projects {
		if strconv.Itoa(p.id) == id || p.path == unescaped(id) {
			return p
		}
	}
	return nil
}

// commit makes a commit of the files onto a branch.
func (s *Server) commit(p *project, branch, message string, files map[string]file) *commit {
	c := &commit{message: message, at: s.tick(), files: files}
	if head := p.branches[branch]; head != "" {
		c.parents = []string{head}
	}
	h := sha256.New()
	fmt.Fprintln(h, message, c.at, c.parents)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(h, name, files[name].exec, len(files[name].content))
		h.Write([]byte(files[name].content))
	}
	c.id = hex.EncodeToString(h.Sum(nil))[:40]
	p.commits[c.id] = c
	p.branches[branch] = c.id
	return c
}

// resolve is the commit that a name of a branch, tag or commit means; also full
// names, as GitLab takes them where it reads.
func (p *project) resolve(ref string) *commit {
	if ref == "" || ref == "HEAD" {
		ref = p.deflt
	}
	if id, ok := p.branches[branchOf(ref)]; ok {
		return p.commits[id]
	}
	if id, ok := p.tags[strings.TrimPrefix(ref, "refs/tags/")]; ok {
		return p.commits[id]
	}
	return p.commits[ref]
}

// branchOf is the short name of a branch.
func branchOf(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// State is everything that can be changed, in lines that are sorted: what differs
// between two states is what was done between them.
func (s *Server) State() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l lines
	for _, p := range s.projects {
		p.state(&l)
	}
	for _, g := range s.groups {
		l.add("group %s", g.path)
		l.each("group "+g.path+" variable", g.variables)
	}
	slices.Sort(l)
	return l
}

// lines are lines of a state.
type lines []string

func (l *lines) add(format string, a ...any) {
	*l = append(*l, strings.ReplaceAll(fmt.Sprintf(format, a...), "\n", "⏎"))
}

// each adds one line for each object.
func (l *lines) each(what string, list []object) {
	for _, o := range list {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(o)) {
			if k != "id" && !strings.HasSuffix(k, "_at") && !strings.HasSuffix(k, "author") {
				fmt.Fprintf(&b, " %s=%v", k, o[k])
			}
		}
		l.add("%s%s", what, b.String())
	}
}

func (p *project) state(l *lines) {
	at := "project " + p.path
	l.add("%s visibility=%s default=%s archived=%v description=%q", at, p.visibility, p.deflt, p.archived, p.description)
	for name, id := range p.branches {
		l.add("%s branch %s", at, name)
		if p.protected[name] {
			l.add("%s protected %s", at, name)
		}
		tree := p.commits[id].files
		for path := range p.root {
			if _, there := tree[path]; !there {
				l.add("%s %s:%s is not there", at, name, path)
			}
		}
		for path, f := range tree {
			if old, there := p.root[path]; there && old == f {
				continue // a branch is what differs from how the project began
			}
			l.add("%s %s:%s = %s", at, name, path, f)
		}
	}
	for name := range p.tags {
		l.add("%s tag %s", at, name)
	}
	for _, m := range p.requests {
		l.add("%s merge request !%d %q %s -> %s (project %d) %s approved=%v", at, m.iid, m.title, m.source, m.target, m.targetProject, m.state, m.approved)
		l.each(fmt.Sprintf("%s merge request !%d note", at, m.iid), m.notes)
	}
	for _, i := range p.issues {
		l.add("%s issue #%d %q %s labels=%v %q", at, i.iid, i.title, i.state, i.labels, i.description)
		l.each(fmt.Sprintf("%s issue #%d note", at, i.iid), i.notes)
	}
	for _, x := range p.pipelines {
		l.add("%s pipeline %d on %s %s variables=%v", at, x.id, x.ref, x.status, x.variables)
	}
	for _, j := range p.jobs {
		l.add("%s job %d %s %s", at, j.id, j.name, j.status)
	}
	for what, list := range map[string][]object{
		"schedule": p.schedules, "variable": p.variables, "trigger": p.triggers, "hook": p.hooks, "release": p.releases,
		"wiki": p.wiki, "label": p.labels, "upload": p.uploads, "member": p.members,
	} {
		l.each(at+" "+what, list)
	}
}

// String is the beginning of the content, and what tells it from any other.
func (f file) String() string {
	s := strconv.Quote(f.content)
	if len(f.content) > 60 {
		s = fmt.Sprintf("%.60q… %s", f.content, digest(f.content)[:8])
	}
	if f.exec {
		s += " executable"
	}
	return s
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// Changes are the lines that are in one of two states only: what is new with "+",
// what is gone with "-".
func Changes(before, after []string) []string {
	var out []string
	had, has := map[string]bool{}, map[string]bool{}
	for _, l := range before {
		had[l] = true
	}
	for _, l := range after {
		has[l] = true
		if !had[l] {
			out = append(out, "+ "+l)
		}
	}
	for _, l := range before {
		if !has[l] {
			out = append(out, "- "+l)
		}
	}
	return out
}
