package mcptest

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// A command changes or moves a running server. In a stdio upstream it travels as a
// line of JSON over a loopback connection, and an acknowledgement comes back once
// it was carried out.
type command struct {
	Seq    int           `json:",omitzero"`
	State  *state        `json:",omitzero"`
	Notify *Notification `json:",omitzero"`
	Ask    *Question     `json:",omitzero"`
	Raw    []byte        `json:",omitzero"` // stdio: bytes for standard output
	Exit   bool          `json:",omitzero"`
}

// command carries one out.
func (s *server) command(c command) {
	if c.State != nil {
		s.set(*c.State)
	}
	if c.Notify != nil {
		s.notify(*c.Notify)
	}
	if c.Ask != nil {
		s.ask(*c.Ask)
	}
	if c.Exit {
		s.end()
	}
}

// A link is the connection between a test and a process, at either end.
type link struct {
	conn net.Conn
	br   *bufio.Reader
	mu   sync.Mutex // of writes
}

func newLink(conn net.Conn) *link { return &link{conn: conn, br: bufio.NewReader(conn)} }

func (l *link) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.conn.Write(append(b, '\n'))
	return err
}

func (l *link) read(v any) error {
	line, err := l.br.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// report is what a process tells the test: that it carried out a command, or that
// it received a frame (zero).
type report struct {
	Done  int    `json:",omitzero"`
	Token string `json:",omitzero"` // the first one only
}

// dialControl is the process's end. The address is HOST:PORT/TOKEN.
func dialControl(address string) (*link, state, error) {
	host, token, _ := strings.Cut(address, "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, state{}, err
	}
	l := newLink(conn)
	var first command
	if err := l.write(report{Token: token}); err != nil {
		return nil, state{}, err
	}
	if err := l.read(&first); err != nil || first.State == nil {
		return nil, state{}, errors.Join(err, errors.New("no state came"))
	}
	return l, *first.State, nil
}

func (l *link) tell() { _ = l.write(report{}) } // a test that is over wants no news

// serve carries out commands until the connection ends.
func (l *link) serve(f func(command)) {
	for {
		var c command
		if l.read(&c) != nil {
			return
		}
		f(c)
		if l.write(report{Done: c.Seq}) != nil {
			return
		}
	}
}

// A hub is the test's end: one link for each living process.
type hub struct {
	ln    net.Listener
	token string
	told  func()
	one   sync.Mutex // one command at a time

	mu    sync.Mutex // holds what follows
	st    state
	links map[*link]chan int // the newest command that was carried out
	seq   int
	moved chan struct{} // closed and made anew when a link comes or goes
	wg    sync.WaitGroup
}

func newHub(token string, st state, told func()) (*hub, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &hub{ln: ln, token: token, told: told, st: st, links: map[*link]chan int{}, moved: make(chan struct{})}
	h.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			h.wg.Go(func() { h.attend(newLink(conn)) })
		}
	})
	return h, nil
}

func (h *hub) address() string { return h.ln.Addr().String() + "/" + h.token }

// attend is one process's life.
func (h *hub) attend(l *link) {
	defer l.conn.Close()
	var first report
	if l.read(&first) != nil || first.Token != h.token {
		return
	}
	acks := make(chan int, 64)
	h.mu.Lock()
	st := h.st
	h.links[l] = acks
	err := l.write(command{State: &st})
	h.move()
	h.mu.Unlock()
	for err == nil {
		var r report
		if err = l.read(&r); err == nil && r.Done > 0 {
			acks <- r.Done
		} else if err == nil {
			h.told()
		}
	}
	h.mu.Lock()
	delete(h.links, l)
	close(acks)
	h.move()
	h.mu.Unlock()
}

// move says that a link came or went. The caller holds mu.
func (h *hub) move() {
	close(h.moved)
	h.moved = make(chan struct{})
}

// command has all processes carry one out, and waits until each did or is gone.
func (h *hub) command(c command) {
	h.one.Lock()
	defer h.one.Unlock()
	h.mu.Lock()
	h.seq++
	c.Seq = h.seq
	if c.State != nil {
		h.st = *c.State
	}
	var wait []chan int
	for l, acks := range h.links {
		if l.write(c) == nil {
			wait = append(wait, acks)
		}
	}
	h.mu.Unlock()
	for _, acks := range wait {
		for done := range acks {
			if done >= c.Seq {
				break
			}
		}
	}
}

func (h *hub) living() (int, chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.links), h.moved
}

func (h *hub) close() {
	_ = h.ln.Close()
	h.mu.Lock()
	for l := range h.links {
		_ = l.conn.Close()
	}
	h.mu.Unlock()
	h.wg.Wait()
}
