package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// maxSeqs is how many tools' highest seq is kept. What falls out is still
// covered by the list of lowered labels.
const maxSeqs = 16 << 10

const maxState = 2 << 20 // bytes of a state file: maxSeqs tools, and room

// ErrStateForm refuses a state that was not written by this package.
var ErrStateForm = errors.New("client state is damaged; restore it, or remove it and pin the root key again")

// Kept is what must survive a restart so that nobody can show an older truth
// (RULES.md 24, 28). Nothing in it ever goes down.
type Kept struct {
	Pins keyset.Pins
	// Checkpoint is the newest checkpoint of the registry log, a signed note.
	Checkpoint []byte
	// Seqs are the highest seq seen of each tool's labels.
	Seqs map[credentials.ToolID]uint64
}

// State keeps what was seen. One registry, one state; several processes may
// share it.
type State interface {
	// Load returns what is kept; the zero Kept if nothing was ever saved.
	Load(ctx context.Context) (Kept, error)
	// Save keeps k without lowering what others saved meanwhile, and returns
	// what holds then. It is durable when it returns.
	Save(ctx context.Context, k Kept) (Kept, error)
}

// Merge is the higher of each part of two states: what an implementation of
// State.Save writes. Two registries in one state are ErrStateForm.
func Merge(a, b Kept) (Kept, error) {
	if a.Pins.Iss != "" && b.Pins.Iss != "" && a.Pins.Iss != b.Pins.Iss {
		return Kept{}, fmt.Errorf("%w: it is another registry's", ErrStateForm)
	}
	hi, lo := a, b
	if b.Pins.Ver > a.Pins.Ver || a.Pins.Root == "" {
		hi, lo = b, a
	}
	out := Kept{Pins: hi.Pins}
	out.Pins.Seq = max(hi.Pins.Seq, lo.Pins.Seq)
	if lo.Pins.Checkpoint.Size > hi.Pins.Checkpoint.Size {
		out.Pins.Checkpoint = lo.Pins.Checkpoint
	}
	var err error
	if out.Checkpoint, err = newerNote(a.Checkpoint, b.Checkpoint); err != nil {
		return Kept{}, err
	}
	out.Seqs = make(map[credentials.ToolID]uint64, max(len(a.Seqs), len(b.Seqs)))
	maps.Copy(out.Seqs, a.Seqs)
	for t, s := range b.Seqs {
		out.Seqs[t] = max(out.Seqs[t], s)
	}
	trim(out.Seqs)
	return out, nil
}

func newerNote(a, b []byte) ([]byte, error) {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b), nil
	}
	_, ha, erra := ledger.ParseUnverified(a)
	_, hb, errb := ledger.ParseUnverified(b)
	switch {
	case erra != nil || errb != nil:
		return nil, fmt.Errorf("%w: checkpoint", ErrStateForm)
	case hb.Size > ha.Size:
		return b, nil
	}
	return a, nil
}

// trim drops the lowest seqs: the longest ago.
func trim(m map[credentials.ToolID]uint64) {
	if len(m) <= maxSeqs {
		return
	}
	seqs := slices.Sorted(maps.Values(m))
	least := seqs[len(seqs)-maxSeqs]
	maps.DeleteFunc(m, func(_ credentials.ToolID, s uint64) bool { return s < least })
	for t := range m { // equal ones at the edge
		if len(m) <= maxSeqs {
			break
		}
		if m[t] == least {
			delete(m, t)
		}
	}
}

// MemoryState keeps for the life of the process: for tests, and for those who
// pin the root by hand and can bear that an older key list is believed after a
// restart. The zero value is empty.
type MemoryState struct {
	mu sync.Mutex
	k  Kept
}

// Load implements State.
func (m *MemoryState) Load(context.Context) (Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.k.clone(), nil
}

// Save implements State.
func (m *MemoryState) Save(_ context.Context, k Kept) (Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	merged, err := Merge(m.k, k)
	if err != nil {
		return Kept{}, err
	}
	m.k = merged
	return merged.clone(), nil
}

func (k Kept) clone() Kept {
	k.Checkpoint, k.Seqs = slices.Clone(k.Checkpoint), maps.Clone(k.Seqs)
	return k
}

// FileState keeps in one private file (0600), written crash-safely under a lock
// beside it (the path with ".lock"). A file that is loose, foreign or damaged is
// an error, never "nothing kept": it holds the pinned root.
type FileState string

// stateFile is the JSON of a state file.
type stateFile struct {
	V          int         `json:"v"`
	Pins       keyset.Pins `json:"pins"`
	Checkpoint string      `json:"checkpoint,omitzero"`
	Seqs       []toolSeq   `json:"seqs,omitzero"` // sorted by tool
}

type toolSeq struct {
	Tool credentials.ToolID `json:"tool"`
	Seq  uint64             `json:"seq"`
}

// Load implements State.
func (f FileState) Load(context.Context) (Kept, error) {
	raw, err := durable.ReadPrivate(string(f), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return Kept{}, nil
	}
	if err != nil {
		return Kept{}, fmt.Errorf("client state: %w", err)
	}
	var s stateFile
	if err := canon.Unmarshal(raw, &s, canon.Limits{Bytes: maxState, Depth: 4, NoNull: true}); err != nil || s.V != 1 {
		return Kept{}, fmt.Errorf("%w: %s", ErrStateForm, string(f))
	}
	k := Kept{Pins: s.Pins, Checkpoint: []byte(s.Checkpoint), Seqs: make(map[credentials.ToolID]uint64, len(s.Seqs))}
	if _, err := credentials.ParseKeyID(string(s.Pins.Root)); err != nil {
		return Kept{}, fmt.Errorf("%w: %s: %w", ErrStateForm, string(f), err)
	}
	for _, t := range s.Seqs {
		k.Seqs[t.Tool] = t.Seq
	}
	return k, nil
}

// Save implements State.
func (f FileState) Save(ctx context.Context, k Kept) (Kept, error) {
	lock, err := durable.Lock(string(f) + ".lock")
	if err != nil {
		return Kept{}, fmt.Errorf("client state: %w", err)
	}
	defer lock.Unlock()
	old, err := f.Load(ctx)
	if err != nil {
		return Kept{}, err
	}
	merged, err := Merge(old, k)
	if err != nil {
		return Kept{}, err
	}
	s := stateFile{V: 1, Pins: merged.Pins, Checkpoint: string(merged.Checkpoint)}
	for _, t := range slices.Sorted(maps.Keys(merged.Seqs)) {
		s.Seqs = append(s.Seqs, toolSeq{t, merged.Seqs[t]})
	}
	raw, err := canon.Marshal(s)
	if err != nil {
		return Kept{}, err
	}
	if err := durable.WriteFile(string(f), append(raw, '\n'), 0o600); err != nil {
		return Kept{}, fmt.Errorf("client state: %w", err)
	}
	return merged, nil
}

// memory is the part of a running source that is kept: the current Kept, and
// the State behind it. It is safe for concurrent use.
type memory struct {
	state State

	mu     sync.Mutex // guards k and loaded
	k      Kept
	loaded bool
	saving sync.Mutex // one Save at a time, so that a slow one cannot undo a later one here
}

// load reads the state once.
func (m *memory) load(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded {
		return nil
	}
	k, err := m.state.Load(ctx)
	if err != nil {
		return err
	}
	if k.Seqs == nil {
		k.Seqs = make(map[credentials.ToolID]uint64)
	}
	m.k, m.loaded = k, true
	return nil
}

// pins are the pins to open the next document by.
func (m *memory) pins() keyset.Pins {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.k.Pins
}

// update changes what is kept and saves it, before anything is decided by it.
func (m *memory) update(ctx context.Context, f func(*Kept)) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	m.mu.Lock()
	next := m.k.clone()
	m.mu.Unlock()
	f(&next)
	got, err := m.state.Save(ctx, next)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for t, s := range m.k.Seqs { // seen during the save
		if s > got.Seqs[t] {
			if got.Seqs == nil {
				got.Seqs = make(map[credentials.ToolID]uint64)
			}
			got.Seqs[t] = s
		}
	}
	m.k = got
	return nil
}

// seq is the highest seq seen of a tool's labels.
func (m *memory) seq(t credentials.ToolID) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.k.Seqs[t]
}

// see notes the seq of a label whose signature is good. It is saved with the
// next update: a crash in between forgets at most what was seen since the last
// refresh of the keys.
func (m *memory) see(t credentials.ToolID, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.k.Seqs[t] >= seq {
		return
	}
	m.k.Seqs[t] = seq
	if len(m.k.Seqs) > maxSeqs+maxSeqs/8 {
		trim(m.k.Seqs)
	}
}
