package ledger

import (
	"context"
	"fmt"
)

// Auditor shows a store's rows as they are stored, for Verify: ascending,
// nothing repaired, no gap hidden, never stopping at a bad row. ok says
// whether a row agrees with the check stored in it, which is bound to the
// row's own key. An error is a failure of the engine, not a finding.
type Auditor interface {
	// AuditEntries visits at most max entry rows with seq >= from. leaf is
	// the stored leaf hash; ok is false if it is not that of data.
	AuditEntries(ctx context.Context, from uint64, max int, visit func(seq uint64, data []byte, leaf Hash, ok bool) error) error
	// AuditNotes visits at most max checkpoint rows with ordinal n >= from.
	// The ordinals of an intact store are 0, 1, 2, ...
	AuditNotes(ctx context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error
	// AuditHead gives the head row: what it says of the log, and how many
	// checkpoint rows there are. A missing row is ok=false and no error.
	AuditHead(ctx context.Context) (size uint64, root Hash, notes uint64, ok bool, err error)
}

// Kind says what is wrong; the zero Kind is none of them.
type Kind string

// Kinds of problems. Index counts entries, except where stated.
const (
	// KindTorn: entries beyond every checkpoint are missing, changed or not in
	// the head. Nothing acknowledged was in them: drop them.
	KindTorn Kind = "torn"
	// KindMissing: entry rows that a checkpoint or the head covers are gone.
	KindMissing Kind = "missing"
	// KindChanged: entry rows are not what a checkpoint covers.
	KindChanged Kind = "changed"
	// KindHead: the head row is gone or is not that of this log. Index is the
	// size that it claims.
	KindHead Kind = "head"
	// KindCheckpoint: a checkpoint row is gone, changed or moved. Index is the
	// row's ordinal.
	KindCheckpoint Kind = "checkpoint"
	// KindSignature: a checkpoint is intact as a row but not signed by a known
	// key. Index is the row's ordinal.
	KindSignature Kind = "signature"
	// KindRollback: the log is shorter than a checkpoint kept elsewhere.
	KindRollback Kind = "rollback"
	// KindFork: a signed checkpoint contradicts the log that the other
	// checkpoints agree with, or one kept elsewhere does. Index is its size.
	KindFork Kind = "fork"
)

// Problem is one finding: Count things from Index on.
type Problem struct {
	Kind   Kind   `json:"kind"`
	Index  uint64 `json:"index"`
	Count  uint64 `json:"count"`
	Detail string `json:"detail"`
}

// String is for people.
func (p Problem) String() string {
	if p.Count > 1 {
		return fmt.Sprintf("%s at %d to %d: %s", p.Kind, p.Index, p.Index+p.Count-1, p.Detail)
	}
	return fmt.Sprintf("%s at %d: %s", p.Kind, p.Index, p.Detail)
}

// Report is what Verify found.
type Report struct {
	Size        uint64    // entries that the walk went over
	Root        Hash      // their root; zero if some are missing or unknown
	Checkpoints uint64    // checkpoint rows whose signature and root are right
	Covered     uint64    // entries below the largest checkpoint that matches
	Problems    []Problem // ordered by stage: head, checkpoints, entries, end
	Dropped     uint64    // problems beyond the 10,000 that are listed
}

// OK says that nothing at all was found.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// TornOnly says that there are problems, but none beyond what a crash leaves
// behind: dropping everything from the first Problem's Index on repairs it.
func (r *Report) TornOnly() bool {
	for _, p := range r.Problems {
		if p.Kind != KindTorn {
			return false
		}
	}
	return len(r.Problems) > 0
}

// Plain makes an Auditor of a log that stores no checks: a head that was
// stored or signed elsewhere, and its checkpoint notes in order. Verify can
// then say between which checkpoints something changed, not where.
func Plain(r Reader, h Head, notes ...[]byte) Auditor { return plainAuditor{r, h, notes} }

type plainAuditor struct {
	r     Reader
	h     Head
	notes [][]byte
}

func (p plainAuditor) AuditEntries(ctx context.Context, from uint64, max int, visit func(uint64, []byte, Hash, bool) error) error {
	es, err := p.r.Read(ctx, from, max)
	if err != nil {
		return err
	}
	for i, e := range es {
		if err := visit(from+uint64(i), e, LeafHash(e), true); err != nil {
			return err
		}
	}
	return nil
}

func (p plainAuditor) AuditNotes(_ context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error {
	for n := from; n < uint64(len(p.notes)) && max > 0; n++ {
		max--
		_, h, err := ParseUnverified(p.notes[n])
		if err := visit(n, h.Size, p.notes[n], err == nil); err != nil {
			return err
		}
	}
	return nil
}

func (p plainAuditor) AuditHead(context.Context) (uint64, Hash, uint64, bool, error) {
	return p.h.Size, p.h.Root, uint64(len(p.notes)), true, nil
}
