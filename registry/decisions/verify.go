package decisions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/spool"
)

// Kinds of problems beyond those of spool.Finding.
const (
	KindAnchor = "anchor" // a spool is shorter than, or other than, its anchor or mark
	KindCount  = "count"  // a run's entries do not go on from each other: one was withheld
	KindEntry  = "entry"  // a record is no entry
	KindKeys   = "keys"   // the keys are gone
)

// A Problem is one thing that is wrong in a spool.
type Problem struct {
	Spool  string
	Kind   string
	Index  uint64 // of the entry that it is about
	Detail string
}

// A SpoolReport is what a walk over one spool found.
type SpoolReport struct {
	Spool    string
	Size     uint64 // entries that were walked
	Root     [32]byte
	Anchored uint64 // entries that an anchor commits to
	Live     bool   // a process has it open
	Open     int    // calls without an outcome
	Runs     int
	Torn     []spool.Finding // what a crash left and nobody mended yet
	Repairs  []spool.Repair
}

// A Report is what Verify found.
type Report struct {
	Spools   []SpoolReport
	Problems []Problem // what no crash explains
}

// Entries is how many entries there are in all.
func (r *Report) Entries() (n uint64) {
	for _, s := range r.Spools {
		n += s.Size
	}
	return n
}

// Torn tells whether a crash tore a spool's end, now or earlier.
func (r *Report) Torn() bool {
	return slices.ContainsFunc(r.Spools, func(s SpoolReport) bool { return len(s.Torn)+len(s.Repairs) > 0 })
}

const maxProblems = 10_000

func (r *Report) add(p Problem) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, p)
	}
}

// Verify walks every spool of a data folder: chain, counts of runs, anchors.
// Processes may be writing meanwhile. An error is that it could not be walked.
func Verify(ctx context.Context, data string, anchors []Anchor) (Report, error) {
	var rep Report
	k, names, err := reading(data)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrKeys):
		rep.add(Problem{Kind: KindKeys, Detail: err.Error()})
		return rep, nil
	case err != nil:
		return rep, err
	}
	l := &Log{data: data, keys: k}
	seen := map[string]*past{}
	for _, name := range slices.Backward(names) { // what a spool counts on stands in an older one, which may still grow
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		at := Anchor{}
		if i := slices.IndexFunc(anchors, func(a Anchor) bool { return a.Spool == name }); i >= 0 {
			at = anchors[i]
		}
		if seen[name], err = l.verify(&rep, name, at); err != nil {
			return rep, err
		}
	}
	slices.Reverse(rep.Spools)
	rep.countOver(seen)
	for _, a := range anchors {
		if a.Size > 0 && !slices.Contains(names, a.Spool) {
			rep.add(Problem{Spool: a.Spool, Kind: KindAnchor, Detail: fmt.Sprintf("the spool is gone; it had %d entries", a.Size)})
		}
	}
	slices.SortStableFunc(rep.Problems, func(a, b Problem) int { return strings.Compare(a.Spool, b.Spool) })
	return rep, nil
}

// countOver looks for the entries before those of a run whose first one in a
// spool is not its first: another spool has them. Where anything is damaged that
// explains it.
func (r *Report) countOver(seen map[string]*past) {
	if len(r.Problems) > 0 {
		return
	}
	reach := map[string]map[string]uint64{} // run: spool: number that it comes to there
	for name, p := range seen {
		for run, n := range p.carry() {
			if reach[run] == nil {
				reach[run] = map[string]uint64{}
			}
			reach[run][name] = n
		}
	}
	for name, p := range seen {
		for run, c := range p.runs {
			found := c.from <= 1
			for other, n := range reach[run] {
				found = found || other != name && n >= c.from-1
			}
			if !found {
				r.add(Problem{Spool: name, Kind: KindCount, Detail: fmt.Sprintf("run %q begins with number %d, and no spool has those before", run, c.from)})
			}
		}
	}
}

func (l *Log) verify(rep *Report, name string, at Anchor) (*past, error) {
	dir := spoolDir(l.data, name)
	s := SpoolReport{Spool: name, Anchored: at.Size}
	lock, err := durable.TryLock(filepath.Join(dir, lockFile))
	switch {
	case err == nil:
		defer lock.Unlock()
	case errors.Is(err, durable.ErrLocked):
		s.Live = true
	default:
		return nil, err
	}
	p := newPast()
	var odd []Problem
	w, err := spool.Walk(dir, spool.WalkOptions{Key: l.keys.spool, At: at.Size, Live: s.Live, Visit: func(index uint64, b []byte) error {
		e, err := parse(b)
		if err != nil {
			odd = append(odd, Problem{Spool: name, Kind: KindEntry, Index: index, Detail: "the record is no entry"})
			return nil
		}
		if err := p.take(index, &e); err != nil {
			odd = append(odd, Problem{Spool: name, Kind: KindCount, Index: index, Detail: err.Error()})
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	s.Size, s.Root, s.Repairs, s.Open, s.Runs = w.Head.Size, w.Head.Root, w.Repairs, len(p.open), len(p.runs)
	for _, f := range w.Findings {
		if f.Kind == spool.Torn {
			s.Torn = append(s.Torn, f)
			continue
		}
		rep.add(Problem{Spool: name, Kind: string(f.Kind), Index: f.Index, Detail: f.String()})
	}
	for _, o := range odd { // behind a damaged record counts cannot fit
		if len(w.Findings) == 0 || o.Index < w.Findings[0].Index {
			rep.add(o)
		}
	}
	rep.Spools = append(rep.Spools, s)
	l.hold(rep, w, name, at, s.Live)
	return &p, nil
}

// hold holds a walked spool against its anchor and the mark it was left with.
func (l *Log) hold(rep *Report, w *spool.Walked, name string, at Anchor, live bool) {
	if at.Size > 0 && anchorOf(name, w.At) != at {
		detail := "differs from what the registry's log says"
		if w.Head.Size < at.Size {
			detail = fmt.Sprintf("is shorter than the registry's log says: %d entries of %d", w.Head.Size, at.Size)
		}
		rep.add(Problem{Spool: name, Kind: KindAnchor, Index: min(w.Head.Size, at.Size-1), Detail: "the spool " + detail})
	}
	if live {
		return
	}
	left, err := l.readLeft(name)
	if err != nil {
		rep.add(Problem{Spool: name, Kind: KindAnchor, Index: w.Head.Size, Detail: err.Error()})
	} else if left != nil && left.Anchor != anchorOf(name, w.Head) {
		rep.add(Problem{Spool: name, Kind: KindAnchor, Index: min(w.Head.Size, left.Size),
			Detail: fmt.Sprintf("the spool was left with %d entries and has %d, or others", left.Size, w.Head.Size)})
	}
}
