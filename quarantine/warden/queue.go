package warden

import (
	"errors"
	"slices"
	"time"
)

// errBusy says that an origin has too many batches waiting.
var errBusy = errors.New("warden: too many batches of this origin wait")

const (
	maxQueued = 256             // batches of one origin that wait
	lately    = 2 * time.Second // for so long after an origin had a child, one is kept free for it
)

// A queue says whose turn it is to get a child (RULES.md 40). Origins take turns,
// whatever many batches each has waiting; none has the last child where others
// want one or did lately; and batches that take long have all but one together.
type queue struct {
	max   int     // children
	lines []*line // the first has waited longest since it was served; none is empty
	count int     // turns in them
	seq   uint64
	held  map[string]int // children that are out, by origin
	slow  int            // of them, with batches that take long

	last, before served // of two origins
}

// A served says when an origin was given a child.
type served struct {
	origin string
	at     time.Time
}

// A line is what waits of one origin; what takes long is in a row of its own.
type line struct {
	origin string
	rows   [2][]*turn // quick, slow
}

// A turn is somebody who waits.
type turn struct {
	claim
	seq uint64
	got chan handed
}

// A claim is what a child is wanted or used for.
type claim struct {
	origin string
	slow   bool
}

func newQueue(most int) queue { return queue{max: most, held: map[string]int{}} }

func row(slow bool) int {
	if slow {
		return 1
	}
	return 0
}

// add has somebody wait.
func (q *queue) add(c claim) (*turn, error) {
	i := slices.IndexFunc(q.lines, func(l *line) bool { return l.origin == c.origin })
	if i < 0 {
		i = len(q.lines)
		q.lines = append(q.lines, &line{origin: c.origin})
	}
	l := q.lines[i]
	if len(l.rows[0])+len(l.rows[1]) >= maxQueued {
		return nil, errBusy
	}
	q.seq++
	t := &turn{claim: c, seq: q.seq, got: make(chan handed, 1)}
	l.rows[row(c.slow)] = append(l.rows[row(c.slow)], t)
	q.count++
	return t, nil
}

// remove has somebody wait no more.
func (q *queue) remove(t *turn) {
	for i, l := range q.lines {
		r := &l.rows[row(t.slow)]
		at := slices.Index(*r, t)
		if at < 0 {
			continue
		}
		*r = slices.Delete(*r, at, at+1)
		q.count--
		if len(l.rows[0])+len(l.rows[1]) == 0 {
			q.lines = slices.Delete(q.lines, i, i+1)
		}
		return
	}
}

// next is the one whose turn it is, who waits no more; nil where nobody who waits
// may have a child now. Nobody is served twice in a row before others.
func (q *queue) next(now time.Time) *turn {
	var again *turn
	for _, l := range q.lines {
		t := q.first(l, now)
		switch {
		case t == nil:
		case l.origin == q.last.origin:
			again = t
		default:
			return q.serve(t)
		}
	}
	if again == nil {
		return nil
	}
	return q.serve(again)
}

// first is the first in a line that may have a child now.
func (q *queue) first(l *line, now time.Time) (t *turn) {
	for _, r := range l.rows {
		if len(r) > 0 && (t == nil || r[0].seq < t.seq) && q.may(r[0].claim, now) {
			t = r[0]
		}
	}
	return t
}

// serve takes somebody out; the line goes behind all others.
func (q *queue) serve(t *turn) *turn {
	i := slices.IndexFunc(q.lines, func(l *line) bool { return l.origin == t.origin })
	l := q.lines[i]
	q.lines = append(slices.Delete(q.lines, i, i+1), l)
	q.remove(t)
	return t
}

// may tells whether a child may be given for this.
func (q *queue) may(c claim, now time.Time) bool {
	spare := max(1, q.max-1)
	if c.slow && q.slow >= spare {
		return false
	}
	return q.held[c.origin] < spare || !q.others(c.origin, now)
}

// others tells whether other origins want a child, or did lately.
func (q *queue) others(origin string, now time.Time) bool {
	if len(q.lines) > 1 || len(q.lines) == 1 && q.lines[0].origin != origin {
		return true
	}
	s := &q.last
	if s.origin == origin {
		s = &q.before
	}
	return !s.at.IsZero() && now.Sub(s.at) < lately
}

// take notes that a child is out.
func (q *queue) take(c claim, now time.Time) {
	if q.last.origin != c.origin {
		q.before = q.last
	}
	q.last = served{c.origin, now}
	q.held[c.origin]++
	if c.slow {
		q.slow++
	}
}

// free notes that it is back, or lost.
func (q *queue) free(c claim) {
	if q.held[c.origin]--; q.held[c.origin] <= 0 {
		delete(q.held, c.origin)
	}
	if c.slow {
		q.slow--
	}
}

// refuse tells all who wait that there is nothing to wait for.
func (q *queue) refuse(err error) {
	for _, l := range q.lines {
		for _, r := range l.rows {
			for _, t := range r {
				t.got <- handed{err: err}
			}
		}
	}
	q.lines, q.count = nil, 0
}
