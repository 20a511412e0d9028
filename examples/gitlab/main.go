// Command gitlab is the story of an agent that is left alone on a repository: the
// real @zereight/mcp-gitlab server, from npm, before a GitLab of our own on loopback
// that records every request. An agent reads a changelog in which a stranger wrote
// something, once without Pratique and once under a sealed intent of six tools, and
// both runs are shown side by side:
//
//	make try STORY=gitlab
//	go run ./examples/gitlab -task task.txt -injection changelog.md
//
// Where a model is configured (-model-url, -model, or PRATIQUE_TRY_URL and
// PRATIQUE_TRY_MODEL) it is the agent; else a worst-case agent is, which obeys
// whatever it reads. Which of them it was is said.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/gitlab/standin"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

//go:embed testdata/poison.md
var poison string

//go:embed testdata/intent.yaml
var intent string

// bump is the story's own task.
var bump = crew.Bump{Project: standin.Harbour, Manifest: standin.Manifest, Changelog: standin.Planted, Package: "tide-ui", Target: "main"}

func main() {
	launch.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	npm, bin, data, listen, task, injection, intent, toolsets string
	model                                                     crew.Model
	keyFile                                                   string
	neutral                                                   bool
}

func run(ctx context.Context, args []string, in *os.File, out, errs io.Writer) int {
	var o options
	f := flag.NewFlagSet("gitlab", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.npm, "npm", os.Getenv("PRATIQUE_NPM"), "folder that make npm filled")
	f.StringVar(&o.bin, "pratique", "", "binary of pratique (default: it is built)")
	f.StringVar(&o.data, "data", "", "data folder of Pratique, which is kept, so that pratique ledger show --data can tell what was decided (default: a new one, not kept)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback address of the GitLab; with a data folder that was used before it is the same as then, since another address is a changed launch")
	f.StringVar(&o.task, "task", "", "file with a task of your own (default: the story's)")
	f.StringVar(&o.injection, "injection", "", "file with what a stranger adds to the changelog (default: the story's)")
	f.StringVar(&o.intent, "intent", "", "file with an intent of your own (default: the story's)")
	f.StringVar(&o.toolsets, "toolsets", "all", "toolsets of the GitLab server: all are 262 tools, which not every model takes")
	f.StringVar(&o.model.URL, "model-url", os.Getenv("PRATIQUE_TRY_URL"), "base URL of an OpenAI-compatible API")
	f.StringVar(&o.model.Name, "model", os.Getenv("PRATIQUE_TRY_MODEL"), "its model")
	f.StringVar(&o.keyFile, "key-file", os.Getenv("PRATIQUE_TRY_KEY_FILE"), "file with its key")
	f.BoolVar(&o.neutral, "neutral", false, "without a model: the agent that takes what it reads for data, in the place of the worst case")
	if err := f.Parse(args); err != nil {
		return 2
	}
	if f.NArg() > 0 || (o.model.URL == "") != (o.model.Name == "") || o.npm == "" {
		fmt.Fprintln(errs, "gitlab: no further arguments; -model-url and -model go together; -npm (or PRATIQUE_NPM) is needed, and make npm makes it")
		return 2
	}
	s, err := o.story(in, out)
	if err == nil {
		err = s.tell(ctx, out)
	}
	if err != nil {
		fmt.Fprintln(errs, "gitlab:", err)
		return 1
	}
	return 0
}

// story reads what the options name, and asks on a terminal for what they do not.
func (o *options) story(in *os.File, out io.Writer) (*story, error) {
	s := &story{options: *o, injection: poison}
	for file, text := range map[string]*string{o.task: &s.task, o.injection: &s.injection} {
		if file == "" {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		*text = string(raw)
	}
	if o.keyFile != "" {
		raw, err := os.ReadFile(o.keyFile)
		if err != nil {
			return nil, err
		}
		s.model.Key = strings.TrimSpace(string(raw))
	}
	if info, err := in.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 && o.task == "" && o.injection == "" {
		if err := s.ask(in, out); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ask asks for a task and a text to plant. Nothing stands for the story's own.
func (s *story) ask(in io.Reader, out io.Writer) error {
	lines := newLines(in)
	fmt.Fprintf(out, "The agent looks after the project fleet/harbour (number %s) and is to:\n  %s\n", standin.Harbour, bump.Task())
	task, err := lines.until(out, "Another task? End it with a line that is a single dot; nothing before it keeps this one.")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "A stranger added to %s:\n%s", standin.Planted, indent(poison))
	text, err := lines.until(out, "Another text? End it with a line that is a single dot; nothing before it keeps this one.")
	if err != nil {
		return err
	}
	s.task = task
	if text != "" {
		s.injection = text
	}
	return nil
}
