package decisions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

// A Record is an entry with its place.
type Record struct {
	Spool string         `json:"spool"`
	Index uint64         `json:"index"`
	Entry registry.Entry `json:"entry"`
}

// A Query selects records. The zero Query selects all.
type Query struct {
	Run   string
	Call  string
	Spool string
}

func (q Query) takes(r *Record) bool {
	return (q.Run == "" || q.Run == r.Entry.Run) && (q.Call == "" || q.Call == r.Entry.Call)
}

// errStop ends a walk whose reader has had enough.
var errStop = errors.New("enough")

// Read goes over the records of all spools of a data folder, in the order of
// their times; within a spool in that of their indexes. Processes may be writing
// meanwhile. A spool that is damaged ends it with an error.
func Read(data string, q Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		k, names, err := reading(data)
		if err != nil {
			yield(Record{}, err)
			return
		}
		if q.Spool != "" {
			names = slices.DeleteFunc(names, func(n string) bool { return n != q.Spool })
		}
		heads := &heads{data: data, key: k.spool, names: names}
		defer heads.stop()
		heads.merge(func(r Record, err error) bool {
			if err == nil && !q.takes(&r) {
				return true
			}
			return yield(r, err) && err == nil
		})
	}
}

// reading are the keys and the spools of a folder; none where no call was ever
// made in it.
func reading(data string) (keys, []string, error) {
	names, err := spoolNames(data)
	if err != nil || len(names) == 0 {
		return keys{}, nil, err
	}
	k, err := loadKeys(data)
	return k, names, err
}

// head is the next record of one spool.
type head struct {
	rec  Record
	err  error
	next func() (Record, error, bool)
	stop func()
}

func (h *head) step() (ok bool) {
	h.rec, h.err, ok = h.next()
	return ok
}

// heads are the spools that are read at the moment. A spool is opened when the
// others have come to the time at which it was begun: there can be hundreds.
type heads struct {
	data  string
	key   []byte
	names []string // not opened yet, oldest first
	live  []*head
}

// early is how much older than its spool an entry can be: its time is that of the
// request, and clocks are set.
const early = time.Hour

func (h *heads) stop() {
	for _, o := range h.live {
		o.stop()
	}
}

// open opens the spools that may have records up to a time.
func (h *heads) open(at int64) {
	for len(h.names) > 0 && (len(h.live) == 0 || begun(h.names[0]) <= at) {
		o := &head{}
		o.next, o.stop = iter.Pull2(records(h.data, h.names[0], h.key))
		h.names = h.names[1:]
		if o.step() {
			h.live = append(h.live, o)
			at = min(at, o.rec.Entry.At)
		} else {
			o.stop()
		}
	}
}

// begun is the earliest time of a record in a spool, in milliseconds; of a name
// that tells none, the beginning of all.
func begun(name string) int64 {
	id, err := ulid.ParseStrict(strings.TrimPrefix(name, spoolPrefix))
	if err != nil {
		return math.MinInt64
	}
	return int64(id.Time()) - early.Milliseconds()
}

// merge yields records by time; of equal times those of the older spool first.
func (h *heads) merge(yield func(Record, error) bool) {
	h.open(math.MinInt64)
	for len(h.live) > 0 {
		first := h.first()
		if first.err == nil {
			h.open(first.rec.Entry.At)
			first = h.first()
		}
		if !yield(first.rec, first.err) {
			return
		}
		if !first.step() {
			first.stop()
			h.live = slices.DeleteFunc(h.live, func(o *head) bool { return o == first })
			h.open(math.MinInt64)
		}
	}
}

// first is the head whose record comes next: one with an error before all.
func (h *heads) first() *head {
	first := h.live[0]
	for _, o := range h.live {
		if o.err != nil {
			return o
		}
		if o.rec.Entry.At < first.rec.Entry.At {
			first = o
		}
	}
	return first
}

// records goes over one spool.
func records(data, name string, key []byte) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		w, err := spool.Walk(spoolDir(data, name), spool.WalkOptions{Key: key, Live: true, Visit: func(index uint64, b []byte) error {
			e, err := parse(b)
			if err != nil {
				return fmt.Errorf("%s: entry %d: %w", name, index, err)
			}
			if !yield(Record{Spool: name, Index: index, Entry: e}, nil) {
				return errStop
			}
			return nil
		}})
		switch {
		case errors.Is(err, errStop):
		case err != nil:
			yield(Record{}, err)
		case len(w.Findings) > 0:
			yield(Record{}, &spool.DamageError{Spool: name, Findings: w.Findings})
		}
	}
}

// Last are the latest n records that the query selects.
func Last(data string, q Query, n int) ([]Record, error) {
	var out []Record
	for r, err := range Read(data, q) {
		if err != nil {
			return nil, err
		}
		if out = append(out, r); n > 0 && len(out) >= 2*n+1024 {
			out = slices.Delete(out, 0, len(out)-n)
		}
	}
	if n > 0 && len(out) > n {
		out = out[len(out)-n:]
	}
	return out, nil
}

// Follow goes over the records that are written from now on, by all processes,
// until ctx ends. It looks every so often; what it finds at one time comes in the
// order of times.
func Follow(ctx context.Context, data string, q Query, every time.Duration) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f := follower{data: data, at: map[string]uint64{}, ended: map[string]time.Time{}}
		err := f.begin()
		if err == nil {
			_, err = f.look()
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			fresh, err := f.look()
			for _, r := range fresh {
				if q.takes(&r) && !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
		}
	}
}

type follower struct {
	data  string
	at    map[string]uint64    // index after the last that was seen, by spool
	ended map[string]time.Time // of the mark of a spool that was read to its end
}

// begin takes the spools that were ended in order as read: their marks say how
// far they go.
func (f *follower) begin() error {
	k, names, err := reading(f.data)
	l := &Log{data: f.data, keys: k}
	for _, name := range names {
		if err != nil {
			break
		}
		marked, was := f.marked(name)
		var left *leftMark
		if left, err = l.readLeft(name); left != nil && was {
			f.at[name], f.ended[name] = left.Size, marked
		}
	}
	return err
}

// marked is when a spool was ended in order, if it was.
func (f *follower) marked(name string) (time.Time, bool) {
	st, err := os.Lstat(filepath.Join(spoolDir(f.data, name), leftFile))
	if err != nil {
		return time.Time{}, false
	}
	return st.ModTime(), true
}

// look reads what is new.
func (f *follower) look() (fresh []Record, err error) {
	names, err := spoolNames(f.data)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		marked, was := f.marked(name)
		if was && f.ended[name].Equal(marked) {
			continue
		}
		f.at[name], err = spool.ReadFrom(spoolDir(f.data, name), f.at[name], func(index uint64, b []byte) error {
			e, err := parse(b)
			if err == nil {
				fresh = append(fresh, Record{Spool: name, Index: index, Entry: e})
			}
			return err
		})
		if err != nil {
			break
		}
		if was {
			f.ended[name] = marked
		}
	}
	slices.SortStableFunc(fresh, func(a, b Record) int { return int(a.Entry.At - b.Entry.At) })
	return fresh, err
}

// ErrReplay says that something that a replay needs is not there, or not what
// the log has the digest of. The recorded answer is never repeated in its place.
var ErrReplay = errors.New("decisions: cannot be replayed")

// ArgsOf are the arguments of a recorded decision, as they were judged: from the
// vault, and held against the digest in the entry.
func ArgsOf(data string, r *Record) ([]byte, error) {
	k, err := loadKeys(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReplay, err)
	}
	v, err := vault.Get(vaultDir(data), k.vault, r.Spool, time.UnixMilli(r.Entry.At), r.Entry.Call)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: arguments: %w", ErrReplay, err)
	case r.Entry.Args.IsZero():
		return nil, nil
	case !v.Held:
		return nil, fmt.Errorf("%w: arguments: %w", ErrReplay, vault.ErrLarge)
	case v.Key.Digest(ArgsContext, v.Data) != r.Entry.Args:
		return nil, fmt.Errorf("%w: arguments: %w", ErrReplay, vault.ErrDamaged)
	}
	return v.Data, nil
}

// PolicyOf is the text of a policy by the digest that an entry names.
func PolicyOf(data string, d credentials.Digest) ([]byte, error) {
	k, err := loadKeys(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReplay, err)
	}
	text, err := vault.Policy(vaultDir(data), k.vault, d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReplay, err)
	}
	return text, nil
}

// Erase erases the values of a recorded call and the key of its digests.
func Erase(data string, r *Record) error {
	return vault.Erase(vaultDir(data), r.Spool, time.UnixMilli(r.Entry.At), r.Entry.Call)
}
