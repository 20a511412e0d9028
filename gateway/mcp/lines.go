package mcp

import "io"

// A LineKind says what a line is at first sight.
type LineKind uint8

// The kinds of lines.
const (
	Noise LineKind = iota // begins like no frame: a server's chatter, a byte order mark
	Text                  // begins with { or [: for Parse
	Long                  // beyond the limit; nothing of it was kept
)

// A Line is one line of a stdio stream, without its end.
type Line struct {
	Kind LineKind
	Data []byte   // the caller's; nil if Long
	Seen *Skimmed // if Long: what could be read in passing
}

// Skimmed is what was read in passing of a text that was too long to keep. The id
// is the one of the outermost object, wherever in it that stands; empty if there
// is none, or more than one.
type Skimmed struct {
	Bytes int64
	Shape Shape
	ID    ID
}

// A LineReader reads newline-delimited frames (the stdio transport). Its memory is
// bounded by the limit, whatever is sent.
type LineReader struct{}

// NewLineReader reads from r. Only lim.Bytes counts.
func NewLineReader(r io.Reader, lim Limits) *LineReader { panic("to be written") }

// Read returns the next line that is not blank. An error is the reader's; io.EOF
// at the end, after a last line that may lack its newline.
func (r *LineReader) Read() (Line, error) { panic("to be written") }

// A LineWriter writes newline-delimited frames, each with one Write of the
// writer below. It may be used by several goroutines at once.
type LineWriter struct{}

// NewLineWriter writes to w.
func NewLineWriter(w io.Writer) *LineWriter { panic("to be written") }

// Write writes one frame. After an error the stream may hold half a line: every
// further Write returns that error.
func (w *LineWriter) Write(f Frame) error { panic("to be written") }
