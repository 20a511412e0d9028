package warden

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// errTime says that a child was killed because it took too long.
var errTime = errors.New("it took too long")

// A cell is a child as its parent sees it. One batch at a time is in it.
type cell struct {
	cmd  *exec.Cmd
	in   *os.File // of the child: written to
	out  *os.File // of the child: read from
	read *bufio.Reader
	gone chan struct{} // closed when the process has ended; how is set then
	how  error

	claim   claim         // what it is out for; the pool's
	buf     []byte        // the frame that is written
	number  uint32        // of the last order
	busy    time.Duration // all in all
	expired atomic.Bool   // killed for its time
}

// A child is replaced after so much work, so that nothing that a text did to it
// lasts; its processor time is limited to far more.
const (
	batchesOfCell = 1 << 16
	busyOfCell    = 5 * time.Minute
	cpuOfCell     = 30 * time.Minute
	keptBuffer    = 2 << 20
)

func (c *cell) spent() bool { return c.number >= batchesOfCell || c.busy >= busyOfCell }

// ended tells whether the process is no more.
func (c *cell) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

func (c *cell) kill() { c.cmd.Process.Kill() } // an error says that it has ended

// end kills the process, waits until it is gone and says how it went.
func (c *cell) end() error {
	c.kill()
	<-c.gone
	c.in.Close()
	c.out.Close()
	return c.how
}

// watch reaps the process.
func (c *cell) watch() {
	c.how = c.cmd.Wait()
	close(c.gone)
}

// A budget is the time that a child has; it is killed at its end.
type budget struct {
	c     *cell
	left  time.Duration
	since time.Time
	timer *time.Timer
}

// run lets the time of the budget pass.
func (b *budget) run() {
	b.since = time.Now()
	b.timer = time.AfterFunc(b.left, func() {
		b.c.expired.Store(true)
		b.c.kill()
	})
}

// pause holds it.
func (b *budget) pause() {
	b.timer.Stop()
	took := time.Since(b.since)
	b.left -= took
	b.c.busy += took
}

// exchange has a batch judged within a limit, to which the time that ask takes
// does not count; ask is nil where nothing may be asked. After an error the child
// is of no use.
func (c *cell) exchange(b *quarantine.Batch, ask func(question string) []byte, limit time.Duration) (r quarantine.Report, err error) {
	time := budget{c: c, left: limit}
	time.run()
	defer func() {
		if time.pause(); c.expired.Load() {
			err = errTime
		}
	}()
	c.number++
	f, err := wire.AppendOrder(c.buf, wire.Order{Number: c.number, Opinion: ask != nil, Batch: *b})
	if err != nil {
		return r, err
	}
	for questions := 0; ; questions++ {
		if err := c.write(f); err != nil {
			return r, err
		}
		kind, body, err := wire.Read(c.read, wire.KindReport, wire.KindQuestion)
		switch {
		case err != nil:
			return r, err
		case c.read.Buffered() > 0: // it speaks unasked
			return r, errGarbage
		case kind == wire.KindReport:
			number, r, err := wire.ParseReport(body)
			if number != c.number {
				return r, errGarbage
			}
			return r, err
		case ask == nil || questions == opinion.MaxRequests || len(body) > opinion.MaxQuestion:
			return r, errGarbage
		}
		time.pause()
		reply := ask(body)
		time.run()
		if f, err = wire.Bytes(c.buf, wire.KindReply, reply); err != nil {
			return r, err
		}
	}
}

func (c *cell) write(f []byte) error {
	if c.buf = f; cap(f) > keptBuffer {
		c.buf = nil
	}
	_, err := c.in.Write(f)
	return err
}
