package serve

import (
	"strconv"
	"sync"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A stream is what is said to an agent in one exchange, or outside of any, as an
// event stream. It is filled by whoever has something to say and emptied by the
// HTTP response that is attached to it, if one is: nobody who fills it waits
// for the agent. Where events have ids it keeps those that were sent, for an agent
// that comes back (Last-Event-Id), up to a bound.
type stream struct {
	id     string // empty: events have no ids and nothing is kept
	limits *Limits

	mu      sync.Mutex
	events  []event
	first   int64 // number of events[0]
	next    int64 // number of the first event that was not sent
	size    int   // bytes of all events
	ahead   int   // bytes of those that were not sent
	dropped int
	ended   bool
	holder  *pump // the response that is attached
}

type event struct {
	data  []byte
	retry bool // an event without data that tells an id to come back with
}

func newStream(id string, l *Limits) *stream { return &stream{id: id, limits: l} }

// prime puts an event in front that carries nothing but an id (SEP-1699).
func (s *stream) prime() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event{retry: true})
}

// add queues a frame. What must be said is always taken: an answer, once, or a
// question; the rest only while there is room.
func (s *stream) add(f mcp.Frame, must bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.first + int64(len(s.events)) - s.next
	if s.ended || (!must && (waiting >= int64(s.limits.Queue) || s.ahead >= s.limits.Queued)) {
		s.dropped++
		return false
	}
	data := f.Append(nil)
	s.events = append(s.events, event{data: data})
	s.size += len(data)
	s.ahead += len(data)
	s.rouse()
	return true
}

// end says that nothing comes any more.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.rouse()
}

func (s *stream) rouse() {
	if s.holder != nil {
		s.holder.rouse()
	}
}

// attach makes p the response that the events go to. from is the number of the
// first event wanted; -1: the first that nobody was sent. If another response
// holds the stream, it loses it where force is set, else attach fails. It also
// fails if what is wanted is not kept any more.
func (s *stream) attach(p *pump, from int64, force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != nil && !force {
		return false
	}
	if from >= 0 {
		if from < s.first || from > s.first+int64(len(s.events)) {
			return false
		}
		s.next, s.ahead = from, 0
		for _, e := range s.events[from-s.first:] {
			s.ahead += len(e.data)
		}
	}
	if s.holder != nil {
		s.holder.rouse()
	}
	s.holder = p
	p.rouse()
	return true
}

// detach is the end of a response. The events that it took and could not write
// are sent again to the next that asks for them by number.
func (s *stream) detach(p *pump) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == p {
		s.holder = nil
	}
}

// held tells whether a response is attached.
func (s *stream) held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder != nil
}

// take appends the text of all events that were not sent to dst. over: nothing
// comes after them for p, because the stream ended or went to another response.
func (s *stream) take(p *pump, dst []byte) (out []byte, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder != p {
		return dst, true
	}
	for i := s.next - s.first; i < int64(len(s.events)); i++ {
		dst = s.text(dst, s.first+i, s.events[i])
	}
	s.next = s.first + int64(len(s.events))
	s.ahead = 0
	s.trim()
	return dst, s.ended
}

// trim forgets the oldest events that were sent, down to the bound.
func (s *stream) trim() {
	bound := s.limits.Replay
	if s.id == "" {
		bound = -1
	}
	n := 0
	for n < int(s.next-s.first) && (bound < 0 || s.size > bound) {
		s.size -= len(s.events[n].data)
		s.events[n].data = nil
		n++
	}
	s.first += int64(n)
	s.events = s.events[n:]
	if len(s.events) == 0 {
		s.events = nil
	}
}

func (s *stream) text(dst []byte, n int64, e event) []byte {
	if s.id != "" {
		dst = append(dst, "id: "...)
		dst = append(dst, s.id...)
		dst = append(dst, '_')
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, '\n')
	}
	if e.retry {
		dst = append(dst, "retry: 1000\n"...)
	}
	dst = append(dst, "data: "...)
	dst = append(dst, e.data...)
	return append(dst, '\n', '\n')
}

// bytes is what the stream keeps.
func (s *stream) bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// parseEventID reads an id that text made: whose stream, and which event.
func parseEventID(id string) (string, int64, bool) {
	for i := len(id) - 1; i > 0; i-- {
		if id[i] != '_' {
			continue
		}
		digits := id[i+1:]
		if digits == "" || len(digits) > 18 || (digits[0] == '0' && digits != "0") {
			return "", 0, false
		}
		n := int64(0)
		for _, d := range []byte(digits) {
			if d < '0' || d > '9' {
				return "", 0, false
			}
			n = n*10 + int64(d-'0')
		}
		return id[:i], n, true
	}
	return "", 0, false
}
