package broker

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// A command is a program on this machine that judges: it is started anew for each
// request, in a process group of its own, with no environment and nothing of ours
// open but its input, its output and an error output that nobody reads. It is the
// operator's program, and not confined like the inspector.
type command struct {
	argv    []string
	timeout time.Duration
}

// send implements sender.
func (c *command) send(ctx context.Context, p opinion.Prompt, canary string) ([]byte, error) {
	in, err := p.Input()
	if err != nil {
		return nil, ErrQuestion
	}
	own, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &capped{full: cancel}
	cmd := exec.CommandContext(own, c.argv[0], c.argv[1:]...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(in), out
	cmd.Env = []string{}
	cmd.Dir = filepath.Dir(c.argv[0])
	cmd.WaitDelay = time.Second // for whoever it started and that holds its output
	group(cmd)
	err = cmd.Run()
	endGroup(cmd)
	switch {
	case out.over:
		return nil, ErrTooLarge
	case ctx.Err() != nil:
		return nil, ErrTimeout
	case err != nil:
		return nil, ErrCommand
	}
	return opinion.Direct(canary, out.b), nil
}

// capped takes as much as a reply holds; more ends the command.
type capped struct {
	b    []byte
	over bool
	full func()
}

func (c *capped) Write(b []byte) (int, error) {
	if len(c.b)+len(b) > maxBody {
		c.over = true
		c.full()
		return 0, ErrTooLarge
	}
	c.b = append(c.b, b...)
	return len(b), nil
}
