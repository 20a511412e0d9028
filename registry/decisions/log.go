package decisions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/spool"
	"github.com/pratique-dev/pratique/registry/vault"
)

// Contexts of the digests that entries carry.
const (
	ArgsContext   = "pratique/arguments/v1"
	ResultContext = "pratique/result/v1"
	ParamsContext = "pratique/params/v1"
)

const (
	maxName   = 256  // bytes of a name that is kept
	maxDetail = 1024 // bytes of a detail that is kept
	// reserve is kept free for each open call's outcome: a call that was let
	// through is never without the room to say how it ended.
	reserve = 4096
)

// A Log is this process's part of the decision log. Its methods may be called
// by several goroutines at once.
type Log struct {
	o    Options
	data string
	keys keys

	shares *vault.Shares

	turn    sync.RWMutex // before mu; for reading: the current part stays the current one
	name    string       // of a spool that is yet to be made; turn is held
	refused error        // why no new spool could be begun; turn is held
	asked   time.Time    // and when

	mu      sync.Mutex // guards what follows, and the order of entries
	cur     *part
	older   []*part  // left when their last open call ends
	final   []Anchor // heads of the parts that were left
	pending int      // entries that have a place in cur and are not written
	own     int64    // bytes of the parts before cur
	broken  error    // a part before cur could not be synced
	endErr  error    // of leaving parts
	ends    sync.WaitGroup
	closed  bool
	buf     []byte
	ids     *ulid.MonotonicEntropy
	day     int64 // since the epoch
	spent   map[credentials.AgentID]int64
	share   int64
}

// A Ticket joins a call's outcome to its decision. The zero Ticket is of no
// call.
type Ticket struct {
	part  *part
	call  string
	index uint64
	key   vault.EntryKey
}

// Call is the id of the call: call_ and a ULID.
func (t Ticket) Call() string { return t.call }

// Index is the place of the decision in its spool.
func (t Ticket) Index() uint64 { return t.index }

// Spool is the name of the spool of the decision, and of its outcome.
func (t Ticket) Spool() string {
	if t.part == nil {
		return ""
	}
	return t.part.spool.Name()
}

// Spool is the name of the spool that new calls go to: spool_ and a ULID.
func (l *Log) Spool() string { return l.current().spool.Name() }

func (l *Log) current() *part {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cur
}

// Decided puts a decision on record, before its effect. It fills V, Type, At
// (where zero), Call (where empty), N, Last, Args and Params; the arguments, which
// may be nil, go into the vault. With durable it returns once the entry survives a power
// cut. An entry whose Outcome is set (a refusal) has no outcome to come.
func (l *Log) Decided(ctx context.Context, e *registry.Entry, args []byte, durable bool) (Ticket, error) {
	if err := ctx.Err(); err != nil {
		return Ticket{}, err
	}
	if e.Run == "" || e.Call != "" && !strings.HasPrefix(e.Call, "call_") {
		return Ticket{}, fmt.Errorf("%w: run or call", ErrEntry)
	}
	e.V, e.Type = 1, registry.EntryDecision
	now := l.o.Now()
	if e.At == 0 {
		e.At = now.UnixMilli()
	}
	if e.Call == "" {
		e.Call = l.NewCall()
	}
	key, err := vault.NewKey(l.o.Rand)
	if err != nil {
		return Ticket{}, err
	}
	e.Args = credentials.Digest{}
	if args != nil {
		e.Args = key.Digest(ArgsContext, args)
	}
	if e.Params = (credentials.Digest{}); e.Whole != "" {
		e.Params = key.Digest(ParamsContext, []byte(e.Whole))
	}
	t, err := l.decide(now, e, &key, args)
	if err != nil {
		return Ticket{}, err
	}
	if durable {
		if err := t.part.spool.Sync(t.index + 1); err != nil {
			return Ticket{}, translate(err)
		}
	}
	return t, nil
}

// decide keeps the arguments and writes a decision, if its outcome will find room
// in the same spool.
func (l *Log) decide(now time.Time, e *registry.Entry, key *vault.EntryKey, args []byte) (Ticket, error) {
	if err := l.enter(true); err != nil {
		return Ticket{}, err
	}
	p := l.cur // until exit
	if err := p.vault.PutOf(now, string(e.Agent), e.Call, key, args); err != nil {
		return Ticket{}, errors.Join(fmt.Errorf("%w: %w", ErrVault, err), l.exit(nil))
	}
	t := Ticket{part: p, call: e.Call, key: *key}
	err := l.exit(func() (err error) {
		for _, o := range l.live() {
			if _, again := o.past.open[e.Call]; again {
				return fmt.Errorf("%w: the call is open already", ErrEntry)
			}
		}
		t.index, err = l.write(p, e)
		return err
	})
	return t, err
}

// write numbers, encodes and appends an entry to a part. mu is held.
func (l *Log) write(p *part, e *registry.Entry) (uint64, error) {
	if l.closed {
		return 0, ErrClosed
	}
	e.Name, e.Detail = cut(e.Name, maxName), cut(e.Detail, maxDetail)
	c := p.past.next(e.Run)
	e.N, e.Last = c.n, c.last
	record, err := appendEntry(l.buf[:0], e)
	if l.buf = record; err != nil {
		return 0, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	index, err := p.spool.Append(record)
	if err != nil {
		return 0, translate(err)
	}
	_ = p.past.take(index, e) // its counts are those of next
	if e.Agent != "" && l.spent != nil {
		l.spent[e.Agent] += int64(len(record))
	}
	return index, nil
}

// Finished puts the outcome of a call on record. It fills V, Type, At (where
// zero), Call, Run, Agent (where empty), N, Last and Result. A ticket is good
// once.
func (l *Log) Finished(t Ticket, e *registry.Entry, result []byte) error {
	e.V, e.Type, e.Call = 1, registry.EntryOutcome, t.call
	if e.At == 0 {
		e.At = l.o.Now().UnixMilli()
	}
	e.Result = credentials.Digest{}
	if result != nil {
		e.Result = t.key.Digest(ResultContext, result)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.part == nil || t.part != l.cur && !slices.Contains(l.older, t.part) {
		return ErrTicket
	}
	o, ok := t.part.past.open[t.call]
	if !ok || t.call == "" || o.index != t.index {
		return ErrTicket
	}
	e.Run = o.run
	if e.Agent == "" {
		e.Agent = o.agent
	}
	_, err := l.write(t.part, e)
	if err == nil {
		l.end(t.part)
	}
	return err
}

// Note puts any other entry on record. It fills V, At (where zero), N and Last.
func (l *Log) Note(e *registry.Entry) error {
	if e.Type == "" || e.Type == registry.EntryDecision || e.Type == registry.EntryOutcome {
		return fmt.Errorf("%w: type %q", ErrEntry, e.Type)
	}
	e.V = 1
	if e.At == 0 {
		e.At = l.o.Now().UnixMilli()
	}
	if err := l.enter(false); err != nil {
		return err
	}
	return l.exit(func() error {
		_, err := l.write(l.cur, e)
		return err
	})
}

// NewCall draws the id of a call: call_ and a ULID.
func (l *Log) NewCall() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return "call_" + l.newULID()
}

// newULID draws one. mu is held.
func (l *Log) newULID() string {
	now := ulid.Timestamp(l.o.Now())
	id, err := ulid.New(now, l.ids)
	if err != nil { // more in one millisecond than fit
		l.ids = ulid.Monotonic(l.o.Rand, 0)
		id = ulid.MustNew(now, l.ids)
	}
	return id.String()
}

// KeepPolicy keeps the text of a policy for replay, by the digest that entries
// name it with. Keeping it again costs nothing.
func (l *Log) KeepPolicy(d credentials.Digest, text []byte) error {
	return l.current().vault.PutPolicy(d, text)
}

// Sync returns once everything written so far survives a power cut.
func (l *Log) Sync() error {
	l.mu.Lock()
	live := l.live()
	l.mu.Unlock()
	for _, p := range live {
		if err := p.spool.Sync(p.spool.Size()); err != nil {
			return translate(err)
		}
	}
	return nil
}

// Anchor commits to what is written in the current spool, once that survives a
// power cut: an anchor never says more than a crash can leave.
func (l *Log) Anchor() (Anchor, error) {
	s := l.current().spool
	h := s.Head()
	if h.Size == 0 {
		return Anchor{Spool: s.Name()}, nil
	}
	if err := s.Sync(h.Size); err != nil {
		return Anchor{}, translate(err)
	}
	return anchorOf(s.Name(), h), nil
}

func anchorOf(name string, h spool.Head) Anchor {
	return Anchor{Spool: name, Size: h.Size, Root: h.Root, Chain: h.Chain}
}

// Run is the number of a run's latest entry that is or, when open calls end, will
// be written.
func (l *Log) Run(run string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cur.past.next(run).n - 1
}

// Open is how many calls are open.
func (l *Log) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened()
}

// Err is why the log is stopped, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	return translate(l.cur.spool.Err())
}

// Close syncs and ends the log. Calls that are open then are lost: whoever
// claims the spool next says so.
func (l *Log) Close() error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	l.ends.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.endErr
	for _, p := range l.older { // with calls open
		err = errors.Join(err, l.leave(p, true))
	}
	return errors.Join(err, l.leave(l.cur, false))
}

// cut bounds a text in bytes, at a character, and keeps it valid.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// translate turns the spool's errors into the log's.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, spool.ErrFull):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, spool.ErrStopped):
		return fmt.Errorf("%w: %w", ErrStopped, err)
	case errors.Is(err, spool.ErrClosed):
		return ErrClosed
	case errors.Is(err, spool.ErrRecord):
		return fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return err
}
