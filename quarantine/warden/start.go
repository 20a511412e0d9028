package warden

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/pratique-dev/pratique/quarantine/warden/internal/jail"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// startLimit is how long a child may take until it says that it is locked up.
const startLimit = 20 * time.Second

// errStart says that no child could be started.
var errStart = errors.New("warden: no child can be started")

// A starter starts children, from one thread that lives as long as it does: a
// child is killed when the thread that started it ends, and with it our process.
type starter struct {
	argv   []string
	mode   Mode
	engine string // what a child must have
	starts chan func()
	ctx    context.Context // done: children that are being started end
	cancel context.CancelFunc
}

func newStarter(o *Options, engine string) *starter {
	argv := o.argv
	if argv == nil {
		argv = settings{mode: o.Mode, memory: o.Memory, asks: o.Broker != nil, opinion: o.Opinion}.argv()
	}
	s := &starter{argv: argv, mode: o.Mode, engine: engine, starts: make(chan func())}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		for f := range s.starts {
			f()
		}
	}()
	return s
}

// close ends the thread, when no start is under way any more.
func (s *starter) close() { close(s.starts) }

// start starts a child and waits until it is locked up.
func (s *starter) start() (*cell, jail.Level, error) {
	c, err := s.process()
	if err != nil {
		return nil, jail.Level{}, fmt.Errorf("%w: %v", errStart, err)
	}
	go c.watch()
	defer context.AfterFunc(s.ctx, c.kill)()
	first := budget{c: c, left: startLimit}
	first.run()
	h, err := c.hello()
	first.pause()
	level := jail.Level{Landlock: h.Landlock, Seccomp: h.Seccomp, Limits: h.Limits}
	switch {
	case err == nil && h.Engine != s.engine:
		err = errors.New("it is another version of this program")
	case err == nil && s.mode == Required && !level.Whole():
		err = ErrSandbox
	}
	if err == nil {
		return c, level, nil
	}
	how := c.end()
	if c.expired.Load() {
		err = errTime
	}
	if c.cmd.ProcessState.ExitCode() == exitUnlocked {
		err = ErrSandbox
	}
	return nil, level, fmt.Errorf("%w: %w (%v)", errStart, err, how)
}

func (c *cell) hello() (wire.Hello, error) {
	_, body, err := wire.Read(c.read, wire.KindHello)
	if err != nil {
		return wire.Hello{}, err
	}
	return wire.ParseHello(body)
}

// process starts the process: no environment, two pipes, nothing else of ours.
func (s *starter) process() (*cell, error) {
	in, toIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, toOut, err := os.Pipe()
	if err != nil {
		toIn.Close()
		return nil, err
	}
	defer toOut.Close()
	cmd := &exec.Cmd{Path: executable(), Args: s.argv, Env: []string{}, Stdin: in, Stdout: toOut, SysProcAttr: attributes()}
	if err := s.begin(cmd); err != nil {
		toIn.Close()
		out.Close()
		return nil, err
	}
	return &cell{cmd: cmd, in: toIn, out: out, read: bufio.NewReader(out), gone: make(chan struct{})}, nil
}

// begin starts the command on the starter's thread.
func (s *starter) begin(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	s.starts <- func() { started <- cmd.Start() }
	return <-started
}
