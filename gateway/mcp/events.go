package mcp

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
)

// An Event is one event of an event stream (text/event-stream).
type Event struct {
	Name  string   // of the event field; empty: message
	ID    *string  // nil: the stream's last id stays
	Retry int      // milliseconds; 0: none was sent
	Data  []byte   // the caller's; empty: an event that carries only an id or a retry
	Seen  *Skimmed // not nil: the data was beyond the limit, and is not here
}

// Bounds of the small fields of an event; what is longer is left out.
const (
	maxEventID   = 4096
	maxEventName = 256
)

// An EventReader reads an event stream as the HTML standard says: any of the
// three line ends, comments, data over several lines, a byte order mark. Its
// memory is bounded by the limit. An event that the stream's end cuts off is
// dropped.
type EventReader struct {
	src     lineSource
	max     int
	started bool

	e    Event // the one that is being read
	some bool  // it has a data field
	long *skim // its data is beyond the limit
}

// NewEventReader reads from r. Only lim.Bytes counts, for the data of one event.
func NewEventReader(r io.Reader, lim Limits) *EventReader {
	return &EventReader{src: newLineSource(r, true), max: lim.filled().Bytes}
}

// Read returns the next event that carries data, an id or a retry. An error is
// the reader's; io.EOF at the end.
func (r *EventReader) Read() (Event, error) {
	for {
		line, over, err := r.src.next(r.max + len("data: "))
		if err != nil {
			return Event{}, err
		}
		if !r.started {
			r.started = true
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) > 0 {
			r.field(line, over)
			continue
		}
		e := r.e
		if r.long != nil {
			e.Data, e.Seen = nil, r.long.seen()
		}
		r.e, r.some, r.long = Event{}, false, nil
		if len(e.Data) > 0 || e.Seen != nil || e.ID != nil || e.Retry > 0 {
			return e, nil
		}
	}
}

// field takes one line of an event. What it keeps of the line it keeps for good.
func (r *EventReader) field(line []byte, over bool) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		r.data(value, over)
	case "id":
		if !over && len(value) <= maxEventID && bytes.IndexByte(value, 0) < 0 {
			id := string(value)
			r.e.ID = &id
		}
	case "event":
		if !over && len(value) <= maxEventName {
			r.e.Name = string(value)
		}
	case "retry":
		if n, err := strconv.Atoi(string(value[:min(len(value), 10)])); !over && err == nil && n > 0 && len(value) <= 10 {
			r.e.Retry = n
		}
	}
}

// data takes a line of data.
func (r *EventReader) data(value []byte, over bool) {
	have := len(r.e.Data)
	if r.some {
		have++
	}
	if r.long == nil && (over || have+len(value) > r.max) {
		r.long = &skim{}
		r.long.feed(r.e.Data)
		r.e.Data = nil
	}
	switch {
	case r.long != nil:
		r.long.feed([]byte{'\n'})
		r.long.feed(value)
		r.src.drain(r.long.feed)
	case !r.some:
		r.e.Data = value
	default:
		r.e.Data = append(append(r.e.Data, '\n'), value...)
	}
	r.some = true
}

// An EventWriter writes an event stream, each event with one Write of the writer
// below and a flush after it. It may be used by several goroutines at once.
type EventWriter struct {
	mu    sync.Mutex // holds what follows, and the order on w
	w     io.Writer
	flush func() error
	buf   []byte
	err   error
}

// NewEventWriter writes to w and calls flush, if not nil, after each event.
func NewEventWriter(w io.Writer, flush func() error) *EventWriter {
	return &EventWriter{w: w, flush: flush}
}

// Write writes one event. After an error the stream may hold half an event: every
// further Write returns that error.
func (w *EventWriter) Write(e Event) error {
	return w.write(func(b []byte) []byte {
		b = appendFields(b, e.Name, e.ID, e.Retry)
		data := e.Data
		for {
			i := bytes.IndexAny(data, "\r\n")
			if i < 0 {
				break
			}
			b = append(append(append(b, "data: "...), data[:i]...), '\n')
			if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
				i++
			}
			data = data[i+1:]
		}
		return append(append(append(b, "data: "...), data...), "\n\n"...)
	})
}

// WriteFrame writes a frame as a message event; id may be empty: none.
func (w *EventWriter) WriteFrame(f Frame, id string) error {
	return w.write(func(b []byte) []byte {
		var at *string
		if id != "" {
			at = &id
		}
		b = append(appendFields(b, "message", at, 0), "data: "...)
		return append(f.Append(b), "\n\n"...)
	})
}

// Comment writes a comment line: what keeps a silent connection open.
func (w *EventWriter) Comment(text string) error {
	return w.write(func(b []byte) []byte {
		return append(append(append(b, ": "...), oneLine(text)...), "\n\n"...)
	})
}

func (w *EventWriter) write(fill func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.buf = fill(w.buf[:0])
	_, w.err = w.w.Write(w.buf)
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
	if w.err == nil && w.flush != nil {
		w.err = w.flush()
	}
	return w.err
}

func appendFields(b []byte, name string, id *string, retry int) []byte {
	if name != "" {
		b = append(append(append(b, "event: "...), oneLine(name)...), '\n')
	}
	if id != nil {
		b = append(append(append(b, "id: "...), strings.ReplaceAll(oneLine(*id), "\x00", "")...), '\n')
	}
	if retry > 0 {
		b = append(strconv.AppendInt(append(b, "retry: "...), int64(retry), 10), '\n')
	}
	return b
}

// oneLine takes from a field what would begin another.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(s)
}
