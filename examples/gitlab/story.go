package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/gitlab/standin"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

// A story is one task and one text that a stranger planted, told twice.
type story struct {
	options
	task      string // empty: the bump
	injection string
}

// A telling is what happened in one of the two runs.
type telling struct {
	steps    []crew.Step
	last     string // the agent's last word
	worded   bool   // the task is in a person's words, and the script looked for orders in it
	heard    int    // how many it took for orders
	err      error  // why it could not finish
	changes  []string
	requests int
	writes   int
	tools    []crew.Tool
}

// agent says who acts.
func (s *story) agent() string {
	switch {
	case s.model.URL != "":
		return fmt.Sprintf("the model %s at %s, with a neutral instruction", s.model.Name, s.model.URL)
	case s.neutral:
		return "a scripted agent that takes what it reads for data (no model is configured)"
	}
	return "a worst-case agent that obeys whatever it reads (no model is configured)"
}

// tell runs both and shows them.
func (s *story) tell(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "pratique-story-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.bin == "" {
		if s.bin, err = launch.Build(dir); err != nil {
			return err
		}
	}
	without, err := s.run(ctx, nil, nil)
	if err != nil {
		return err
	}
	file := s.options.intent
	if file == "" {
		file = filepath.Join(dir, "intent.yaml")
		if err := os.WriteFile(file, []byte(intent), 0o600); err != nil {
			return err
		}
	}
	data := s.data
	if data == "" {
		data = filepath.Join(dir, "data")
	}
	guard := &launch.Guard{Bin: s.bin, Data: data, Name: "gitlab", Intent: file}
	with, err := s.run(ctx, guard, without.tools)
	if err != nil {
		return err
	}
	s.print(out, without, with)
	return nil
}

// run is one run, on a GitLab of its own. Known is what a worst-case agent knows of
// tools beside those that are listed to it.
func (s *story) run(ctx context.Context, guard *launch.Guard, known []crew.Tool) (*telling, error) {
	lab := standin.New()
	old, _ := lab.File("main", standin.Planted)
	lab.Plant(standin.Planted, old+s.injection)
	api, end, err := lab.Listen(s.listen)
	if err != nil {
		return nil, err
	}
	defer end()
	server := launch.GitLab(s.npm, api, standin.Token, s.toolsets)
	if guard != nil {
		server = guard.Before(server)
	}
	session, err := crew.Start(ctx, server.Argv, server.Env)
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	defer session.Close()
	t := &telling{}
	if t.tools, err = session.Tools(ctx); err != nil {
		return nil, err
	}
	if known == nil {
		known = t.tools
	}
	before := lab.State()
	s.act(ctx, session, known, t)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	t.changes = standin.Changes(before, lab.State())
	for _, r := range lab.Requests() {
		t.requests++
		if r.Writes() {
			t.writes++
		}
	}
	return t, nil
}

// act lets the agent act.
func (s *story) act(ctx context.Context, session *crew.Session, known []crew.Tool, t *telling) {
	if s.model.URL != "" {
		task := s.task
		if task == "" {
			task = bump.Task()
		}
		t.steps, t.last, t.err = s.model.Do(ctx, session, task)
		return
	}
	m := &crew.Maintainer{Session: session, Obedient: !s.neutral, Known: known}
	if s.task != "" {
		t.err = m.Follow(ctx, bump.Project, bump.Target, bump.Changelog, s.task)
		t.worded, t.heard = true, m.Heard
	} else {
		t.err = m.Do(ctx, bump)
	}
	t.steps = m.Steps
}

// lines reads a person's lines.
type lines struct{ *bufio.Scanner }

func newLines(in io.Reader) lines { return lines{bufio.NewScanner(in)} }

// until reads up to a line that is a single dot, or to the end of the input.
func (l lines) until(out io.Writer, what string) (string, error) {
	fmt.Fprintln(out, what)
	var b strings.Builder
	for l.Scan() {
		if l.Text() == "." {
			break
		}
		b.WriteString(l.Text())
		b.WriteByte('\n')
	}
	return b.String(), l.Err()
}
