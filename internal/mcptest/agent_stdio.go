package mcptest

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// lines is the stdio transport, on a process or on pipes.
type lines struct {
	mu  sync.Mutex // of writes
	in  io.WriteCloser
	cmd *exec.Cmd // nil: pipes
	end chan struct{}
	err *Tail
}

// StartStdio starts a server process and is its client. It is ended with the
// test.
func StartStdio(t testing.TB, revision string, argv ...string) *Agent {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l := &lines{in: in, cmd: cmd, err: &Tail{}}
	cmd.Stderr = l.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return l.agent(t, revision, out)
}

// Pipes is the client of a server in this process: it reads from out and writes to
// in. Close closes in.
func Pipes(t testing.TB, revision string, in io.WriteCloser, out io.Reader) *Agent {
	t.Helper()
	return (&lines{in: in, err: &Tail{}}).agent(t, revision, out)
}

func (l *lines) agent(t testing.TB, revision string, out io.Reader) *Agent {
	a := newAgent(t, revision)
	a.wire, l.end = l, make(chan struct{})
	go func() {
		defer close(l.end)
		br := bufio.NewReaderSize(out, 64<<10)
		for {
			line, err := br.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				a.took(Decode(line))
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(a.Close)
	return a
}

func (l *lines) send(raw []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.in.Write(append(bytes.Clone(raw), '\n'))
	return err
}

func (l *lines) started(*Agent) {}

// close closes standard input, gives the process time to go, and then kills it.
func (l *lines) close() {
	_ = l.in.Close()
	if l.cmd == nil || l.cmd.ProcessState != nil {
		return
	}
	late := time.AfterFunc(patience, func() { _ = l.cmd.Process.Kill() })
	defer late.Stop()
	<-l.end // Wait closes the pipe: first let everything be read
	_ = l.cmd.Wait()
}

// Stderr is the end of what a started process wrote to standard error.
func (a *Agent) Stderr() string {
	if l, ok := a.wire.(*lines); ok {
		return l.err.String()
	}
	return ""
}

// WaitStderr waits until a started process has written a text to standard error: that
// comes on its own way, and may be later than an answer that was sent after it.
func (a *Agent) WaitStderr(text string) {
	a.t.Helper()
	l, ok := a.wire.(*lines)
	if !ok {
		a.t.Fatal("the agent's server is no process")
	}
	l.err.Wait(a.t, text)
}

// Pid is the process id of a started process; 0 if there is none.
func (a *Agent) Pid() int {
	if l, ok := a.wire.(*lines); ok && l.cmd != nil {
		return l.cmd.Process.Pid
	}
	return 0
}

// A Tail keeps the last 64 KiB of what was written to it.
type Tail struct {
	mu   sync.Mutex
	buf  []byte
	news chan struct{} // closed with the next write; nil: nobody waits
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - 64<<10; n > 0 {
		t.buf = append([]byte(nil), t.buf[n:]...)
	}
	if t.news != nil {
		close(t.news)
		t.news = nil
	}
	return len(p), nil
}

// Wait waits until a text stands in what was kept.
func (t *Tail) Wait(tb testing.TB, text string) {
	tb.Helper()
	late := time.After(patience)
	for {
		t.mu.Lock()
		found := bytes.Contains(t.buf, []byte(text))
		if t.news == nil {
			t.news = make(chan struct{})
		}
		news := t.news
		t.mu.Unlock()
		if found {
			return
		}
		select {
		case <-news:
		case <-late:
			tb.Fatalf("%q was not written: %s", text, t)
		}
	}
}

// String is what was kept.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
