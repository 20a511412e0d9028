package tallies

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
)

// A document is the file of one agent.
type document struct {
	V     int               `json:"v"` // 1
	Items map[string]*tally `json:"items"`
}

// A tally is what is counted of one item.
type tally struct {
	Runs  []runCount          `json:"runs"`  // the one that called last is the last
	Per   []minute            `json:"per"`   // the last day, oldest first; none is empty
	Known map[string][]string `json:"known"` // by place, oldest first
}

// A runCount is how many calls were let through in a run. Several may be open at once:
// those of launches are counted together.
type runCount struct {
	Run string `json:"run"`
	N   uint64 `json:"n"`
}

// A minute is how many calls were let through in it.
type minute struct {
	At int64  `json:"at"` // minutes since the epoch
	N  uint64 `json:"n"`
}

func (d *document) check() error {
	if d.V != 1 || len(d.Items) > MaxItems {
		return ErrDamaged
	}
	for _, t := range d.Items {
		if t == nil || len(t.Per) > 2*kept || len(t.Runs) > MaxRuns || !slices.IsSortedFunc(t.Per, func(a, b minute) int { return cmp.Compare(a.At, b.At) }) {
			return ErrDamaged
		}
	}
	return nil
}

func (d *document) bytes() ([]byte, error) {
	raw, err := json.Marshal(d, json.Deterministic(true))
	if err != nil || len(raw) > maxFile || d.check() != nil {
		return nil, ErrLimit
	}
	return raw, nil
}

// of is the tally of a subject without what is too old to count.
func (d *document) of(sub Subject, now int64) *tally {
	t := d.Items[sub.Item]
	if t == nil {
		return &tally{}
	}
	u := *t
	u.Per = slices.DeleteFunc(slices.Clone(t.Per), func(m minute) bool { return m.At <= now-kept })
	return &u
}

// since are the calls of the last minutes, and of the one before them too: which of
// its seconds are meant is not known, so all of them count. What lies in the future,
// since the clock was put back, counts as well.
func (t *tally) since(now, minutes int64) (n uint64) {
	for _, m := range t.Per {
		if m.At >= now-minutes {
			n += m.N
		}
	}
	return n
}

func (t *tally) runCount(run string) uint64 {
	for _, r := range t.Runs {
		if r.Run == run {
			return r.N
		}
	}
	return 0
}

// knows tells whether all values of a place were sent there before. No value at all
// is not known.
func (t *tally) knows(place string, sums []string, values int) bool {
	if values == 0 || values > MaxValues {
		return false
	}
	return !slices.ContainsFunc(sums, func(s string) bool { return !slices.Contains(t.Known[place], s) })
}

// counted is the tally with one more call.
func (t *tally) counted(run string, now int64, sums map[string][]string) *tally {
	runs := slices.DeleteFunc(slices.Clone(t.Runs), func(r runCount) bool { return r.Run == run })
	runs = append(runs, runCount{run, t.runCount(run) + 1})
	u := &tally{Runs: runs[max(0, len(runs)-MaxRuns):], Per: slices.Clone(t.Per), Known: map[string][]string{}}
	if n := len(u.Per); n > 0 && u.Per[n-1].At >= now {
		u.Per[n-1].N++
	} else {
		u.Per = append(u.Per, minute{now, 1})
	}
	for place, list := range t.Known {
		u.Known[place] = list
	}
	for place, list := range sums {
		have := slices.Clone(t.Known[place])
		for _, s := range list {
			if !slices.Contains(have, s) {
				have = append(have, s)
			}
		}
		u.Known[place] = have[max(0, len(have)-MaxKnown):]
	}
	return u
}

// with is the document with another tally. Where it is full, items that were not called
// for a day, nor in this run, and know nothing make room.
func (d *document) with(sub Subject, t *tally, now int64) *document {
	n := &document{V: 1, Items: map[string]*tally{}}
	for item, old := range d.Items {
		if len(d.Items) >= MaxItems && len(old.Known) == 0 && old.since(now, kept) == 0 && old.runCount(sub.Run) == 0 {
			continue
		}
		n.Items[item] = old
	}
	n.Items[sub.Item] = t
	return n
}
