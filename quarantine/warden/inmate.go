package warden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/jail"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// childName is the name under which this program is a child; it is what lists of
// processes show.
const childName = "pratique-inspector"

// Exit codes of a child.
const (
	exitEnd      = 0 // its input ended
	exitSettings = 2 // called by somebody else
	exitUnlocked = 3 // a fence is missing that must be there
	exitFrame    = 4 // what it read is not of its parent
)

// outsideHeap is what the runtime takes of a child's memory besides the heap.
const outsideHeap = 128 << 20

var hooked atomic.Bool

// Hook is the first thing that main calls, and TestMain of tests that use a warden.
// In a process that was started as a child it never returns: the process confines
// itself, judges what it reads until its input ends, and exits. New refuses to
// work in a program that did not call it.
func Hook() {
	hooked.Store(true)
	if len(os.Args) == 0 || os.Args[0] != childName {
		return
	}
	set, err := parseSettings(os.Args)
	if err != nil {
		os.Exit(exitSettings)
	}
	os.Exit(child(set, os.Stdin, os.Stdout))
}

// settings are what a child is told on its command line.
type settings struct {
	mode    Mode
	memory  int64
	asks    bool // there is a language model
	opinion opinion.Config
}

func (s settings) argv() []string {
	return []string{childName, string(s.mode), fmt.Sprint(s.memory), strconv.FormatBool(s.asks),
		strconv.Itoa(s.opinion.Window), strconv.Itoa(s.opinion.Overlap), strconv.Itoa(s.opinion.Requests)}
}

var errSettings = errors.New("not the command line of a child")

func parseSettings(argv []string) (s settings, err error) {
	if len(argv) != 7 {
		return s, errSettings
	}
	number := func(text string) int {
		n, e := strconv.ParseInt(text, 10, 64)
		if e != nil || n < 0 {
			err = errSettings
		}
		return int(n)
	}
	s.mode, s.memory, s.asks = Mode(argv[1]), int64(number(argv[2])), argv[3] == "true"
	s.opinion = opinion.Config{Window: number(argv[4]), Overlap: number(argv[5]), Requests: number(argv[6])}
	if s.mode != Required && s.mode != BestEffort {
		err = errSettings
	}
	return s, err
}

// child is the whole life of a child.
func child(set settings, in io.Reader, out io.Writer) int {
	// Who stops a service tells its whole group; when we end is for the parent to say.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(set.memory - outsideHeap) // collect before the limit is met, which kills
	level, err := jail.Lock(jail.Bounds{Memory: uint64(set.memory), CPU: uint64(cpuOfCell.Seconds())})
	if err != nil && set.mode == Required {
		return exitUnlocked
	}
	c := &inmate{out: out, orders: make(chan wire.Order, 1), replies: make(chan string, 1)}
	c.engines = newEngines(c.ask, set.opinion, set.asks)
	hello := wire.Hello{Landlock: level.Landlock, Seccomp: level.Seccomp, Limits: level.Limits, Engine: c.engines.plain.Engine()}
	f, err := wire.AppendHello(nil, hello)
	if err == nil {
		_, err = out.Write(f)
	}
	if err != nil {
		return exitFrame
	}
	go c.work()
	return c.listen(in)
}

// An inmate is a child as it sees itself.
type inmate struct {
	out     io.Writer
	engines *engines
	orders  chan wire.Order
	replies chan string
	buf     []byte
}

// listen reads what the parent says. It reads while a batch is judged, so that
// the process ends with the parent's end of the pipe, whatever it is doing.
func (c *inmate) listen(in io.Reader) int {
	for {
		kind, body, err := wire.Read(in, wire.KindBatch, wire.KindReply)
		if err == io.EOF {
			return exitEnd
		}
		if err != nil {
			return exitFrame
		}
		if kind == wire.KindReply {
			select {
			case c.replies <- body:
				runtime.Gosched()
				continue
			default:
				return exitFrame
			}
		}
		o, err := wire.ParseOrder(body)
		if err != nil {
			return exitFrame
		}
		select {
		case c.orders <- o:
			runtime.Gosched() // to work, before a read keeps our one processor for a while
		default:
			return exitFrame
		}
	}
}

// work judges one batch after the other.
func (c *inmate) work() {
	for o := range c.orders {
		r := c.engines.inspect(context.Background(), o.Batch, o.Opinion)
		f, err := wire.AppendReport(c.buf, o.Number, r)
		if err != nil { // a report that cannot be said
			f, err = wire.AppendReport(c.buf, o.Number, failed(&o.Batch, quarantine.Late))
		}
		if err == nil {
			err = c.write(f)
		}
		if err != nil {
			return // the parent is gone, and listen says so
		}
	}
}

func (c *inmate) write(f []byte) error {
	c.buf = f
	_, err := c.out.Write(f)
	return err
}

// ask is how the engine here asks a language model: the parent does.
func (c *inmate) ask(_ context.Context, question []byte) ([]byte, error) {
	f, err := wire.Bytes(c.buf, wire.KindQuestion, question)
	if err != nil {
		return nil, err
	}
	if err := c.write(f); err != nil {
		return nil, err
	}
	reply := <-c.replies
	if reply == "" || reply[0] != answered {
		return nil, errRefused
	}
	return []byte(reply[1:]), nil
}
