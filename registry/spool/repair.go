package spool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/durable"
)

// A Repair is a torn end that an opening mended. It stays on record, so that a
// tear is never forgotten.
type Repair struct {
	Finding
	At int64 `json:"at"` // milliseconds since the epoch
}

// maxRepairs bounds what is kept: the latest.
const (
	maxRepairs     = 1000
	maxRepairsFile = 1 << 20
)

// mend drops what a crash left at the end, after putting that on record.
func (s *Spool) mend(w *Walked) error {
	if len(w.Findings) == 0 {
		return nil
	}
	for _, f := range w.Findings {
		s.mended = append(s.mended, Repair{Finding: f, At: s.o.Now().UnixMilli()})
	}
	if err := writeRepairs(s.dir, append(w.Repairs, s.mended...)); err != nil {
		return err
	}
	last := &w.segments[len(w.segments)-1]
	f, err := os.OpenFile(filepath.Join(s.dir, segmentName(last.ordinal)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	cut := last.end
	// Zeros first, then the length: whatever of it happens, the same tear or none
	// is found again.
	if n := min(last.actual, last.size) - cut; n > 0 {
		_, err = s.o.Files.WriteAt(f, make([]byte, n), cut)
	}
	if err == nil && last.actual > last.size {
		err = f.Truncate(last.size)
	}
	if err == nil && last.actual < last.size {
		_, err = s.o.Files.WriteAt(f, make([]byte, last.size-last.actual), last.actual)
	}
	if err == nil {
		err = f.Sync()
	}
	w.bytes += last.size - last.actual
	return errors.Join(err, f.Close())
}

func readRepairs(dir string) ([]Repair, error) {
	b, err := durable.ReadPrivate(filepath.Join(dir, repairName), maxRepairsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Repair
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for range bytes.Count(b, []byte("\n")) {
		var r Repair
		if err := json.UnmarshalDecode(d, &r, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, repairName, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func writeRepairs(dir string, all []Repair) error {
	var b bytes.Buffer
	for _, r := range all[max(0, len(all)-maxRepairs):] {
		if err := json.MarshalWrite(&b, r, json.Deterministic(true)); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return durable.WriteFile(filepath.Join(dir, repairName), b.Bytes(), 0o600)
}

// Time is when it was mended.
func (r Repair) Time() time.Time { return time.UnixMilli(r.At) }
