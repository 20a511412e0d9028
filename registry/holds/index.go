package holds

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/internal/durable"
)

// Holds lie in a folder per cell: what one agent got from one origin. A file's
// name says all that room is counted by, so that nothing has to be read for it:
//
//	items/AGENT.ORIGIN/ULID-SUBJECT-SIZE.hold
//	items/AGENT.ORIGIN/pushed-COUNT-MILLIS
const (
	itemsFolder  = "items"
	turnFile     = "turn"
	pushedPrefix = "pushed-"
	idPrefix     = "hold_"
	notKept      = "x" // after the size, where the content is not there
)

// An entry is one hold as its file's name says it.
type entry struct {
	id   string
	cell string
	mark string // of the subject
	size int64  // of the content
	kept bool
}

// room is what an entry takes of the quota.
func (e *entry) room() int64 {
	if !e.kept {
		return 0
	}
	return e.size
}

func (e *entry) name() string {
	kept := ""
	if !e.kept {
		kept = notKept
	}
	return strings.TrimPrefix(e.id, idPrefix) + "-" + e.mark + "-" + strconv.FormatInt(e.size, 10) + kept + fileSuffix
}

// at is when the entry was made, in milliseconds since the epoch.
func (e *entry) at() int64 {
	id, err := ulid.ParseStrict(strings.TrimPrefix(e.id, idPrefix))
	if err != nil {
		return 0 // parseEntry let none through
	}
	return int64(id.Time())
}

func parseEntry(cell, name string) (e entry, ok bool) {
	base, ok := strings.CutSuffix(name, fileSuffix)
	parts := strings.Split(base, "-")
	if !ok || len(parts) != 3 {
		return e, false
	}
	e = entry{id: idPrefix + parts[0], cell: cell, mark: parts[1], kept: true}
	size, not := strings.CutSuffix(parts[2], notKept)
	e.kept = !not
	n, err := strconv.ParseInt(size, 10, 64)
	if _, bad := ulid.ParseStrict(parts[0]); bad != nil || err != nil || n < 0 {
		return e, false
	}
	e.size = n
	return e, e.name() == name
}

// A cell is what one agent holds of one origin, oldest first.
type cell struct {
	name          string
	agent, origin string // marks
	entries       []entry
	bytes         int64
	pushed        uint64
	last          int64 // when something was pushed out last
}

func (c *cell) pushedName() string {
	return pushedPrefix + strconv.FormatUint(c.pushed, 10) + "-" + strconv.FormatInt(c.last, 10)
}

func newCell(name string) *cell {
	agent, origin, _ := strings.Cut(name, ".")
	return &cell{name: name, agent: agent, origin: origin}
}

func (c *cell) add(e entry) {
	c.entries = append(c.entries, e)
	c.bytes += e.room()
}

// An index is what lies in the folder.
type index struct {
	turn  uint64 // of the folder when it was read
	cells map[string]*cell
}

// walk reads the names in the folder of the holds.
func walk(dir string) (map[string]*cell, error) {
	cells := map[string]*cell{}
	ds, err := os.ReadDir(filepath.Join(dir, itemsFolder))
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	for _, d := range ds {
		if !d.IsDir() {
			continue
		}
		c := newCell(d.Name())
		es, err := os.ReadDir(filepath.Join(dir, itemsFolder, d.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // it went meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("holds: %w", err)
		}
		for _, f := range es {
			if e, ok := parseEntry(c.name, f.Name()); ok {
				c.add(e)
			} else {
				c.count(f.Name())
			}
		}
		slices.SortFunc(c.entries, func(a, b entry) int { return strings.Compare(a.id, b.id) })
		cells[c.name] = c
	}
	return cells, nil
}

// count reads how much was pushed out of a cell.
func (c *cell) count(name string) {
	rest, ok := strings.CutPrefix(name, pushedPrefix)
	n, ms, _ := strings.Cut(rest, "-")
	count, err := strconv.ParseUint(n, 10, 64)
	if last, bad := strconv.ParseInt(ms, 10, 64); ok && err == nil && bad == nil && count >= c.pushed {
		c.pushed, c.last = count, last
	}
}

// find is the entry of a subject, of any agent or of one cell.
func (x *index) find(mark, in string) (entry, bool) {
	for _, c := range x.cells {
		if in != "" && c.name != in {
			continue
		}
		for _, e := range c.entries {
			if e.mark == mark {
				return e, true
			}
		}
	}
	return entry{}, false
}

// current is the index, read again where another process changed something since.
// The lock of the items is held, and mu.
func (s *Store) current() (*index, error) {
	turn, err := s.readTurn()
	if err != nil {
		return nil, err
	}
	if s.index != nil && s.index.turn == turn {
		return s.index, nil
	}
	cells, err := walk(s.dir)
	if err != nil {
		return nil, err
	}
	s.index = &index{turn, cells}
	return s.index, nil
}

// change says that the folder is about to change: whoever else knows it reads it
// again. The lock of the items is held, and mu. The number is in the file's own
// bytes and not durable: after a power cut there is nobody left who remembers one.
func (s *Store) change(x *index) error {
	b := binary.BigEndian.AppendUint64(nil, x.turn+1)
	f, err := os.OpenFile(filepath.Join(s.dir, turnFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	_, err = f.WriteAt(b, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	x.turn++
	return nil
}

func (s *Store) readTurn() (uint64, error) {
	b, err := durable.ReadPrivate(filepath.Join(s.dir, turnFile), 8)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("holds: %w", err)
	}
	if len(b) < 8 {
		return 0, nil // a first write was cut short; the next one begins anew
	}
	return binary.BigEndian.Uint64(b), nil
}

// bound is what a set of cells may take together.
type bound struct {
	in    func(c *cell) bool
	count int
	bytes int64
}

// makeRoom pushes out until e fits: the oldest of the cell that has most, among
// those that share the bound which is passed.
func (s *Store) makeRoom(x *index, e *entry) error {
	agent, origin, _ := strings.Cut(e.cell, ".")
	count, quota := s.opt.Count, s.opt.Quota
	for _, b := range []bound{
		{func(c *cell) bool { return c.agent == agent && c.agent != s.noAgent }, max(1, count/share), quota / share},
		{func(c *cell) bool { return c.origin == origin }, max(1, count/share), quota / share},
		{func(*cell) bool { return true }, count, quota},
	} {
		for {
			n, bytes := x.total(b.in)
			byCount := n+1 > b.count
			if !byCount && bytes+e.room() <= b.bytes {
				break
			}
			c := x.most(b.in, byCount)
			if c == nil {
				break // all of the bound is e's own: Put keeps nothing that large
			}
			i := 0
			if !byCount { // one without a content makes no room
				i = slices.IndexFunc(c.entries, func(e entry) bool { return e.room() > 0 })
			}
			if err := s.push(c, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *index) total(in func(*cell) bool) (count int, bytes int64) {
	for _, c := range x.cells {
		if in(c) {
			count, bytes = count+len(c.entries), bytes+c.bytes
		}
	}
	return count, bytes
}

// most is the cell that has most of what the bound is about.
func (x *index) most(in func(*cell) bool, byCount bool) (best *cell) {
	has := func(c *cell) int64 {
		if byCount {
			return int64(len(c.entries))
		}
		return c.bytes
	}
	for _, c := range x.cells {
		if !in(c) || has(c) == 0 {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(has(c), has(best)), strings.Compare(best.name, c.name)) > 0 {
			best = c
		}
	}
	return best
}

// push takes one out of a cell and counts it. The count goes first: a kill in
// between says one too many.
func (s *Store) push(c *cell, i int) error {
	if err := s.countPushed(c); err != nil {
		return err
	}
	return s.drop(c, i)
}

// countPushed counts one that is not kept for want of room, in the name of a file.
func (s *Store) countPushed(c *cell) error {
	dir := filepath.Join(s.dir, itemsFolder, c.name)
	old := filepath.Join(dir, c.pushedName())
	was := c.pushed
	c.pushed, c.last = c.pushed+1, s.opt.Now().UnixMilli()
	to := filepath.Join(dir, c.pushedName())
	var err error
	if was > 0 {
		err = os.Rename(old, to)
	}
	if was == 0 || errors.Is(err, os.ErrNotExist) {
		err = os.WriteFile(to, nil, 0o600)
	}
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	return nil
}

// drop removes an entry of a cell. One that is not there is gone already.
func (s *Store) drop(c *cell, i int) error {
	e := c.entries[i]
	if err := os.Remove(s.path(e)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("holds: %w", err)
	}
	c.entries = slices.Delete(c.entries, i, i+1)
	c.bytes -= e.room()
	return nil
}

// sweepEvery is how often a process looks for holds past their retention.
const sweepEvery = time.Hour

// sweep removes what is past its retention, what killed writers left, and cells
// that are empty then.
func (s *Store) sweep(x *index) error {
	now := s.opt.Now()
	if now.Sub(s.swept) < sweepEvery && !s.swept.IsZero() {
		return nil
	}
	if err := s.change(x); err != nil {
		return err
	}
	s.swept = now
	limit := s.expired()
	for name, c := range x.cells {
		for len(c.entries) > 0 && c.entries[0].at() < limit {
			if err := s.drop(c, 0); err != nil {
				return err
			}
		}
		dir := filepath.Join(s.dir, itemsFolder, name)
		if err := clean(dir); err != nil {
			return err
		}
		if len(c.entries) > 0 {
			continue
		}
		if c.pushed > 0 {
			if err := os.Remove(filepath.Join(dir, c.pushedName())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("holds: %w", err)
			}
		}
		if os.Remove(dir) == nil { // what else lies there stays
			delete(x.cells, name)
		}
	}
	return nil
}

// clean removes unfinished writes. The lock of the items is held: nobody writes.
func clean(dir string) error {
	es, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	for _, e := range es {
		if durable.IsTemp(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("holds: %w", err)
			}
		}
	}
	return nil
}

// expired is the time, in milliseconds since the epoch, before which holds are
// past their retention.
func (s *Store) expired() int64 { return s.opt.Now().Add(-s.opt.Retention).UnixMilli() }
