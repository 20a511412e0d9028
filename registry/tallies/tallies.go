// Package tallies counts the calls that rules about rates and known values look at:
// how often an agent called an item in the last minute, hour and day and in this run,
// and which values it has sent to a place before.
//
// Only calls that were let through count, from the moment of their decision on, and
// counting and deciding are one step: of two calls at once, in one process or in two,
// one sees the other. Values are kept as digests under a key of the folder, never as
// they are. A file that is damaged, or that cannot be written, counts as every rate
// passed and every value new: the zero policy.Counts.
package tallies

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Errors of tallies. None repeats a value.
var (
	ErrDamaged = errors.New("tallies: the file of an agent's counts is damaged")
	ErrLimit   = errors.New("tallies: more items or values than are counted for one agent")
)

// Bounds of one agent's file.
const (
	MaxItems  = 1024 // that rules count
	MaxKnown  = 4096 // values of one place; of more, the oldest are new again
	MaxRuns   = 256  // that an item is counted in; of more, the one that called it longest ago begins anew
	MaxValues = 256  // of one place in one call; with more, the place is new
	maxFile   = 16 << 20
	keyFile   = "key"
	suffix    = ".counts"
)

// kept is how many minutes are: a day, and the one that is not over.
const kept = 24*60 + 1

// A Store is a folder of counts, which several processes may use.
type Store struct {
	files shelf.Shelf
	now   func() time.Time
	rand  io.Reader

	mu  sync.Mutex // owns key
	key []byte
}

// Open opens the folder, and makes it where it is missing. now and rand must not be
// nil.
func Open(dir string, now func() time.Time, rand io.Reader) (*Store, error) {
	f, err := shelf.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("tallies: %w", err)
	}
	return &Store{files: f, now: now, rand: rand}, nil
}

// NewMemory is a store that ends with the process.
func NewMemory(now func() time.Time, rand io.Reader) *Store {
	return &Store{files: shelf.Memory(), now: now, rand: rand}
}

// A Subject is what is counted together.
type Subject struct {
	Agent string // the agent, or what stands for those of launches; a file name
	Run   string
	Item  string // origin, method and name in one; any text
}

// Values are those of a call by place, as policy.Needs names it. nil is a place that
// could not be seen, which is new. An empty list is one that is absent: it is new where
// all places are, and else says nothing, as a mail without cc.
type Values map[string][]string

// absent tells whether no place has a value.
func (v Values) absent() bool {
	for _, list := range v {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// Decide shows the counts of a call to decide, under the lock of the agent's file, and
// counts the call where it returns true. What cannot be read is shown as the zero
// Counts, and counts nothing. After an error a call that decide let through must not
// go on: it was not counted.
func (s *Store) Decide(ctx context.Context, sub Subject, values Values, decide func(policy.Counts) bool) error {
	file := sub.Agent + suffix
	unlock, err := s.files.Lock(ctx, file)
	if err != nil {
		decide(policy.Counts{})
		return fmt.Errorf("tallies: %w", err)
	}
	defer unlock()
	d, key, err := s.read(file)
	if err != nil {
		decide(policy.Counts{})
		return err
	}
	minute := s.now().Unix() / 60
	t := d.of(sub, minute)
	counts := policy.Counts{Known: true, Run: t.runCount(sub.Run), Minute: t.since(minute, 1), Hour: t.since(minute, 60), Day: t.since(minute, kept-1)}
	sums := map[string][]string{}
	for place, list := range values {
		if list != nil && len(list) == 0 && !values.absent() {
			continue
		}
		sums[place] = digests(key, place, list)
		if !t.knows(place, sums[place], len(list)) {
			counts.New = append(counts.New, place)
		}
	}
	slices.Sort(counts.New)
	data, err := d.with(sub, t.counted(sub.Run, minute, sums), minute).bytes()
	if err != nil { // it would not be known afterwards
		decide(policy.Counts{})
		return err
	}
	if !decide(counts) {
		return nil
	}
	if err := s.files.Write(file, data); err != nil {
		return fmt.Errorf("tallies: %w", err)
	}
	return nil
}

// digests are those of values under the folder's key.
func digests(key []byte, place string, list []string) []string {
	out := make([]string, 0, min(len(list), MaxValues))
	for _, v := range list[:min(len(list), MaxValues)] {
		h := hmac.New(sha256.New, key)
		_, _ = io.WriteString(h, place+"\x00"+v)
		out = append(out, base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// read is the document of an agent, with the folder's key.
func (s *Store) read(file string) (*document, []byte, error) {
	key, err := s.secret()
	if err != nil {
		return nil, nil, err
	}
	raw, _, err := s.files.Read(file, maxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	d := &document{}
	if raw == nil {
		return d, key, nil
	}
	if err := json.Unmarshal(raw, d, json.RejectUnknownMembers(true)); err != nil || d.check() != nil {
		return nil, nil, ErrDamaged
	}
	return d, key, nil
}

// secret is the folder's key, which is drawn where there is none: then nothing is
// known of any value.
func (s *Store) secret() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	unlock, err := s.files.Lock(context.Background(), keyFile)
	if err != nil {
		return nil, fmt.Errorf("tallies: %w", err)
	}
	defer unlock()
	key, _, err := s.files.Read(keyFile, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if key == nil {
		key = make([]byte, sha256.Size)
		if _, err := io.ReadFull(s.rand, key); err != nil {
			return nil, fmt.Errorf("tallies: %w", err)
		}
		if err := s.files.Write(keyFile, key); err != nil {
			return nil, fmt.Errorf("tallies: %w", err)
		}
	}
	if len(key) != sha256.Size {
		return nil, ErrDamaged
	}
	s.key = key
	return key, nil
}
