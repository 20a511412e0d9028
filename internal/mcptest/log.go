package mcptest

import (
	"bytes"
	"os"
	"sync"
)

// A recorder appends received frames to a file, each with a line end, as the
// bytes they are, and says when it did.
type recorder struct {
	mu   sync.Mutex
	file *os.File
	told func()
}

func newRecorder(path string, told func()) (*recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &recorder{file: f, told: told}, nil
}

func (r *recorder) add(frame []byte) {
	r.mu.Lock()
	_, err := r.file.Write(append(bytes.Clone(frame), '\n'))
	r.mu.Unlock()
	if err == nil && r.told != nil {
		r.told()
	}
}

func (r *recorder) close() { _ = r.file.Close() }

// readLog is every line of a log.
func readLog(path string) []Message {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var out []Message
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(out, Decode(line))
		}
	}
	return out
}

// each calls f for a message, or for each one of a batch.
func (m Message) each(f func(Message)) {
	if m.Batch == nil {
		f(m)
	}
	for _, one := range m.Batch {
		one.each(f)
	}
}
