package upstream

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A pipe is one process and the two streams to it.
type pipe struct {
	l      *processLink
	child  *child
	q      *queue
	out    chan outgoing
	ctx    context.Context // ends when the pipe is of no use any more; its cause says why
	cancel context.CancelCauseFunc
	heard  chan struct{} // closed when all that it said was taken
	done   chan struct{} // closed when nothing of it runs any more
}

// outgoing is a frame to write; one of a call that was dropped meanwhile is not.
type outgoing struct {
	line []byte
	c    *call
}

func newPipe(l *processLink, ch *child) *pipe {
	pp := &pipe{l: l, child: ch, out: make(chan outgoing, l.b.Open+l.b.Questions+64), heard: make(chan struct{}), done: make(chan struct{})}
	pp.ctx, pp.cancel = context.WithCancelCause(l.ctx)
	pp.q = newQueue(l.b.Queue, l.b.Frame, pp.take, func(f mcp.Frame) {
		if f.Shape == mcp.Request {
			l.n.questions.Add(1)
		} else {
			l.n.dropped.Add(1)
		}
	})
	var reading, rest sync.WaitGroup
	reading.Go(pp.read)
	rest.Go(func() {
		pp.q.run()
		close(pp.heard)
	})
	rest.Go(pp.write)
	rest.Go(func() { ch.errors(l.p.heard) })
	rest.Go(func() { // the process ended, or has to
		select {
		case <-ch.exited:
		case <-pp.ctx.Done():
			ch.stop(l.b.Grace, l.b.Kill)
		}
		// What it wrote before it ended is still read, but whoever inherited its
		// streams does not keep them open for us.
		t := time.AfterFunc(time.Second, ch.hangUp)
		reading.Wait()
		if t.Stop() {
			ch.hangUp()
		}
	})
	go func() {
		rest.Wait()
		close(pp.done)
	}()
	return pp
}

// close ends the process and waits until it has.
func (pp *pipe) close(why error) {
	pp.cancel(why)
	<-pp.done
}

// read takes what the process writes, line by line, to its end.
func (pp *pipe) read() {
	defer pp.q.close()
	m := &meter{r: pp.child.stdout, budget: &pp.l.p.budget}
	defer m.next()
	lines := mcp.NewLineReader(m, pp.l.decode())
	for {
		line, err := lines.Read()
		m.next()
		if err != nil {
			if errors.Is(err, ErrTooLarge) {
				pp.l.n.tooLarge.Add(1) // the process goes: its stream has lost its place
			}
			pp.cancel(ErrLost)
			return
		}
		switch line.Kind {
		case mcp.Text:
			pp.frames(line.Data)
		case mcp.Long:
			pp.l.n.tooLarge.Add(1)
			if s := line.Seen; s != nil && s.ID != "" && s.Shape != mcp.Request {
				pp.q.push(item{id: s.ID, err: ErrTooLarge})
			}
		default:
			pp.l.n.noise.Add(1)
		}
	}
}

// frames takes one line.
func (pp *pipe) frames(line []byte) {
	var frames []mcp.Frame
	var err error
	if pp.l.batches() {
		frames, _, err = mcp.Parse(line, pp.l.decode())
	} else {
		var f mcp.Frame
		f, err = mcp.ParseOne(line, pp.l.decode())
		frames = []mcp.Frame{f}
	}
	if err != nil {
		pp.l.n.malformed.Add(1)
		var fe *mcp.FrameError
		if !errors.As(err, &fe) || fe.ID == "" {
			return
		}
		if fe.Shape == mcp.Request {
			pp.say(fe.Answer())
		} else {
			pp.q.push(item{id: fe.ID, err: both(ErrProtocol, fe.Err)})
		}
		return
	}
	for _, f := range frames {
		switch {
		case f.Shape != mcp.NoFrame:
			pp.q.push(item{f: f, id: f.ID, size: len(f.Params)})
		case f.ID != "":
			pp.l.n.malformed.Add(1)
			pp.q.push(item{id: f.ID, err: ErrProtocol})
		default:
			pp.l.n.malformed.Add(1)
		}
	}
}

// take does with a frame what is to be done with it.
func (pp *pipe) take(i item) {
	switch {
	case i.answers():
		pp.l.settle(i.id, pp, outcome{f: i.f, err: i.err})
	case i.f.Shape == mcp.Request:
		pp.l.question(pp.ctx, i.f, pp.l.only(pp), pp.say)
	default:
		pp.l.notified(i.f, pp)
	}
}

// write hands frames to the process. One that does not read them is of no use.
func (pp *pipe) write() {
	late := time.AfterFunc(time.Hour, func() { pp.cancel(both(ErrLost, ErrTimeout)) })
	late.Stop()
	defer late.Stop()
	for {
		select {
		case o := <-pp.out:
			if o.c != nil && !o.c.state.CompareAndSwap(waiting, sent) {
				continue
			}
			late.Reset(pp.l.b.Write)
			_, err := pp.child.stdin.Write(o.line)
			late.Stop()
			if err != nil {
				if !errors.Is(err, os.ErrClosed) {
					// What the process wrote before it went is read to its end first: that
					// ends the pipe. This is for a process that closed its stdin and stays.
					late.Reset(time.Second)
					<-pp.ctx.Done()
				}
				return
			}
		case <-pp.ctx.Done():
			return
		}
	}
}

// say sends what nobody waits for.
func (pp *pipe) say(f mcp.Frame) {
	select {
	case pp.out <- outgoing{line: append(f.Bytes(), '\n')}:
	default:
		pp.l.n.dropped.Add(1)
	}
}

// ask sends a request and waits for its answer.
func (pp *pipe) ask(c *call, f mcp.Frame) (mcp.Frame, error) {
	defer pp.l.finish(c)
	select {
	case pp.out <- outgoing{line: append(c.frame(f).Bytes(), '\n'), c: c}:
	case <-c.ctx.Done():
		return mcp.Frame{}, both(c.ended(), ErrUnsent)
	case <-pp.ctx.Done():
		return mcp.Frame{}, both(ErrLost, ErrUnsent)
	}
	select {
	case o := <-c.done:
		return c.answer(o)
	case <-c.ctx.Done():
	}
	select { // an answer that was there first
	case o := <-c.done:
		return c.answer(o)
	default:
	}
	err := c.ended()
	if c.state.CompareAndSwap(waiting, dropped) {
		return mcp.Frame{}, both(err, ErrUnsent)
	}
	if f.Method != "initialize" { // which must not be cancelled
		pp.say(cancellation(c))
	}
	return mcp.Frame{}, err
}
