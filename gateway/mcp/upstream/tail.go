package upstream

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"
)

// Bounds of standard error.
const (
	maxTail = 64 << 10 // bytes kept
	maxLine = 4 << 10  // of one line; what is longer comes in pieces
	maxRate = 100      // lines a second that are shown; all are kept
)

// A tail keeps the end of what was written to standard error and shows it line by
// line. It is text of the server's: nothing in it may act on a terminal.
type tail struct {
	show func(string)
	log  *slog.Logger
	now  func() time.Time
	flow *rate.Limiter

	mu   sync.Mutex // holds all below
	kept []byte
	line []byte
}

func newTail(show func(string), log *slog.Logger, now func() time.Time) *tail {
	return &tail{show: show, log: log, now: now, flow: rate.NewLimiter(maxRate, 5*maxRate)}
}

// write takes a piece and returns how many lines ended in it.
func (t *tail) write(b []byte) (lines int) {
	t.mu.Lock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	var show []string
	for len(b) > 0 {
		part, rest, ended := bytes.Cut(b, []byte{'\n'})
		if room := maxLine - len(t.line); len(part) > room {
			part, rest, ended = part[:room], b[room:], true
		}
		t.line = append(t.line, part...)
		if b = rest; ended {
			lines++
			if t.flow.AllowN(t.now(), 1) {
				show = append(show, printable(bytes.TrimRight(t.line, "\r")))
			}
			t.line = t.line[:0]
		}
	}
	t.mu.Unlock()
	for _, s := range show {
		if t.show != nil {
			t.show(s)
		} else {
			t.log.Info("upstream wrote to stderr", "line", s)
		}
	}
	return lines
}

// String is what is kept, printable, with its line breaks.
func (t *tail) String() string {
	t.mu.Lock()
	lines := bytes.Split(t.kept, []byte{'\n'})
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(printable(bytes.TrimRight(l, "\r")))
	}
	t.mu.Unlock()
	return b.String()
}

// printable writes out what no terminal should obey and no reader would see.
func printable(line []byte) string {
	var b strings.Builder
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(line[0])|0x100, 16)[1:])
		case strconv.IsPrint(r) || r == '\t':
			b.WriteRune(r)
		default:
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		}
		line = line[n:]
	}
	return b.String()
}
