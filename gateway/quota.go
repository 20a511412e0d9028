package gateway

import (
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

// A tally is what one agent costs: sessions, requests in the time, and entries
// that are counted instead of written one by one (RULES.md 40).
type tally struct {
	mu       sync.Mutex
	sessions int
	filled   time.Time // of the bucket
	tokens   float64
	begun    time.Time           // of the minute that is counted
	counts   map[string]*counted // by reason
}

// counted are the refusals of one reason in one minute.
type counted struct {
	single int
	more   int
	entry  registry.Entry // the first that was only counted, without its name
}

func (g *Gateway) tally(who *Agent) *tally {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.agents[who.ID]
	if t == nil {
		t = &tally{counts: map[string]*counted{}}
		g.agents[who.ID] = t
	}
	return t
}

// less says that one session has ended.
func (t *tally) less() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sessions--
}

// take takes one request out of the agent's bucket.
func (t *tally) take(now time.Time, rate, burst int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.filled.IsZero() {
		t.tokens = float64(burst)
	} else if d := now.Sub(t.filled); d > 0 {
		t.tokens = min(float64(burst), t.tokens+d.Seconds()*float64(rate))
	}
	t.filled = now
	if t.tokens < 1 {
		return false
	}
	t.tokens--
	return true
}

// A spender is a Recorder that counts what agents' entries take. *decisions.Log
// is one: its share for an agent is a quarter of what the data folder has left.
type spender interface {
	Spent(agent credentials.AgentID) (bytes, share int64)
}

// spent tells whether an agent has used up its part of the record for today:
// then it is refused, so that the record is never full for the others (RULES.md 40).
// What is open ends, and refusals go on being counted.
func (g *Gateway) spent(who *Agent) bool {
	r, ok := g.o.Record.(spender)
	if !ok {
		return false
	}
	bytes, share := r.Spent(who.ID)
	if own := g.o.Limits.Record; own > 0 {
		share = min(share, own)
	}
	return bytes >= share
}

// single tells whether an entry is written; else it was counted, and is part of
// the one that ends the minute.
func (t *tally) single(g *Gateway, e *registry.Entry) bool {
	now := g.o.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.begun) >= time.Minute {
		t.write(g)
		t.begun = now
	}
	c := t.counts[e.Reason]
	if c == nil {
		c = &counted{}
		t.counts[e.Reason] = c
	}
	if c.single < g.o.Limits.Single {
		c.single++
		return true
	}
	if c.more == 0 {
		c.entry = registry.Entry{
			Type: registry.EntryDropped, Run: e.Run, Agent: e.Agent, Era: e.Era, Way: e.Way, Method: e.Method,
			Upstream: e.Upstream, Origin: e.Origin, Verb: e.Verb, Reason: e.Reason, Rule: e.Rule, Invoked: "no",
		}
	}
	c.more++
	return false
}

// flush writes what a past minute counted.
func (t *tally) flush(g *Gateway) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.o.Now().Sub(t.begun) >= time.Minute {
		t.write(g)
	}
}

// write writes one entry for each reason that was counted. mu is held.
func (t *tally) write(g *Gateway) {
	for reason, c := range t.counts {
		if c.more > 0 {
			e := c.entry
			e.Detail = "and " + itoa(c.more) + " more within a minute"
			if err := g.o.Record.Note(&e); err != nil {
				g.o.Log.Error("counted refusals are not in the record", "reason", reason, "cause", err)
			}
		}
		delete(t.counts, reason)
	}
}
