// Package gate is where a call is let through or not: shut until everything an
// agent can read is cleared, and shut again for what changes.
//
// Here is the row that a decision needs. It holds no state of its own:
// registry/state folds it from the log, one row per tool, so that a decision is
// one look-up.
package gate

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
)

// A Row is everything that a decision needs to know of one tool at one
// position of the log. The zero value denies: it is not live, vetoed and
// violated. Rows are shared between readers and never changed in place.
type Row struct {
	Tool     credentials.ToolID
	Owner    credentials.KeyID
	Digest   credentials.Digest // of the current version's metadata
	Gen, Ver uint64
	Seq      uint64 // ledger index of the event that last moved standing, content or version
	Attested int64  // seconds since the epoch until which an attested standing holds; 0: no end
	Until    int64  // seconds since the epoch until which a consistent content holds
	Standing labels.Standing
	Content  labels.Content
	Withheld bool // the origin's topology covers no such name: not shown
	Live     bool // registered and not revoked
}

// StandingAt is the standing at a time: what a topology attested falls back to
// unknown when the topology has expired.
func (r *Row) StandingAt(now time.Time) labels.Standing {
	if r.Standing == labels.Attested && r.Attested != 0 && now.Unix() >= r.Attested {
		return labels.Unknown
	}
	return r.Standing
}

// ContentAt is the content at a time: what was consistent falls back to inspected
// when it was not seen for long.
func (r *Row) ContentAt(now time.Time) labels.Content {
	if r.Content == labels.Consistent && now.Unix() >= r.Until {
		return labels.Inspected
	}
	return r.Content
}

// Tier is the label's tier at a time; that of a tool that is gone, or that its
// origin's topology does not cover, is Red.
func (r *Row) Tier(now time.Time) labels.Tier {
	if r == nil || !r.Live || r.Withheld {
		return labels.Red
	}
	return labels.Synthesize(r.StandingAt(now), r.ContentAt(now))
}
