package runs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/oklog/ulid/v2"
)

func known2(t *testing.T, r *results, source int) (int, bool) {
	t.Helper()
	ids, more := r.read().of(source)
	return len(ids), more
}

// TestPowerCut: after the machine began anew without an orderly end of those who wrote,
// ids may be missing of everything that was held before, and the file says so; of what
// comes later none is.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct {
		name   string
		boot   uint64 // of the second start
		close  bool
		hurt   bool
		before bool // whether ids from before may be missing
	}{
		{"the same start", 1, false, false, false},
		{"ended in order", 2, true, false, false},
		{"cut", 2, false, false, true},
		{"cut within a record", 2, false, true, true},
		{"a system that does not say", 0, false, false, true},
		{"a system that does not say, ended in order", 0, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run"+resultsSuffix)
			add := func(r *results, source, sources int) {
				t.Helper()
				if err := r.add(source, Result{ID: "res_" + ulid.Make().String()}, 1, sources); err != nil {
					t.Fatal(err)
				}
			}
			first := &results{path: path, boot: min(c.boot, 1)}
			add(first, 0, 1)
			add(first, 0, 1)
			if c.close {
				if err := first.close(); err != nil {
					t.Fatal(err)
				}
			}
			if c.hurt {
				if st, err := os.Stat(path); err != nil || os.Truncate(path, st.Size()-9) != nil {
					t.Fatal(err)
				}
			}
			second := &results{path: path, boot: c.boot}
			add(second, 1, 2)
			if n, more := known2(t, second, 0); more != c.before || n != 2 && !c.hurt {
				t.Errorf("from before: %d, more %v", n, more)
			}
			if n, more := known2(t, second, 2); n != 0 || more {
				t.Errorf("later: %d, more %v", n, more)
			}
		})
	}
}

// TestFull: once there are more results than are known by id, every source may have
// others.
func TestFull(t *testing.T) {
	r := &results{boot: 1}
	id := ulid.Make()
	for range MaxResults {
		r.buf = append(r.buf, encodeRecord(recordResult, 3, id, id, 0, 0)...)
		r.size += recordSize
	}
	if err := r.add(0, Result{ID: "res_" + id.String()}, 1, 1); err != nil {
		t.Fatal(err)
	}
	if n, more := known2(t, r, 0); n != 0 || !more {
		t.Errorf("%d, more %v", n, more)
	}
	if err := r.add(0, Result{ID: "res_x"}, 1, 1); err == nil {
		t.Error("no id, and recorded")
	}
}

// FuzzResults reads any bytes as the ids of a run: nothing of them is taken for whole
// that was not written.
func FuzzResults(f *testing.F) {
	id := ulid.Make()
	f.Add(encodeRecord(recordResult, 1, id, id, 7, 9))
	f.Add(append(encodeRecord(recordTorn, 4, id, id, 0, 0), encodeRecord(recordSeal, 0, id, id, 0, 0)...))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &results{buf: b, size: int64(len(b))}
		l := r.read()
		n := 0
		for _, ids := range l.ids {
			n += len(ids)
		}
		good := 0
		for rec := range recordsOf(b) {
			if rec.kind != 0 {
				good++
			}
		}
		if n > good || (good < len(b)/recordSize || len(b)%recordSize != 0) && !l.more && l.torn == 0 {
			t.Errorf("%d ids of %d good records in %d bytes, more %v", n, good, len(b), l.more)
		}
	})
}
