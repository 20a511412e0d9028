package mcp

import (
	"bufio"
	"bytes"
	"io"
)

// A lineSource cuts a stream into lines and never holds more than one of them,
// up to a limit.
type lineSource struct {
	br     *bufio.Reader
	cr     bool // a carriage return ends a line too
	skipLF bool // the last line ended with one: a newline right after it belongs to it
	open   bool // the last line was not read to its end
}

func newLineSource(r io.Reader, cr bool) lineSource {
	return lineSource{br: bufio.NewReaderSize(r, 32<<10), cr: cr}
}

// chunk is the next piece of the line, which holds until the next call, and
// whether the line ends with it.
func (s *lineSource) chunk() (part []byte, ended bool, err error) {
	for {
		if s.br.Buffered() == 0 {
			if _, err := s.br.Peek(1); err != nil {
				return nil, false, err
			}
		}
		b, _ := s.br.Peek(s.br.Buffered())
		if s.skipLF {
			s.skipLF = false
			if b[0] == '\n' {
				_, _ = s.br.Discard(1)
				continue
			}
		}
		end := bytes.IndexByte(b, '\n')
		if s.cr {
			within := b
			if end >= 0 {
				within = b[:end]
			}
			if i := bytes.IndexByte(within, '\r'); i >= 0 {
				end, s.skipLF = i, true
			}
		}
		if end < 0 {
			_, _ = s.br.Discard(len(b))
			return b, false, nil
		}
		_, _ = s.br.Discard(end + 1)
		return b[:end], true, nil
	}
}

// next is the next line without its end, the caller's, or if it is longer than
// the limit its beginning: then drain takes what follows. The stream's end also
// ends a line.
func (s *lineSource) next(limit int) (line []byte, over bool, err error) {
	s.drain(func([]byte) {})
	for {
		part, ended, err := s.chunk()
		if err != nil {
			if err == io.EOF && line != nil {
				return line, false, nil
			}
			return nil, false, err
		}
		line = append(line, part...)
		if line == nil {
			line = []byte{}
		}
		if len(line) > limit {
			s.open = !ended
			return line, true, nil
		}
		if ended {
			return line, false, nil
		}
	}
}

// drain reads the rest of a line that next gave up on. A reader's error ends it
// and comes back with the next read.
func (s *lineSource) drain(feed func([]byte)) {
	for s.open {
		part, ended, err := s.chunk()
		if err != nil {
			s.open = false
			return
		}
		feed(part)
		s.open = !ended
	}
}
