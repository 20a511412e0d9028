package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// VerifyOptions say what to verify against.
type VerifyOptions struct {
	// Policy holds every key that has ever signed checkpoints of this log, the
	// retired ones too, and normally demands no witnesses.
	Policy Policy
	// Outside are checkpoint notes kept elsewhere: a published copy, what a
	// client or a witness saw. Without one, a consistent rollback of the whole
	// store cannot be seen.
	Outside [][]byte
	// Progress, if set, is called now and then with the entries read so far.
	Progress func(done uint64)
}

// errAuditor says that a store does not keep what Auditor asks for.
var errAuditor = errors.New("ledger: auditor gave rows out of order")

// maxProblems bounds a Report on a store of which little is left.
const maxProblems = 10_000

// auditPage is how many rows are asked for at once.
const auditPage = 512

// Verify walks a whole store: every entry is folded and compared with every
// signed checkpoint and the head; every row with the check stored in it. What
// does not agree is located. An error means that the walk could not be made.
// The store may be appended to meanwhile.
func Verify(ctx context.Context, a Auditor, opt VerifyOptions) (Report, error) {
	w := &walk{a: a, opt: opt}
	for _, stage := range []func(context.Context) error{w.readHead, w.readNotes, w.readOutside, w.readEntries, w.finish} {
		if err := stage(ctx); err != nil {
			return w.rep, fmt.Errorf("ledger: verify: %w", err)
		}
	}
	return w.rep, nil
}

// walk is one run of Verify.
type walk struct {
	a   Auditor
	opt VerifyOptions
	rep Report

	head      Head
	headNotes uint64
	headOK    bool   // the head row agrees with its own check
	rows      uint64 // checkpoint rows found, by ordinal

	anchors []anchor // signed heads to compare with, by size
	newest  uint64   // largest size that some checkpoint inside the store signs
	covered uint64   // below it nothing can be a torn tail

	tree  Tree   // folded from the entries; where data and leaf differ, from leaf
	alt   *Tree  // the same from data, while the two differ
	bad   []int  // problems of rows since the last match whose data and leaf differ
	lost  bool   // an entry is missing or unknown: roots say nothing any more
	good  uint64 // size at the last anchor that matched
	wrong []anchor
	next  uint64 // index of the next entry
	at    int    // first anchor not looked at
}

// anchor is a signed head that the log must agree with.
type anchor struct {
	Head
	n    uint64 // ordinal of the checkpoint row
	from anchorKind
}

type anchorKind int

const (
	fromRow anchorKind = iota
	fromHead
	fromOutside
)

func (w *walk) problem(k Kind, index, count uint64, format string, args ...any) {
	if len(w.rep.Problems) == maxProblems {
		w.rep.Dropped++
		return
	}
	w.rep.Problems = append(w.rep.Problems, Problem{k, index, count, fmt.Sprintf(format, args...)})
}

func (w *walk) readHead(ctx context.Context) error {
	size, root, notes, ok, err := w.a.AuditHead(ctx)
	if err != nil {
		return err
	}
	w.head, w.headNotes, w.headOK = Head{size, root}, notes, ok
	if !ok {
		w.problem(KindHead, size, 1, "head row is missing or does not agree with its check")
	}
	return nil
}

// readNotes verifies every checkpoint row and collects what they sign.
func (w *walk) readNotes(ctx context.Context) error {
	next := uint64(0)
	visit := func(n, size uint64, note []byte, ok bool) error {
		cp, err := w.opt.Policy.Open(note)
		switch {
		case !ok:
			w.problem(KindCheckpoint, n, 1, "row for size %d does not agree with its check", size)
		case n > next:
			w.problem(KindCheckpoint, next, n-next, "rows are missing")
		case n < next:
			return errAuditor
		}
		if ok || n == next && !(w.headOK && n >= w.headNotes) {
			next = n + 1 // a row that was moved to its ordinal does not move the count
		}
		if ok {
			w.covered = max(w.covered, size)
			w.checkNote(n, size, cp, err)
		}
		if err == nil { // the signature vouches for the head, whatever the row says
			w.covered, w.newest = max(w.covered, cp.Size), max(w.newest, cp.Size)
			w.anchors = append(w.anchors, anchor{cp.Head, n, fromRow})
		}
		return nil
	}
	if err := pages(ctx, func(from uint64, seen func(uint64) bool) error {
		return w.a.AuditNotes(ctx, from, auditPage, func(n, size uint64, note []byte, ok bool) error {
			if !seen(n) {
				return errAuditor
			}
			return visit(n, size, note, ok)
		})
	}); err != nil {
		return err
	}
	w.rows = next
	if w.headOK && w.headNotes > next {
		w.problem(KindCheckpoint, next, w.headNotes-next, "rows that the head row counts are missing")
		w.covered = max(w.covered, w.head.Size) // what the lost rows covered is not known
	}
	return nil
}

// checkNote looks at what an intact row holds. That a later row has a smaller
// size is fine: each process's row rides in its own next append.
func (w *walk) checkNote(n, size uint64, cp Checkpoint, err error) {
	switch {
	case errors.Is(err, ErrSignature):
		w.problem(KindSignature, n, 1, "checkpoint for size %d is not signed by a known key", size)
	case err != nil:
		w.problem(KindCheckpoint, n, 1, "row for size %d: %v", size, err)
	case cp.Size != size:
		w.problem(KindCheckpoint, n, 1, "row for size %d holds the checkpoint of size %d", size, cp.Size)
	}
}

// readOutside takes the checkpoints kept elsewhere and orders all anchors.
func (w *walk) readOutside(context.Context) error {
	for i, raw := range w.opt.Outside {
		cp, err := w.opt.Policy.Open(raw)
		if err != nil {
			w.problem(KindSignature, uint64(i), 1, "checkpoint kept elsewhere: %v", err)
			continue
		}
		w.covered = max(w.covered, cp.Size)
		w.anchors = append(w.anchors, anchor{cp.Head, 0, fromOutside})
	}
	if w.headOK {
		w.anchors = append(w.anchors, anchor{w.head, 0, fromHead})
	}
	// Rows first, so that what is said of the others can build on them.
	slices.SortStableFunc(w.anchors, func(a, b anchor) int { return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.from, b.from)) })
	return nil
}

// pages calls read with the first key to visit until it visits none.
func pages(ctx context.Context, read func(from uint64, seen func(uint64) bool) error) error {
	from := uint64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		any, last := false, uint64(0)
		seen := func(key uint64) bool {
			ok := key >= from && (!any || key > last)
			any, last = true, key
			return ok
		}
		if err := read(from, seen); err != nil {
			return err
		}
		if !any || last == math.MaxUint64 {
			return nil
		}
		from = last + 1
	}
}
