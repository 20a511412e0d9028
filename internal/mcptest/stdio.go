package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// mainWord is the first argument of a process that is a stdio upstream.
const mainWord = "mcptest-upstream"

// Main is the stdio upstream, if this process was started to be one
// (Upstream.Command); else it returns. It is the first thing that a TestMain
// calls, before flags are parsed.
func Main() {
	if len(os.Args) != 4 || os.Args[1] != mainWord {
		return
	}
	exit(child(os.Args[2], os.Args[3]))
}

// exit ends the process at once: os.Exit waits for a second where the race
// detector is on.
func exit(code int) { syscall.Exit(code) }

// child serves standard input until it ends, or the test does.
func child(address, log string) int {
	link, st, err := dialControl(address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcptest:", err)
		return 3
	}
	rec, err := newRecorder(log, link.tell)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcptest:", err)
		return 3
	}
	s := newServer(rec, st, func() { exit(1) })
	out := &lineOut{w: os.Stdout}
	if n := st.Script.Noise; n != "" {
		out.send([]byte(n))
	}
	if n := st.Script.Stderr; n != "" {
		fmt.Fprintln(os.Stderr, n)
	}
	go func() {
		link.serve(func(c command) {
			if c.Raw != nil {
				out.send(c.Raw)
				return
			}
			s.command(c)
		})
		exit(0) // the test is over
	}()
	s.serveLines(os.Stdin, out.send)
	return 0
}

// lineOut writes frames as lines.
type lineOut struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *lineOut) send(frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// The frame is nobody else's, and may be large. If whoever read is gone, standard
	// input ends as well.
	_, _ = o.w.Write(append(frame, '\n'))
}

// serveLines is one client on a pair of pipes.
func (s *server) serveLines(in io.Reader, send func([]byte)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := s.join(send)
	defer s.leave(p)
	br := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := br.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.rec.add(line)
			m := Decode(line)
			if m.Batch == nil {
				p.take(ctx, m, send, nil, nil)
			} else {
				p.takeBatch(ctx, m, send)
			}
		}
		if err != nil {
			return
		}
	}
}

// takeBatch handles an array as revision 2025-03-26 wants it: one array of
// answers. What is sent in between goes out at once.
func (p *peer) takeBatch(ctx context.Context, m Message, send func([]byte)) {
	var mu sync.Mutex
	var answers []JSON
	var wg sync.WaitGroup
	collect := func(frame []byte) {
		if d := Decode(frame); d.Method != "" || d.Result == nil && d.Error == nil {
			send(frame)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		answers = append(answers, frame)
	}
	for _, one := range m.Batch {
		wg.Add(1)
		p.take(ctx, one, collect, nil, wg.Done)
	}
	go func() {
		wg.Wait()
		if len(answers) > 0 {
			send(array(answers))
		}
	}()
}
