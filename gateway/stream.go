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
	mu    sync.Mutex
	lines string // what was said, one text a line
	run   string // and without anything in between, as of a text that was cut anywhere
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
	t.mu.Lock()
	lines, run := t.lines, t.run
	t.mu.Unlock()
	text := words(set)
	if lines == "" || text == "" {
		return nil
	}
	return []quarantine.Specimen{
		{Path: "stream", Kind: quarantine.KindMessage, Text: lines + "\n" + text},
		{Path: "stream", Kind: quarantine.KindMessage, Text: run + text},
	}
}

// said adds what the agent was told.
func (t *stream) said(set []quarantine.Specimen) {
	if t == nil {
		return
	}
	text := words(set)
	if text == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.run = last(t.lines+"\n"+text), last(t.run+text)
}

// last is the end of a text, as far as it is kept.
func last(s string) string {
	n := max(0, len(s)-maxTail)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return strings.Clone(s[n:])
}

// over forgets what was said, if that is why a message was withheld: the agent
// lacks a piece now, and later ones are not to be judged by it for ever.
func (t *stream) over(joint bool) {
	if t == nil || !joint {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.run = "", ""
}
