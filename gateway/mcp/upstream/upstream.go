// Package upstream connects to MCP servers: processes on stdio and streamable
// HTTP endpoints, in both protocol eras. It implements gateway.Upstream and
// gateway.Link.
//
// It decides nothing. It carries the bytes that a pass was made for, maps ids,
// attributes what comes back, and bounds what a server can cost: time, memory,
// queues, restarts. Its errors are the sentinels below; none repeats what a
// server said, or what was sent to it.
//
// What it cannot bound: a process that leaves its process group (a daemon) is
// not found again when the link closes.
package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/gateway"
)

// Errors of links. A call that ends with one of them may have been executed,
// unless the error is also ErrUnsent.
var (
	ErrUnsent   = gateway.ErrUnsent // beside another one: nothing of the request was sent
	ErrLost     = gateway.ErrLost
	ErrTimeout  = gateway.ErrTimeout
	ErrTooLarge = gateway.ErrTooLarge
	ErrBusy     = gateway.ErrUpstreamBusy
	ErrProtocol = gateway.ErrBadAnswer
	ErrClosed   = errors.New("upstream: the link is closed")
	ErrRefused  = fmt.Errorf("upstream: the request was refused by HTTP status: %w", gateway.ErrBadAnswer) // StatusError says which
	ErrEra      = fmt.Errorf("upstream: the server does not speak a revision of this era: %w", gateway.ErrEra)
	ErrStart    = fmt.Errorf("upstream: the process cannot be started: %w", gateway.ErrUnreachable)
	ErrMethod   = errors.New("upstream: not a method to ask for in this way")
	ErrOptions  = errors.New("upstream: name, command, environment, URL or header is not usable")
)

// A StatusError is an HTTP status that refuses a request. It is ErrRefused.
type StatusError struct {
	Status int
}

// Error names the status, not what the server wrote beside it.
func (e *StatusError) Error() string {
	return fmt.Sprintf("upstream: the request was refused with HTTP status %d (%s)", e.Status, http.StatusText(e.Status))
}

// Unwrap is ErrRefused.
func (e *StatusError) Unwrap() error { return ErrRefused }

// both is two errors in one: what happened, and what that means for the call.
func both(err, means error) error { return fmt.Errorf("%w (%w)", err, means) }

// Bounds are what a server can cost. A zero member is the default.
type Bounds struct {
	Frame         int           // bytes of one frame of the server; 32 MiB
	Buffers       int64         // bytes of frames being read at one time, of all links; 256 MiB
	Open          int           // open exchanges of one link; 256
	Questions     int           // questions of the server open at once in one link; 32
	Queue         int           // notifications of one link waiting to be taken; 256
	Notifications int           // in one exchange, on HTTP; 10,000
	Start         time.Duration // from starting or dialling to the end of the handshake; 60 s
	Call          time.Duration // until the answer, or from one progress to the next; 120 s
	Longest       time.Duration // until the answer, whatever progress says; 10 min
	List          time.Duration // until one page of a list; 30 s
	Write         time.Duration // until the server has read one frame; 30 s
	Grace         time.Duration // from closing stdin to SIGTERM; 2 s
	Kill          time.Duration // from closing stdin to SIGKILL; 5 s
	Restarts      int           // of a process in a minute; 5
	Backoff       time.Duration // before the first restart or reconnection, doubling; 100 ms
}

func (b *Bounds) defaults() {
	number := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	duration := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	number(&b.Frame, 32<<20)
	number(&b.Open, 256)
	number(&b.Questions, 32)
	number(&b.Queue, 256)
	number(&b.Notifications, 10_000)
	number(&b.Restarts, 5)
	if b.Buffers <= 0 {
		b.Buffers = 256 << 20
	}
	duration(&b.Start, time.Minute)
	duration(&b.Call, 2*time.Minute)
	duration(&b.Longest, 10*time.Minute)
	duration(&b.List, 30*time.Second)
	duration(&b.Write, 30*time.Second)
	duration(&b.Grace, 2*time.Second)
	duration(&b.Kill, 5*time.Second)
	duration(&b.Backoff, 100*time.Millisecond)
}

// Stats count what was dropped or went wrong, over all links of an upstream.
type Stats struct {
	Noise     uint64 // lines or events that are no JSON-RPC
	Malformed uint64 // frames that the strict decode refused
	Orphans   uint64 // answers with an id that is not open, or was answered before
	Dropped   uint64 // notifications beyond a bound, or for nobody
	Questions uint64 // questions beyond the bound, or in an era that has none
	TooLarge  uint64
	Lost      uint64 // connections that broke
	Starts    uint64 // processes or sessions that were begun
	Stderr    uint64 // lines written to standard error
}

// counters are Stats under way.
type counters struct {
	noise, malformed, orphans, dropped, questions, tooLarge, lost, starts, stderr atomic.Uint64
}

func (c *counters) stats() Stats {
	return Stats{
		Noise: c.noise.Load(), Malformed: c.malformed.Load(), Orphans: c.orphans.Load(), Dropped: c.dropped.Load(),
		Questions: c.questions.Load(), TooLarge: c.tooLarge.Load(), Lost: c.lost.Load(), Starts: c.starts.Load(), Stderr: c.stderr.Load(),
	}
}
