package mcp

import (
	"bytes"
	"io"
	"sync"

	"github.com/pratique-dev/pratique/internal/marks"
)

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

// A LineReader reads newline-delimited frames (the stdio transport). Its memory is
// bounded by the limit, whatever is sent.
type LineReader struct {
	src lineSource
	max int
}

// NewLineReader reads from r. Only lim.Bytes counts.
func NewLineReader(r io.Reader, lim Limits) *LineReader {
	return &LineReader{src: newLineSource(r, false), max: lim.filled().Bytes}
}

// Read returns the next line that is not blank. An error is the reader's; io.EOF
// at the end, after a last line that may lack its newline.
func (r *LineReader) Read() (Line, error) {
	for {
		line, over, err := r.src.next(r.max + 1) // one more for a carriage return
		if err != nil {
			return Line{}, err
		}
		if !over {
			line = bytes.TrimSuffix(line, []byte{'\r'})
			over = len(line) > r.max
		}
		if over {
			var s skim
			s.feed(line)
			line = nil
			r.src.drain(s.feed)
			return Line{Kind: Long, Seen: s.seen()}, nil
		}
		start := marks.Space(line, 0)
		switch {
		case start == len(line):
			continue
		case line[start] == '{', line[start] == '[':
			return Line{Kind: Text, Data: line}, nil
		}
		return Line{Kind: Noise, Data: line}, nil
	}
}

// keptBuffer is the largest buffer that a writer keeps for its next frame.
const keptBuffer = 64 << 10

// A LineWriter writes newline-delimited frames, each with one Write of the
// writer below. It may be used by several goroutines at once.
type LineWriter struct {
	mu  sync.Mutex // holds what follows, and the order on w
	w   io.Writer
	buf []byte
	err error
}

// NewLineWriter writes to w.
func NewLineWriter(w io.Writer) *LineWriter { return &LineWriter{w: w} }

// Write writes one frame. After an error the stream may hold half a line: every
// further Write returns that error.
func (w *LineWriter) Write(f Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.buf = append(f.Append(w.buf[:0]), '\n')
	_, w.err = w.w.Write(w.buf)
	if cap(w.buf) > keptBuffer {
		w.buf = nil
	}
	return w.err
}
