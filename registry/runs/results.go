package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/internal/durable"
)

// The ids of a run's results stand in a file of records of one size, which
// processes append to. It is not synced for each: what a run holds results of is
// durable in the run's own file, and after a power cut this one says that ids may
// be missing. A record is
//
//	kind 1, flags 1, zero 2, source 4, id 16, call 16, engine 8, at 8, zero 4, CRC-32C 4
const (
	recordSize    = 64
	resultsSuffix = ".results"
)

const (
	recordResult byte = iota + 1
	recordStart       // of the machine: engine is its boot
	recordTorn        // before it records may be missing, of all sources below
	recordSeal        // everything before it is on the disk
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errResults says that an id has not its form, or that a record was not written.
var errResults = errors.New("runs: the ids of results cannot be recorded")

// results are the records of one run.
type results struct {
	path string // empty: in memory
	boot uint64 // of this machine; 0: not known

	mu   sync.Mutex // owns what follows
	buf  []byte     // in memory: all records
	f    *os.File   // to append to; nil: not yet
	size int64
}

// A known is a result by its id.
type known struct {
	id     string
	engine uint64 // that found it clear; 0: none
}

// engineSum stands for an engine in records. It is never 0.
func engineSum(engine string) uint64 {
	if engine == "" {
		return 0
	}
	sum := sha256.Sum256([]byte("pratique/engine/v1\x00" + engine))
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

func encodeRecord(kind byte, source int, id, call ulid.ULID, engine uint64, at int64) []byte {
	b := make([]byte, recordSize)
	b[0] = kind
	binary.LittleEndian.PutUint32(b[4:], uint32(source))
	copy(b[8:], id[:])
	copy(b[24:], call[:])
	binary.LittleEndian.PutUint64(b[40:], engine)
	binary.LittleEndian.PutUint64(b[48:], uint64(at))
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}

// add appends a result of a source. sources is how many the run has.
func (r *results) add(source int, res Result, at int64, sources int) error {
	id, err := ulid.ParseStrict(strings.TrimPrefix(res.ID, "res_"))
	if err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	call, err := ulid.ParseStrict(strings.TrimPrefix(res.Call, "call_"))
	if err != nil && res.Call != "" {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(sources); err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	if r.size >= MaxResults*recordSize { // no more are known by id, of any source
		return nil
	}
	return r.append(encodeRecord(recordResult, source, id, call, engineSum(res.Engine), at))
}

// append writes a record. mu is held.
func (r *results) append(b []byte) error {
	if r.path == "" {
		r.buf, r.size = append(r.buf, b...), r.size+recordSize
		return nil
	}
	if _, err := r.f.Write(b); err != nil {
		return fmt.Errorf("%w: %w", errResults, err)
	}
	r.size += recordSize // what others append is not counted until it is read
	return nil
}

// open opens the file. After a start of the machine that nobody expected, records
// may be missing before the place that it is opened at. mu is held.
func (r *results) open(sources int) error {
	if r.path == "" || r.f != nil {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(f, 2*MaxResults*recordSize))
	if err != nil {
		f.Close()
		return err
	}
	r.f, r.size = f, int64(len(b))
	boot, sealed := uint64(0), true
	for rec := range recordsOf(b) {
		sealed = rec.kind == recordSeal
		if rec.kind == recordStart {
			boot = rec.engine
		}
	}
	if len(b) > 0 && boot == r.boot && boot != 0 {
		return nil
	}
	if !sealed || len(b)%recordSize != 0 {
		if pad := len(b) % recordSize; pad != 0 { // a record that was torn: what follows begins a new one
			if _, err := f.Write(make([]byte, recordSize-pad)); err != nil {
				return err
			}
		}
		if err := r.append(encodeRecord(recordTorn, sources, ulid.ULID{}, ulid.ULID{}, 0, 0)); err != nil {
			return err
		}
	}
	if err := r.append(encodeRecord(recordStart, 0, ulid.ULID{}, ulid.ULID{}, r.boot, 0)); err != nil {
		return err
	}
	return f.Sync()
}

// A ledger is what the records said when they were read.
type ledger struct {
	ids  map[int][]known // by source
	torn int             // of sources below, ids may be missing
	more bool            // of all
}

// of are the results of a source, and whether there may be others.
func (l *ledger) of(source int) (ids []known, more bool) {
	return l.ids[source], l.more || source < l.torn
}

// read reads all records.
func (r *results) read() *ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &ledger{ids: map[int][]known{}}
	b := r.buf
	if r.path != "" {
		var err error
		if b, err = durable.ReadPrivate(r.path, 2*MaxResults*recordSize); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &ledger{more: true}
		}
		r.size = int64(len(b))
	}
	bad := false
	for rec := range recordsOf(b) {
		switch rec.kind {
		case 0:
			bad = true
		case recordTorn: // speaks of all that was before it
			l.torn, bad = max(l.torn, rec.source), false
		case recordResult:
			l.ids[rec.source] = append(l.ids[rec.source], known{"res_" + rec.id.String(), rec.engine})
		}
	}
	l.more = bad || len(b)%recordSize != 0 || len(b) >= MaxResults*recordSize
	return l
}

// A record as it was read; of one that is damaged, the kind is 0.
type record struct {
	kind   byte
	source int
	id     ulid.ULID
	engine uint64
}

func recordsOf(b []byte) func(yield func(record) bool) {
	return func(yield func(record) bool) {
		for ; len(b) >= recordSize; b = b[recordSize:] {
			x := b[:recordSize]
			var rec record
			if binary.LittleEndian.Uint32(x[60:]) == crc32.Checksum(x[:60], castagnoli) && x[0] >= recordResult && x[0] <= recordSeal {
				rec = record{kind: x[0], source: int(binary.LittleEndian.Uint32(x[4:])), engine: binary.LittleEndian.Uint64(x[40:])}
				copy(rec.id[:], x[8:24])
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// publish moves the records from memory into a file.
func (r *results) publish(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.path != "" {
		return nil
	}
	b := append(encodeRecord(recordStart, 0, ulid.ULID{}, ulid.ULID{}, r.boot, 0), r.buf...)
	if err := durable.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	r.path, r.buf = path, nil
	return nil
}

// close has everything on the disk, and says so in the file.
func (r *results) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	err := r.f.Sync()
	if err == nil {
		if err = r.append(encodeRecord(recordSeal, 0, ulid.ULID{}, ulid.ULID{}, 0, 0)); err == nil {
			err = r.f.Sync()
		}
	}
	err = errors.Join(err, r.f.Close())
	r.f = nil
	return err
}

// bootID tells one run of the machine from another; 0 where the system does not
// say.
func bootID() uint64 {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	return engineSum("boot " + string(bytes.TrimSpace(b)))
}
