package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// Bounds of the stream of label changes.
const (
	// StreamSilence is how long a stream may say nothing, not even a comment,
	// before it is taken for dead and opened anew.
	StreamSilence = 45 * time.Second

	maxLine     = 64 << 10 // of one line, in bytes
	maxEvent    = 1 << 20  // of the data of one event
	firstReopen = time.Second
	lastReopen  = time.Minute
)

// errStream is why a stream ended that should have gone on.
var errStream = errors.New("label stream ended")

// Follow follows the registry's stream of label changes until ctx ends, whose
// error it returns; it opens the stream anew, from where it broke off, as often
// as that happens. For each change the labels of the tool that are older are
// dropped and refused, and then f is called (nil: not), on this goroutine.
//
// The stream is not signed, so it is believed downwards only: it can take labels
// away, never give one. What happened while nobody followed is in the list of
// lowered labels, which is signed for.
func (l *Labels) Follow(ctx context.Context, f func(registry.LabelChange)) error {
	if f == nil {
		f = func(registry.LabelChange) {}
	}
	for try := 1; ; try++ {
		got, err := l.follow(ctx, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if got {
			try = 1
		}
		if e, ok := errors.AsType[*Error](err); ok {
			switch e.Status {
			case http.StatusNotFound: // this registry has no stream
				return err
			case http.StatusBadRequest: // it does not know our place in its log
				l.restart(0)
			}
		}
		if err := pause(ctx, l.keys.backoff(try, firstReopen, lastReopen)); err != nil {
			return err
		}
	}
}

// follow reads one connection to its end; got says that something came.
func (l *Labels) follow(ctx context.Context, f func(registry.LabelChange)) (got bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := l.keys.conn
	h := http.Header{"Cache-Control": {"no-cache"}}
	l.mu.Lock()
	if l.last != 0 {
		h.Set("Last-Event-Id", strconv.FormatUint(l.last, 10))
	}
	l.mu.Unlock()
	req, err := c.request(ctx, call{method: http.MethodGet, path: "/v1/labels/stream", header: h, accept: "text/event-stream"})
	if err != nil {
		return false, err
	}
	watch := newWatchdog(StreamSilence, cancel)
	defer watch.stop()
	resp, err := c.rt.RoundTrip(req)
	if err != nil {
		return false, unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if err := judge(resp, "text/event-stream"); err != nil {
		return false, err
	}
	err = readEvents(io.TeeReader(resp.Body, watch), func(e event) error {
		got = true
		return l.apply(e, f)
	})
	return got, err
}

// An event is one of the stream.
type event struct {
	kind string
	id   string
	data []byte
}

// apply carries out one event. One that cannot be read breaks the stream off:
// it could have taken a label away.
func (l *Labels) apply(e event, f func(registry.LabelChange)) error {
	id, err := strconv.ParseUint(e.id, 10, 64)
	if e.id != "" && err != nil {
		return fmt.Errorf("%w: id is not a number", ErrAnswer)
	}
	switch e.kind {
	case "reset": // the server cannot go on from where we were
		l.restart(id)
		return nil
	case "", "message", "label":
	default:
		return nil // of a later version
	}
	var c registry.LabelChange
	if err := decode(e.data, &c); err != nil {
		return err
	}
	if _, err := credentials.ParseToolID(string(c.Tool)); err != nil || c.Seq > credentials.MaxInt {
		return fmt.Errorf("%w: not a label change", ErrAnswer)
	}
	l.drop(c.Tool, c.Seq, id)
	f(c)
	return nil
}

// restart begins the stream anew at id (0: at what is newest). What was missed
// is not known, so every label is asked for again.
func (l *Labels) restart(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held.clear()
	l.last = id
}

// drop has the tool's labels below seq refused and the next Label ask anew.
func (l *Labels) drop(tool credentials.ToolID, seq, id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, _ := l.fell.get(tool); seq > old {
		l.fell.put(tool, seq)
	}
	l.held.set(tool, func(heldLabel) heldLabel { return heldLabel{} })
	l.last = max(l.last, id)
}

// readEvents reads server-sent events (HTML standard, section 9.2.6), bounded.
func readEvents(r io.Reader, f func(event) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4<<10), maxLine)
	s.Split(scanLine)
	var e event
	var lastID string
	for s.Scan() {
		line := s.Bytes()
		if len(line) == 0 {
			if len(e.data) > 0 || e.kind == "reset" {
				e.id = lastID
				if err := f(e); err != nil {
					return err
				}
			}
			e = event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if len(e.data)+len(value) > maxEvent {
				return fmt.Errorf("%w: an event longer than %d bytes", ErrAnswer, maxEvent)
			}
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
		case "event":
			e.kind = string(value)
		case "id":
			if !bytes.ContainsRune(value, 0) {
				lastID = string(value)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%w: %w", errStream, err)
	}
	return errStream
}

// scanLine splits at LF, CRLF or CR... of which servers of ours send the first.
func scanLine(data []byte, atEOF bool) (int, []byte, error) {
	adv, tok, err := bufio.ScanLines(data, atEOF)
	if atEOF && tok != nil && (len(data) == 0 || data[len(data)-1] != '\n') {
		return adv, nil, err // half a line is none
	}
	return adv, tok, err
}

// A watchdog calls bark when nothing was written to it for a while.
type watchdog struct {
	after time.Duration
	t     *time.Timer
	done  atomic.Bool
}

func newWatchdog(after time.Duration, bark func()) *watchdog {
	return &watchdog{after: after, t: time.AfterFunc(after, bark)}
}

// Write implements io.Writer.
func (w *watchdog) Write(p []byte) (int, error) {
	if !w.done.Load() {
		w.t.Reset(w.after)
	}
	return len(p), nil
}

func (w *watchdog) stop() {
	w.done.Store(true)
	w.t.Stop()
}
