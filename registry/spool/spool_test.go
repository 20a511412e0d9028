package spool

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
)

var key = bytes.Repeat([]byte{7}, 32)

func small() Options { return Options{Key: key, Segment: minSegment} }

func open(t testing.TB, dir string, o Options) *Spool {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func record(i int) []byte {
	return append(fmt.Appendf(nil, `{"n":%d,"x":"`, i), append(bytes.Repeat([]byte{'a' + byte(i%26)}, i*37%900), `"}`...)...)
}

func fill(t testing.TB, s *Spool, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if n, err := s.Append(record(i)); err != nil || n != uint64(i) {
			t.Fatalf("append %d: %d, %v", i, n, err)
		}
	}
}

func walk(t testing.TB, dir string, o WalkOptions) *Walked {
	t.Helper()
	if o.Key == nil {
		o.Key = key
	}
	w, err := Walk(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAppendReopenRoll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	var head Head
	for round := range 4 {
		o := small()
		o.Known = head
		n := 0
		o.Visit = func(i uint64, b []byte) error {
			if i != uint64(n) || !bytes.Equal(b, record(n)) {
				t.Fatalf("record %d is %q", i, b)
			}
			n++
			return nil
		}
		s := open(t, dir, o)
		if n != round*300 {
			t.Fatalf("round %d: %d records were there", round, n)
		}
		fill(t, s, n, n+300)
		head = s.Head()
		if err := s.Sync(head.Size); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append([]byte("x")); !errors.Is(err, ErrClosed) {
			t.Fatalf("append after the end: %v", err)
		}
	}
	w := walk(t, dir, WalkOptions{At: 700})
	if w.Head != head || len(w.Findings) != 0 || len(w.segments) < 4 || w.At.Size != 700 {
		t.Fatalf("walk: %+v, %d segments", w.Findings, len(w.segments))
	}
	for _, size := range []uint64{1, 150, 700, 1200} {
		c, err := ChainAt(dir, size)
		if at := walk(t, dir, WalkOptions{At: size}).At; err != nil || c != at.Chain {
			t.Errorf("chain at %d: %v", size, err)
		}
	}
	if _, err := ChainAt(dir, 1201); !errors.Is(err, ErrBehind) {
		t.Errorf("beyond the end: %v", err)
	}
	known := head
	known.Size++
	if _, err := Open(dir, Options{Key: key, Segment: minSegment, Known: known}); !errors.Is(err, ErrBehind) {
		t.Errorf("shorter than known: %v", err)
	}
	known = w.At
	known.Root[0]++
	if _, err := Open(dir, Options{Key: key, Segment: minSegment, Known: known}); !errors.Is(err, ErrBehind) {
		t.Errorf("other than known: %v", err)
	}
	if _, err := Open(dir, Options{Key: bytes.Repeat([]byte{8}, 32), Segment: minSegment}); !errors.Is(err, ErrDamaged) {
		t.Errorf("another key: %v", err)
	}
}

func TestBounds(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s"), small())
	for _, b := range [][]byte{nil, make([]byte, MaxRecord+1)} {
		if _, err := s.Append(b); !errors.Is(err, ErrRecord) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	if _, err := s.Append(make([]byte, MaxRecord)); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{{}, {Key: key[:31]}, {Key: key, Segment: minSegment - 1}, {Key: key, Segment: maxSegment + 1}, {Key: key, Quota: 1}} {
		if _, err := Open(t.TempDir(), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestQuota: a full spool refuses, and says so before it is.
func TestQuota(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	o := small()
	o.Quota = 3*minSegment + 1000
	s := open(t, dir, o)
	b := make([]byte, 10_000)
	n := 0
	for s.Room() > int64(len(b)+overhead)*3 {
		if _, err := s.Append(b); err != nil {
			t.Fatalf("after %d, with room for %d: %v", n, s.Room(), err)
		}
		n++
	}
	var err error
	for err == nil {
		_, err = s.Append(b)
		n++
	}
	if !errors.Is(err, ErrFull) || s.Err() != nil || n < 16 {
		t.Fatalf("after %d: %v", n, err)
	}
	if _, err := s.Append([]byte("small")); err != nil {
		t.Errorf("what still fits: %v", err)
	}
}

// TestStopsForGood: after one failed write or sync nothing is written or synced
// again, whatever the disk says later.
func TestStopsForGood(t *testing.T) {
	for _, kind := range []string{"write", "sync"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			fail := false
			syncs, writes := 0, 0
			o := small()
			o.Files.WriteAt = func(f *os.File, b []byte, off int64) (int, error) {
				writes++
				if fail && kind == "write" {
					return 0, syscall.ENOSPC
				}
				return f.WriteAt(b, off)
			}
			o.Files.Sync = func(f *os.File) error {
				syncs++
				if fail && kind == "sync" {
					return syscall.EIO
				}
				return nil
			}
			s := open(t, dir, o)
			fill(t, s, 0, 10)
			fail = true
			_, err := s.Append(record(10))
			if kind == "sync" {
				if err != nil {
					t.Fatal(err)
				}
				err = s.Sync(11)
			}
			if !errors.Is(err, ErrStopped) {
				t.Fatalf("got %v", err)
			}
			fail = false
			was := syncs + writes
			for range 3 {
				if _, err := s.Append(record(11)); !errors.Is(err, ErrStopped) {
					t.Errorf("append: %v", err)
				}
				if err := s.Sync(11); !errors.Is(err, ErrStopped) {
					t.Errorf("sync: %v", err)
				}
			}
			if syncs+writes != was {
				t.Error("the disk was asked again")
			}
			s.Close()
			open(t, dir, small())
		})
	}
}

// TestPowerCut: of what is on the disk only what was synced is left, with any
// part of what came after; every record that Sync returned for is there.
func TestPowerCut(t *testing.T) {
	for round := range 30 {
		rnd := rand.New(rand.NewPCG(uint64(round), 1))
		dir := filepath.Join(t.TempDir(), "s")
		var disk []byte // the first segment as of the last sync
		path := filepath.Join(dir, segmentName(0))
		o := small()
		o.Files.Sync = func(f *os.File) error {
			b, err := os.ReadFile(f.Name())
			disk = b
			return err
		}
		s := open(t, dir, o)
		fill(t, s, 0, 20)
		if err := s.Sync(20); err != nil {
			t.Fatal(err)
		}
		fill(t, s, 20, 20+1+rnd.IntN(20))
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cut := bytes.Clone(disk)
		for p := 0; p < len(now); p += blockSize { // each block is old or new
			if rnd.IntN(2) == 0 {
				copy(cut[p:p+blockSize], now[p:])
			}
		}
		s.Close()
		if err := os.WriteFile(path, cut, 0o600); err != nil {
			t.Fatal(err)
		}
		w := walk(t, dir, WalkOptions{})
		if w.Head.Size < 20 {
			t.Fatalf("round %d: %d records left: %v", round, w.Head.Size, w.Findings)
		}
		s = open(t, dir, small())
		fill(t, s, int(w.Head.Size), int(w.Head.Size)+3)
		s.Close()
		if w := walk(t, dir, WalkOptions{}); len(w.Findings) > 0 {
			t.Fatalf("round %d: after the repair: %v", round, w.Findings)
		}
	}
}

// TestEveryByte flips each byte of a small spool, header, records, end marks and
// the zeros behind them, one at a time: each is found, at the right record.
func TestEveryByte(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := open(t, dir, small())
	var ends []int
	for i := range 6 {
		fill(t, s, i, i+1)
		ends = append(ends, int(s.off))
	}
	s.Close()
	path := filepath.Join(dir, segmentName(0))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := func(p int) (uint64, bool) { // the record that a byte belongs to
		if p < headerSize {
			return 0, true
		}
		i, _ := slices.BinarySearch(ends, p+1)
		return uint64(i), i < len(ends)
	}
	for p := range ends[len(ends)-1] + 2*blockSize {
		b := bytes.Clone(good)
		b[p] ^= 1 << (p % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		want, inside := at(p)
		w := walk(t, dir, WalkOptions{})
		if len(w.Findings) == 0 || w.Findings[0].Index != want {
			t.Fatalf("byte %d: want record %d, found %v", p, want, w.Findings)
		}
		if torn := w.Findings[0].Kind == Torn; torn && inside {
			t.Errorf("byte %d of record %d passes for a tear", p, want)
		}
		if !inside {
			continue
		}
		if s, err := Open(dir, small()); !errors.Is(err, ErrDamaged) {
			s.Close()
			t.Fatalf("byte %d: open: %v", p, err)
		}
	}
}

// TestTears cuts the end at every byte of the last record.
func TestTears(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := open(t, dir, small())
	fill(t, s, 0, 5)
	end4 := s.off
	fill(t, s, 5, 6)
	end := s.off
	s.Close()
	path := filepath.Join(dir, segmentName(0))
	good, _ := os.ReadFile(path)
	for cut := end4 + 1; cut < end; cut++ {
		for _, short := range []bool{true, false} {
			b := bytes.Clone(good[:cut])
			if !short {
				b = append(b, make([]byte, len(good)-len(b))...)
			}
			os.WriteFile(path, b, 0o600)
			w := walk(t, dir, WalkOptions{})
			if !short && allZero(good[end4:cut]) { // nothing of it is there
				continue
			}
			if len(w.Findings) != 1 || w.Findings[0].Kind != Torn || w.Findings[0].Index != 5 || w.Head.Size != 5 {
				t.Fatalf("cut at %d of %d: %v", cut, end, w.Findings)
			}
		}
	}
	s = open(t, dir, small())
	fill(t, s, 5, 9)
	s.Close()
	w := walk(t, dir, WalkOptions{})
	if len(w.Findings) != 0 || len(w.Repairs) != 1 || w.Repairs[0].Index != 5 || w.Head.Size != 9 {
		t.Fatalf("after the repair: %+v %+v", w.Findings, w.Repairs)
	}
	if b, _ := os.ReadFile(path); len(b) != len(good) {
		t.Errorf("%d bytes", len(b))
	}
}

// TestTampering: whole records moved, taken out, doubled or forged with a right
// CRC; a segment missing or swapped.
func TestTampering(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := open(t, dir, small())
	offs := []int{headerSize}
	for i := range 6 {
		fill(t, s, i, i+1)
		offs = append(offs, int(s.off))
	}
	fill(t, s, 6, 400)
	s.Close()
	path := filepath.Join(dir, segmentName(0))
	good, _ := os.ReadFile(path)
	rec := func(i int) []byte { return good[offs[i]:offs[i+1]] }
	put := func(recs ...[]byte) []byte {
		b := bytes.Clone(good[:headerSize])
		for _, r := range recs {
			b = append(b, r...)
		}
		return append(b, make([]byte, len(good)-len(b))...)
	}
	forged := func(i int) []byte {
		r, _ := parseRecord(good, offs[i])
		data := bytes.Clone(r.data)
		data[3] ^= 1
		return appendRecord(nil, r.index, &r.chain, data)
	}
	renumbered := func(i int, n uint64) []byte {
		r, _ := parseRecord(good, offs[i])
		return appendRecord(nil, n, &r.chain, r.data)
	}
	for name, c := range map[string]struct {
		b    []byte
		kind Kind
		at   uint64
	}{
		"swapped":     {put(rec(0), rec(2), rec(1), rec(3)), Missing, 1},
		"taken out":   {put(rec(0), rec(1), rec(3), rec(4)), Missing, 2},
		"closed up":   {put(rec(0), rec(1), renumbered(3, 2)), Chain, 2},
		"doubled":     {put(rec(0), rec(1), rec(1), rec(2)), Chain, 2},
		"forged":      {put(rec(0), rec(1), forged(2), rec(3)), Chain, 2},
		"forged last": {put(rec(0), rec(1), forged(2)), Chain, 2},
		"front gone":  {put(rec(1), rec(2)), Missing, 0},
		"cut short":   {put(rec(0), rec(1)), Missing, 2}, // the next segment says so
	} {
		os.WriteFile(path, c.b, 0o600)
		w := walk(t, dir, WalkOptions{})
		if len(w.Findings) == 0 || w.Findings[0].Kind != c.kind || w.Findings[0].Index != c.at {
			t.Errorf("%s: %v", name, w.Findings)
		}
		if _, err := Open(dir, small()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: open: %v", name, err)
		}
	}
	os.WriteFile(path, good, 0o600)
	second := filepath.Join(dir, segmentName(1))
	os.Rename(second, second+".away")
	if w := walk(t, dir, WalkOptions{}); len(w.Findings) == 0 || w.Findings[0].Kind != Missing {
		t.Errorf("a segment gone: %v", w.Findings)
	}
	os.WriteFile(second, good, 0o600)
	if w := walk(t, dir, WalkOptions{}); len(w.Findings) == 0 || w.Findings[0].Kind != Segment {
		t.Errorf("a segment twice: %v", w.Findings)
	}
	os.Rename(second+".away", second)
	other := filepath.Join(filepath.Dir(dir), "other")
	os.Rename(dir, other)
	if w := walk(t, other, WalkOptions{}); len(w.Findings) == 0 || w.Findings[0].Kind != Segment {
		t.Errorf("under another name: %v", w.Findings)
	}
}

// TestGroupSync: eight writers that each wait for every record share syncs; one
// that is slow takes all along that came meanwhile.
func TestGroupSync(t *testing.T) {
	o := Options{Key: key, Segment: 1 << 20}
	gate := make(chan struct{})
	entered := make(chan struct{}, 100)
	first := true
	o.Files.Sync = func(*os.File) error {
		entered <- struct{}{}
		if !first {
			<-gate
		}
		return nil
	}
	s := open(t, filepath.Join(t.TempDir(), "s"), o)
	<-entered // the header's
	first = false
	fill(t, s, 0, 1)
	var all sync.WaitGroup
	all.Go(func() { s.Sync(1) })
	<-entered // it is in the kernel
	for i := range 8 {
		all.Go(func() {
			n, err := s.Append(record(i))
			if err == nil {
				err = s.Sync(n + 1)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	for s.Head().Size < 9 { // all eight have written; nobody of them is synced
		runtime.Gosched()
	}
	close(gate)
	all.Wait()
	if records, syncs := s.Synced(); records != 9 || syncs != 2 {
		t.Errorf("%d records in %d syncs, want 9 in 2", records, syncs)
	}
}

func TestWritersAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := open(t, dir, small())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				n, err := s.Append(record(i))
				if err == nil && i%20 == 0 {
					err = s.Sync(n + 1)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	live := func() *Walked { return walk(t, dir, WalkOptions{Live: true}) }
	for range 20 { // a reader meanwhile finds nothing wrong
		if w := live(); len(w.Findings) > 0 {
			t.Error(w.Findings)
		}
	}
	all.Wait()
	head := s.Head()
	s.Close()
	if w := walk(t, dir, WalkOptions{}); w.Head != head || head.Size != 1600 || len(w.Findings) > 0 {
		t.Errorf("%d records, %v", w.Head.Size, w.Findings)
	}
}

// FuzzWalk reads any bytes as the records of a segment. Where nothing but a tear
// is found, what is left in front of it is whole.
func FuzzWalk(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "s")
	s := open(f, dir, small())
	fill(f, s, 0, 4)
	end := s.off
	s.Close()
	good, _ := os.ReadFile(filepath.Join(dir, segmentName(0)))
	f.Add(good[headerSize:end])
	f.Add(good[headerSize : end-20])
	f.Add(binary.BigEndian.AppendUint32(nil, 0xffffffff))
	records := func(t *testing.T, b []byte) (*walker, int64) {
		w := &walker{name: "s", o: WalkOptions{Key: key}, mac: hmac.New(sha256.New, key)}
		w.Head.Chain = genesis(key, "s")
		var seg segment
		if err := w.records(&seg, b, true); err != nil {
			t.Fatal(err)
		}
		return w, seg.end
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		b := make([]byte, max(headerSize+len(in)+8192, 16<<10))
		copy(b[headerSize:], in)
		w, at := records(t, b)
		for _, f := range w.Findings {
			if f.Offset < headerSize || f.Offset+f.Bytes > int64(len(b)) {
				t.Fatalf("%v lies outside", f)
			}
		}
		if w.err("s") != nil {
			return
		}
		clear(b[at:])
		if again, end := records(t, b); len(again.Findings) > 0 || end != at || again.Head != w.Head {
			t.Fatalf("after the repair: %v", again.Findings)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "s"), Options{Key: key})
	rec := bytes.Repeat([]byte{'x'}, 500)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Append(rec); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDurable is one record made durable by 1 and 8 writers, and beside it
// the bare loop of pwrite and fdatasync.
func BenchmarkDurable(b *testing.B) {
	rec := bytes.Repeat([]byte{'x'}, 500)
	b.Run("bare", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "f"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		f.Write(make([]byte, DefaultSegment))
		f.Sync()
		off := int64(0)
		b.ReportAllocs()
		for b.Loop() {
			f.WriteAt(rec, off)
			if err := dataSync(f); err != nil {
				b.Fatal(err)
			}
			off = (off + int64(len(rec))) % (DefaultSegment - 500)
		}
	})
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "s"), Options{Key: key})
			b.ReportAllocs()
			work := make(chan struct{}, writers)
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for range work {
						n, err := s.Append(rec)
						if err == nil {
							err = s.Sync(n + 1)
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			all.Wait()
			records, syncs := s.Synced()
			b.ReportMetric(float64(records)/float64(syncs), "records/sync")
		})
	}
}
