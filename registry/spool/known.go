package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// err is what stops an opening: everything but a tear.
func (w *Walked) err(name string) error {
	bad := slices.DeleteFunc(slices.Clone(w.Findings), func(f Finding) bool { return f.Kind == Torn })
	if len(bad) == 0 {
		return nil
	}
	return &DamageError{Spool: name, Findings: bad}
}

// holds holds the walk against what is known elsewhere.
func (w *Walked) holds(name string, known Head) error {
	switch {
	case known.Size == 0:
		return nil
	case w.Head.Size < known.Size:
		return fmt.Errorf("%w: %s has %d records, %d are known", ErrBehind, name, w.Head.Size, known.Size)
	case w.At != known:
		return fmt.Errorf("%w: %s differs at record %d", ErrBehind, name, known.Size)
	}
	return nil
}

// ChainAt reads the chain after the first size records as it is stored, from the
// one segment that has it: quick, and no proof that the records are whole.
// ErrBehind: the spool does not reach so far.
func ChainAt(dir string, size uint64) (chain [32]byte, err error) {
	ordinals, err := segmentsIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s is gone", ErrBehind, filepath.Base(dir))
	}
	if err != nil {
		return chain, err
	}
	for _, n := range slices.Backward(ordinals) {
		b, err := readSegment(filepath.Join(dir, segmentName(n)))
		if err != nil {
			return chain, err
		}
		h, ok := parseHeader(b, nil, "")
		if !ok {
			return chain, &DamageError{Spool: filepath.Base(dir), Findings: []Finding{{Kind: Segment, Segment: n, Bytes: headerSize}}}
		}
		if h.first >= size {
			continue
		}
		for at := headerSize; ; {
			r, ok := parseRecord(b, at)
			if !ok {
				return chain, fmt.Errorf("%w: %s has fewer than %d records", ErrBehind, filepath.Base(dir), size)
			}
			if r.index == size-1 {
				return r.chain, nil
			}
			at = r.next
		}
	}
	return chain, fmt.Errorf("%w: %s has fewer than %d records", ErrBehind, filepath.Base(dir), size)
}

// ReadFrom visits the records from an index on and returns the index after the
// last. It checks no chain and stops quietly where no whole record stands: it is
// for following a spool that is written to.
func ReadFrom(dir string, from uint64, visit func(index uint64, record []byte) error) (next uint64, err error) {
	ordinals, err := segmentsIn(dir)
	if err != nil {
		return from, err
	}
	start := 0
	for i, n := range slices.Backward(ordinals) {
		first, err := firstOf(filepath.Join(dir, segmentName(n)))
		if err != nil {
			return from, err
		}
		if first <= from {
			start = i
			break
		}
	}
	for _, n := range ordinals[start:] {
		b, err := readSegment(filepath.Join(dir, segmentName(n)))
		if err != nil {
			return from, err
		}
		for at := headerSize; ; {
			r, ok := parseRecord(b, at)
			if !ok || !r.mark || r.index > from {
				break
			}
			at = r.next
			if r.index < from {
				continue
			}
			if err := visit(r.index, r.data); err != nil {
				return from, err
			}
			from++
		}
	}
	return from, nil
}

// firstOf is the index of a segment's first record.
func firstOf(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, headerSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return 0, err
	}
	h, ok := parseHeader(b, nil, "")
	if !ok {
		return 0, &DamageError{Spool: filepath.Base(filepath.Dir(path)), Findings: []Finding{{Kind: Segment, Bytes: headerSize}}}
	}
	return h.first, nil
}
