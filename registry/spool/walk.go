package spool

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"

	"github.com/pratique-dev/pratique/registry/ledger"
)

// A Kind says what is wrong; the zero Kind is none of them.
type Kind string

// The kinds of findings.
const (
	Torn    Kind = "torn"    // a crash cut the end: what was written last is not, or only partly, there
	Changed Kind = "changed" // records are not what was written
	Missing Kind = "missing" // records, or a whole segment, are gone from the middle
	Chain   Kind = "chain"   // a record is whole and does not follow from the one before: written without the key, or moved
	Segment Kind = "segment" // a segment's header is not what was written, or not of this spool
)

// A Finding is one thing that is wrong, with its place.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Index   uint64 `json:"index"`   // of the first record that it is about
	Segment uint64 `json:"segment"` // ordinal of the file
	Offset  int64  `json:"offset"`  // in the file
	Bytes   int64  `json:"bytes"`   // that it goes over; 0: not known
}

// String is for people.
func (f Finding) String() string {
	return fmt.Sprintf("%s: record %d, in %s at byte %d (%d bytes)", f.Kind, f.Index, segmentName(f.Segment), f.Offset, f.Bytes)
}

// A DamageError is ErrDamaged with the places.
type DamageError struct {
	Spool    string
	Findings []Finding
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%v: %s: %v", ErrDamaged, e.Spool, e.Findings[0])
}

// Unwrap makes errors.Is(err, ErrDamaged) true.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// WalkOptions say how a spool is read.
type WalkOptions struct {
	Key []byte // nil: neither chain nor headers are checked, only read
	// At asks for the head at that size beside the last; 0: not.
	At    uint64
	Visit func(index uint64, record []byte) error
	// Live: the spool may be written to meanwhile, so that a record that is only
	// half there at its end is no finding.
	Live bool
}

// A Walked is what a walk over a spool saw.
type Walked struct {
	Head     Head
	At       Head // at WalkOptions.At; zero where the spool does not reach there
	Findings []Finding
	Repairs  []Repair // what earlier openings mended
	segments []segment
	bytes    int64
	tree     ledger.Tree
}

type segment struct {
	header
	end    int64 // after its last record
	actual int64 // bytes of the file
	last   int64 // after the last byte that is not zero
}

const maxFindings = 1000

// Walk reads a whole spool. Damage is in the findings; an error is Visit's, or
// that the folder cannot be read.
func Walk(dir string, o WalkOptions) (*Walked, error) {
	ordinals, err := segmentsIn(dir)
	if err != nil {
		return nil, err
	}
	w := &walker{dir: dir, name: filepath.Base(dir), o: o}
	if o.Key != nil {
		w.mac = hmac.New(sha256.New, o.Key)
		w.Head.Chain = genesis(o.Key, w.name)
	}
	for i, n := range ordinals {
		if n != uint64(i) {
			w.find(Missing, uint64(i), 0, 0)
		}
		if err := w.segment(n, i == len(ordinals)-1); err != nil {
			return nil, err
		}
	}
	if w.Repairs, err = readRepairs(dir); err != nil {
		return nil, err
	}
	w.Head.Root = w.tree.Head().Root
	return &w.Walked, nil
}

// segmentsIn are the ordinals of a spool's segments, sorted.
func segmentsIn(dir string) ([]uint64, error) {
	es, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range es {
		if n, ok := parseSegmentName(e.Name()); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

type walker struct {
	Walked
	dir  string
	name string
	o    WalkOptions
	mac  hash.Hash
	gap  bool // the next record follows one that is lost: one finding is enough
}

func (w *walker) find(k Kind, seg uint64, off, n int64) {
	if len(w.Findings) < maxFindings {
		w.Findings = append(w.Findings, Finding{Kind: k, Index: w.Head.Size, Segment: seg, Offset: off, Bytes: n})
	}
}

// segment reads one segment. A live one is read again when its end looks odd:
// it may have been written to between two reads.
func (w *walker) segment(ordinal uint64, last bool) error {
	path := filepath.Join(w.dir, segmentName(ordinal))
	var b []byte
	var err error
	for range 4 {
		if b, err = readSegment(path); err != nil {
			return err
		}
		if !last || !w.o.Live || quiet(b) {
			break
		}
	}
	seg := segment{actual: int64(len(b)), last: int64(len(bytes.TrimRight(b, "\x00")))}
	w.bytes += seg.actual
	var ok bool
	if seg.header, ok = parseHeader(b, w.o.Key, w.name); !ok || seg.ordinal != ordinal {
		w.find(Segment, ordinal, 0, headerSize)
		if seg.size == 0 {
			seg.size = max(seg.actual, minSegment)
		}
	} else if w.o.Key != nil && (seg.first != w.Head.Size || seg.chain != w.Head.Chain) {
		w.missing(&seg)
	}
	whole := b
	if pad := seg.size - seg.actual; pad > 0 {
		whole = append(b, make([]byte, pad)...)
	} else if pad < 0 {
		whole = b[:seg.size]
	}
	if err := w.records(&seg, whole, last); err != nil {
		return err
	}
	if seg.actual != seg.size && !w.has(Torn, ordinal) {
		kind := Changed
		if last {
			kind = Torn // the file system's own part of a crash: the length
		}
		w.find(kind, ordinal, min(seg.actual, seg.size), max(seg.actual-seg.size, seg.size-seg.actual))
	}
	w.segments = append(w.segments, seg)
	return nil
}

func (w *walker) has(k Kind, seg uint64) bool {
	return slices.ContainsFunc(w.Findings, func(f Finding) bool { return f.Kind == k && f.Segment == seg })
}

// missing: a segment does not begin where the one before ended.
func (w *walker) missing(seg *segment) {
	kind := Missing
	if seg.first <= w.Head.Size {
		kind = Chain
	}
	w.find(kind, seg.ordinal, 24, 0)
	w.Head.Size, w.Head.Chain = seg.first, seg.chain
}

// readSegment reads a file that nobody needs twice; no file of ours is larger
// than a segment by much.
func readSegment(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if len(b) > 2*maxSegment {
		return nil, fmt.Errorf("%w: %s is too large", ErrDamaged, path)
	}
	return b, err
}

// quiet tells whether a segment ends in a whole record.
func quiet(b []byte) bool {
	used := bytes.TrimRight(b, "\x00")
	return len(used) <= headerSize || len(used) >= 4 && binary.BigEndian.Uint32(used[len(used)-4:]) == endMark
}

// records reads the records of a segment.
func (w *walker) records(seg *segment, b []byte, last bool) error {
	at := headerSize
	for at < len(b) {
		r, ok := parseRecord(b, at)
		if !ok {
			next, more := w.broken(seg, b, at, last)
			if !more {
				break
			}
			at = next
			continue
		}
		if last && !r.mark && cutMark(b[r.next-4:]) { // the record goes with its mark
			if !w.o.Live {
				w.find(Torn, seg.ordinal, int64(at), int64(r.next-at))
			}
			break
		}
		if err := w.record(seg, &r, at); err != nil {
			return err
		}
		at = r.next
	}
	seg.end = int64(at)
	return nil
}

// cutMark tells an end mark that was not written whole: the bytes that are
// there are right, and zeros follow.
func cutMark(b []byte) bool {
	mark := binary.BigEndian.AppendUint32(nil, endMark)
	for i, m := range mark {
		if b[i] != m {
			return allZero(b[i:])
		}
	}
	return false
}

// record takes one whole record.
func (w *walker) record(seg *segment, r *raw, at int) error {
	switch {
	case r.index != w.Head.Size:
		kind := Missing
		if r.index < w.Head.Size {
			kind = Chain
		}
		w.find(kind, seg.ordinal, int64(at), 0)
		w.Head.Size = r.index
	case w.mac != nil && !w.gap && !w.follows(r):
		w.find(Chain, seg.ordinal, int64(at), int64(r.next-at))
	}
	w.gap = false
	if !r.mark {
		w.find(Changed, seg.ordinal, int64(r.next-4), 4)
	}
	if w.o.Visit != nil {
		if err := w.o.Visit(r.index, r.data); err != nil {
			return err
		}
	}
	w.Head.Size, w.Head.Chain = r.index+1, r.chain
	if err := w.tree.Append(r.data); err != nil {
		return err
	}
	if w.o.At != 0 && w.Head.Size == w.o.At {
		w.At = w.Head
		w.At.Root = w.tree.Head().Root
	}
	return nil
}

func (w *walker) follows(r *raw) bool {
	w.mac.Reset()
	w.mac.Write(w.Head.Chain[:])
	w.mac.Write(r.data)
	var sum [32]byte
	return hmac.Equal(w.mac.Sum(sum[:0]), r.chain[:])
}

// broken looks at a place where no whole record stands: the end, a tear, or a
// change. more says that records follow at next.
func (w *walker) broken(seg *segment, b []byte, at int, last bool) (next int, more bool) {
	used := len(bytes.TrimRight(b[at:], "\x00"))
	if used == 0 {
		return at, false
	}
	if last && unwritten(b[at:at+used], at) {
		if !w.o.Live {
			w.find(Torn, seg.ordinal, int64(at), int64(used))
		}
		return at, false
	}
	if next, more = resync(b, at+1); more {
		w.find(Changed, seg.ordinal, int64(at), int64(next-at))
		if r, _ := parseRecord(b, next); r.index > w.Head.Size {
			w.Head.Size = r.index
			w.gap = true // what it should follow is not to be told
		}
		return next, true
	}
	switch {
	case !last || marked(b[at:at+used]):
		w.find(Changed, seg.ordinal, int64(at), int64(used))
	case !w.o.Live:
		w.find(Torn, seg.ordinal, int64(at), int64(used))
	}
	return at, false
}

// unwritten tells whether a block in b, which begins at an offset of the file,
// was never written: a power cut may keep later blocks and not the ones before
// them. Nothing that was synced lies behind such a block. Records have no runs of
// zeros of that length.
func unwritten(b []byte, at int) bool {
	if first := (at/blockSize+1)*blockSize - at; first <= len(b) && allZero(b[:first]) {
		return true
	}
	for p := (at + blockSize - 1) / blockSize * blockSize; p+blockSize <= at+len(b); p += blockSize {
		if allZero(b[p-at : p-at+blockSize]) {
			return true
		}
	}
	return false
}

// marked tells whether b ends as a record does that was written whole.
func marked(b []byte) bool {
	return len(b) >= overhead && binary.BigEndian.Uint32(b[len(b)-4:]) == endMark
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
