package gateway

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/quarantine"
)

// maxTail is how much of what was said before is judged together with what comes
// next, in bytes.
const maxTail = 2 << 10

// A stream is what an upstream said in messages of a session, one after the other:
// the agent reads them as one text, so they are judged as one too (RULES.md 35). A
// nil stream is no stream.
type stream struct {
	mu    sync.Mutex // held from when a message is judged until it is passed on: agents hear them in the order in which they were judged together; owns what follows
	lines string     // what was said, one text a line
	run   string     // and without anything in between, as of a text that was cut anywhere
}

// turn waits until no other message is judged; what it returns ends the turn. The
// methods below are called in one.
func (t *stream) turn() (end func()) {
	t.mu.Lock()
	return t.mu.Unlock
}

// words are the texts that a message adds, one a line.
func words(set []quarantine.Specimen) string {
	var b strings.Builder
	for i := range set {
		if s := &set[i]; s.Form != quarantine.FormFixed && !s.Inner && !s.Name {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// joined are the message's texts after what was said before.
func (t *stream) joined(set []quarantine.Specimen) []quarantine.Specimen {
	if t == nil {
		return nil
	}
	text := first(words(set)) // all of it is judged alone
	if t.lines == "" || text == "" {
		return nil
	}
	return []quarantine.Specimen{
		{Path: "stream", Kind: quarantine.KindMessage, Text: t.lines + "\n" + text},
		{Path: "stream", Kind: quarantine.KindMessage, Text: t.run + text},
	}
}

// said adds what the agent was told. What was withheld is no part of it: what came
// before goes on waiting for its end, however often that is tried.
func (t *stream) said(set []quarantine.Specimen) {
	if t == nil {
		return
	}
	text := words(set)
	if text == "" {
		return
	}
	t.lines, t.run = last(t.lines+"\n"+text), last(t.run+text)
}

// first is the beginning of a text, as much as is kept of one.
func first(s string) string {
	n := min(len(s), maxTail)
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// last is the end of a text, as far as it is kept.
func last(s string) string {
	n := max(0, len(s)-maxTail)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return strings.Clone(s[n:])
}
