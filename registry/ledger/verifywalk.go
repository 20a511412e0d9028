package ledger

import "context"

// readEntries folds every entry and looks at the anchors on the way.
func (w *walk) readEntries(ctx context.Context) error {
	w.look() // anchors of the empty log
	return pages(ctx, func(from uint64, seen func(uint64) bool) error {
		if w.opt.Progress != nil {
			w.opt.Progress(w.next)
		}
		return w.a.AuditEntries(ctx, from, auditPage, func(seq uint64, data []byte, leaf Hash, ok bool) error {
			if !seen(seq) {
				return errAuditor
			}
			w.entry(seq, data, leaf, ok)
			return nil
		})
	})
}

// entry takes one row.
func (w *walk) entry(seq uint64, data []byte, leaf Hash, ok bool) {
	hash := LeafHash(data)
	ok = ok && hash == leaf
	if !ok && (seq > w.next || w.headOK && seq >= w.head.Size) {
		// Most likely one row whose key was changed: the gap that it left is
		// found where it was, and does not reach to here.
		w.entryProblem(KindChanged, seq, 1, "row does not agree with its check; it does not belong here")
		return
	}
	if seq > w.next {
		w.entryProblem(KindMissing, w.next, seq-w.next, "rows are missing")
		w.lost = true
		w.next = seq
	}
	if ok {
		w.fold(leaf, hash)
	} else {
		w.entryProblem(KindChanged, seq, 1, "entry does not agree with the leaf hash stored beside it")
		w.bad = append(w.bad, len(w.rep.Problems)-1)
		if w.alt == nil {
			w.alt = w.tree.Clone()
		}
		w.fold(leaf, hash)
	}
	w.next++
	w.look()
}

func (w *walk) fold(leaf, hash Hash) {
	w.tree.AppendHash(leaf)
	if w.alt != nil {
		w.alt.AppendHash(hash)
	}
}

// look compares the tree with all anchors of its size.
func (w *walk) look() {
	for ; w.at < len(w.anchors) && w.anchors[w.at].Size < w.next; w.at++ {
		// skipped: it lies in a gap, which is reported
	}
	for ; w.at < len(w.anchors) && w.anchors[w.at].Size == w.next; w.at++ {
		if a := w.anchors[w.at]; !w.lost {
			w.compare(a)
		}
	}
}

func (w *walk) compare(a anchor) {
	changed := "entry was changed; the leaf hash beside it is the one that was signed"
	match := w.tree.Head() == a.Head
	if !match && w.alt != nil && w.alt.Head() == a.Head {
		match, w.tree = true, *w.alt
		changed = "leaf hash was changed; the entry beside it is the one that was signed"
	}
	switch {
	case match && a.from != fromHead:
		w.settle(a, changed)
	case match:
	case len(w.bad) > 0:
		// Rows before here are located already, and neither of their two
		// readings fits: what was there is not known.
		w.lost = w.lost || a.from == fromRow
	case a.from == fromHead && len(w.wrong) == 0:
		w.problem(KindHead, a.Size, 1, "root in the head row is not that of the entries")
	case a.from == fromOutside && len(w.wrong) == 0:
		w.problem(KindFork, a.Size, 1, "entries contradict a checkpoint kept elsewhere; they agree with checkpoints inside up to %d", w.good)
	case a.from == fromRow:
		w.wrong = append(w.wrong, a)
	}
}

// settle takes note of a signed head that matches: whatever was in doubt
// before it is known now.
func (w *walk) settle(a anchor, changed string) {
	for _, x := range w.wrong {
		w.problem(KindFork, x.Size, 1, "checkpoint row %d is signed but contradicts the log", x.n)
	}
	for _, i := range w.bad {
		w.rep.Problems[i].Detail = changed
	}
	w.wrong, w.alt, w.bad = nil, nil, nil
	w.good = a.Size
	w.rep.Covered = max(w.rep.Covered, a.Size)
	if a.from == fromRow {
		w.rep.Checkpoints++
	}
}

// entryProblem reports entries, as torn where no checkpoint covers them.
func (w *walk) entryProblem(k Kind, index, count uint64, detail string) {
	if index >= w.covered {
		w.problem(KindTorn, index, count, "%s; no checkpoint covers them", detail)
		return
	}
	below := min(count, w.covered-index)
	w.problem(k, index, below, "%s", detail)
	if count > below {
		w.problem(KindTorn, w.covered, count-below, "%s; no checkpoint covers them", detail)
	}
}

// finish says what the end of the log shows.
func (w *walk) finish(ctx context.Context) error {
	// The head was read first, so it may only be behind what was read later if
	// the log has grown: then it has moved by now.
	size, _, notes, ok, err := w.a.AuditHead(ctx)
	if err != nil {
		return err
	}
	if w.headOK && (!ok || size < w.head.Size) {
		w.problem(KindHead, size, 1, "head row changed from size %d during the walk", w.head.Size)
		ok = false
	}
	w.rep.Size = w.next
	if !w.lost && len(w.bad) == 0 {
		w.rep.Root = w.tree.Head().Root
	}
	if len(w.wrong) > 0 {
		w.problem(KindChanged, w.good, w.wrong[0].Size-w.good, "entries do not fold to the signed root of checkpoint row %d, though each agrees with its check", w.wrong[0].n)
	}
	if w.headOK && ok {
		w.finishHead(size, notes)
	}
	end := w.newest
	if w.headOK {
		end = max(end, w.head.Size)
	}
	if w.next < end {
		w.entryProblem(KindMissing, w.next, end-w.next, "rows are missing at the end")
	}
	for _, a := range w.anchors {
		if a.from == fromOutside && a.Size > w.next {
			w.problem(KindRollback, w.next, a.Size-w.next, "log is shorter than a checkpoint of size %d kept elsewhere", a.Size)
		}
	}
	return nil
}

// finishHead compares what was found with what the head row says now.
func (w *walk) finishHead(size, notes uint64) {
	if notes < w.rows {
		w.problem(KindHead, size, 1, "head row counts %d checkpoints of %d", notes, w.rows)
	}
	if size < w.newest {
		w.problem(KindHead, size, 1, "head row is older than the checkpoint of size %d", w.newest)
	}
	if end := max(size, w.newest); w.next > end {
		w.entryProblem(KindChanged, end, w.next-end, "rows lie beyond the head")
	}
}
