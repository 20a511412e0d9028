package gateway

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
)

// maxTail is how much of what was said before is judged together with what comes
// next, in bytes of each lane.
const maxTail = 2 << 10

// A stream is what an upstream said in messages and questions of a run, one after the
// other: the agent reads them as one text, so they are judged as one too (RULES.md
// 35).
type stream struct {
	mu    sync.Mutex // held from when a message is judged until it is passed on: agents hear them in the order in which they were judged together; owns what follows
	heard [lanes]lane
}

// The lanes of a stream. What people and models are shown of a message is joined by
// itself too, and so is the rest: neither pushes the other out of the tail.
const (
	laneAll = iota
	laneRead
	laneRest
	lanes
)

// A lane is the end of what was said in it.
type lane struct {
	lines string // one text a line
	run   string // and without anything in between, as of a text that was cut anywhere
}

// turn waits until no other message is judged; what it returns ends the turn. The
// methods below are called in one.
func (t *stream) turn() (end func()) {
	t.mu.Lock()
	return t.mu.Unlock
}

// read are the members of messages and questions that people and models are shown.
var read = map[string]bool{"message": true, "data": true, "messages": true, "systemPrompt": true}

// laneOf is the lane of a text beside that of all.
func laneOf(path string) int {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		path = path[:i]
	}
	if read[path] {
		return laneRead
	}
	return laneRest
}

// words are the texts that a message adds to each lane, one a line.
func words(set []quarantine.Specimen) (out [lanes]string) {
	var b [lanes]strings.Builder
	for i := range set {
		s := &set[i]
		if s.Form == quarantine.FormFixed || s.Inner || s.Name {
			continue
		}
		for _, n := range [...]int{laneAll, laneOf(s.Path)} {
			if b[n].Len() > 0 {
				b[n].WriteByte('\n')
			}
			b[n].WriteString(s.Text)
		}
	}
	for n := range b {
		out[n] = b[n].String()
	}
	return out
}

// joined are the message's texts after what was said before. A nil stream is what is
// read alone.
func (t *stream) joined(set []quarantine.Specimen) (out []quarantine.Specimen) {
	if t == nil {
		return nil
	}
	texts := words(set)
	for n, l := range t.heard {
		text := first(texts[n]) // all of it is judged alone
		if l.lines == "" || text == "" || n != laneAll && l == t.heard[laneAll] && texts[n] == texts[laneAll] {
			continue
		}
		out = append(out,
			quarantine.Specimen{Path: "stream", Kind: quarantine.KindMessage, Text: l.lines + "\n" + text},
			quarantine.Specimen{Path: "stream", Kind: quarantine.KindMessage, Text: l.run + text})
	}
	return out
}

// said adds what the agent was told. What was withheld, or had nobody to hear it, is
// no part of it: what came before goes on waiting for its end, however often that is
// tried.
func (t *stream) said(set []quarantine.Specimen) {
	for n, text := range words(set) {
		if text != "" {
			l := &t.heard[n]
			l.lines, l.run = last(l.lines+"\n"+text), last(l.run+text)
		}
	}
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

// maxIdle is how many streams of runs without a session are remembered.
const maxIdle = 256

// A listening is whose stream it is: what one run hears in several sessions, at once or
// after each other, is one text to it.
type listening struct {
	agent credentials.AgentID
	run   string
}

// streams are those of a gateway.
type streams struct {
	mu   sync.Mutex // owns what follows
	by   map[listening]*shared
	idle []listening // whose sessions have ended, the longest first
}

type shared struct {
	stream
	users int
}

// enter gives a session its stream; leave must follow.
func (x *streams) enter(who *Agent) *stream {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := listening{who.ID, who.Run}
	s := x.by[k]
	if s == nil {
		if x.by == nil {
			x.by = map[listening]*shared{}
		}
		s = new(shared)
		x.by[k] = s
	}
	if s.users++; s.users == 1 {
		for i := range x.idle {
			if x.idle[i] == k {
				x.idle = append(x.idle[:i:i], x.idle[i+1:]...)
				break
			}
		}
	}
	return &s.stream
}

func (x *streams) leave(who *Agent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := listening{who.ID, who.Run}
	s := x.by[k]
	if s.users--; s.users > 0 {
		return
	}
	if x.idle = append(x.idle, k); len(x.idle) > maxIdle {
		delete(x.by, x.idle[0])
		x.idle = x.idle[1:]
	}
}
