package mcp

import "io"

// An Event is one event of an event stream (text/event-stream).
type Event struct {
	Name  string   // of the event field; empty: message
	ID    *string  // nil: the stream's last id stays
	Retry int      // milliseconds; 0: none was sent
	Data  []byte   // the caller's; empty: an event that carries only an id or a retry
	Seen  *Skimmed // not nil: the data was beyond the limit, and is not here
}

// An EventReader reads an event stream as the HTML standard says: any of the
// three line ends, comments, data over several lines, a byte order mark. Its
// memory is bounded by the limit. An event that the stream's end cuts off is
// dropped.
type EventReader struct{}

// NewEventReader reads from r. Only lim.Bytes counts, for the data of one event.
func NewEventReader(r io.Reader, lim Limits) *EventReader { panic("to be written") }

// Read returns the next event that carries data, an id or a retry. An error is
// the reader's; io.EOF at the end.
func (r *EventReader) Read() (Event, error) { panic("to be written") }

// An EventWriter writes an event stream, each event with one Write of the writer
// below and a flush after it. It may be used by several goroutines at once.
type EventWriter struct{}

// NewEventWriter writes to w and calls flush, if not nil, after each event.
func NewEventWriter(w io.Writer, flush func() error) *EventWriter { panic("to be written") }

// Write writes one event.
func (w *EventWriter) Write(e Event) error { panic("to be written") }

// WriteFrame writes a frame as a message event; id may be empty: none.
func (w *EventWriter) WriteFrame(f Frame, id string) error { panic("to be written") }

// Comment writes a comment line: what keeps a silent connection open.
func (w *EventWriter) Comment(text string) error { panic("to be written") }
