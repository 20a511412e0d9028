package writer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

// Snapshots keep one snapshot of the folded state, for a fast start. A
// snapshot that is damaged, of another version or not signed by this
// deployment is not used. One that is ours and that the log does not go on
// from stops the start: then it is the log that was put back or replaced.
type Snapshots struct {
	// Path is the file.
	Path string
	// Sign and Verify authenticate it with the role key `state`: otherwise
	// whoever can write the file could put an owner into the state that the log
	// does not know.
	Sign   func(message []byte) ([]byte, error)
	Verify func(message, signature []byte) error
}

const (
	snapshotContext = "pratique/state-snapshot/v1"
	maxSignature    = 1 << 10
)

// SaveSnapshot writes a snapshot of the present view, durably, in place of
// the one before.
func (w *Writer) SaveSnapshot() error {
	o := w.opt.Snapshot
	if o == nil {
		return nil
	}
	w.mu.Lock()
	view, tree, at := w.db.Read(), w.tree.Clone(), w.lastAt
	w.mu.Unlock()
	f, err := os.CreateTemp(filepath.Dir(o.Path), ".snapshot-*")
	if err != nil {
		return fmt.Errorf("writer: snapshot: %w", err)
	}
	defer os.Remove(f.Name()) // gone after the rename
	err = errors.Join(writeSnapshot(f, view, tree, at, o.Sign), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("writer: snapshot: %w", err)
	}
	if err := os.Rename(f.Name(), o.Path); err != nil {
		return fmt.Errorf("writer: snapshot: %w", err)
	}
	return nil // a snapshot lost to a power cut is only a slower start
}

func writeSnapshot(f io.Writer, view *state.View, tree *ledger.Tree, at int64, sign func([]byte) ([]byte, error)) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<18)
	h := tree.Head()
	head := binary.BigEndian.AppendUint64(nil, h.Size)
	head = append(head, h.Root[:]...)
	head = binary.BigEndian.AppendUint64(head, uint64(at))
	for _, x := range tree.Frontier() {
		head = append(head, x[:]...)
	}
	if err := binary.Write(out, binary.BigEndian, uint32(len(head))); err != nil {
		return err
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	if err := view.WriteSnapshot(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	sig, err := sign(snapshotMessage(sum))
	if err != nil {
		return err
	}
	_, err = f.Write(binary.BigEndian.AppendUint32(bytes.Clone(sig), uint32(len(sig))))
	return err
}

func snapshotMessage(sum hash.Hash) []byte {
	return sum.Sum([]byte(snapshotContext + "\x00"))
}

// loadSnapshot reads and verifies the snapshot into the writer. The log must
// still show that it is a prefix: foldTo holds the root against the head.
func (w *Writer) loadSnapshot(ctx context.Context) error {
	o := w.opt.Snapshot
	f, err := os.Open(o.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := verifySnapshot(f, o.Verify); err != nil {
		return err
	}
	r := bufio.NewReaderSize(f, 1<<18)
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil || n < 48 || n > 48+64*32 || (n-48)%32 != 0 {
		return state.ErrSnapshot
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return state.ErrSnapshot
	}
	h := ledger.Head{Size: binary.BigEndian.Uint64(head), Root: [32]byte(head[8:40])}
	var frontier []ledger.Hash
	for b := head[48:]; len(b) > 0; b = b[32:] {
		frontier = append(frontier, ledger.Hash(b[:32]))
	}
	tree, err := ledger.FromFrontier(h, frontier)
	if err != nil {
		return err
	}
	now, err := w.opt.Store.Head(ctx)
	if err != nil {
		return err
	}
	if now.Size < h.Size {
		return fmt.Errorf("%w: snapshot of size %d, log of size %d", ErrRollback, h.Size, now.Size)
	}
	if err := w.rehash(ctx, h); err != nil {
		return err
	}
	db, err := state.ReadSnapshot(r)
	if err != nil {
		return err
	}
	w.db, w.tree, w.lastAt = db, tree, int64(binary.BigEndian.Uint64(head[40:48]))
	return nil
}

// rehash reads every entry under a snapshot and holds their root against it: a
// start that folds only the tail must not go on over entries that somebody
// changed. It costs about 2 µs an entry; no event is decoded.
func (w *Writer) rehash(ctx context.Context, h ledger.Head) error {
	var tree ledger.Tree
	for tree.Size() < h.Size {
		entries, err := w.opt.Store.Read(ctx, tree.Size(), int(min(foldChunk, h.Size-tree.Size())))
		if err != nil && !errors.Is(err, store.ErrGap) && !errors.Is(err, store.ErrCorrupt) {
			return fmt.Errorf("writer: read: %w", err)
		}
		if err != nil || len(entries) == 0 {
			return fmt.Errorf("%w: entry %d: %w", ErrPoisoned, tree.Size(), cmp.Or(err, store.ErrGap))
		}
		for _, e := range entries {
			if err := tree.Append(e); err != nil {
				return fmt.Errorf("%w: %w", ErrPoisoned, err)
			}
		}
	}
	if tree.Head() != h {
		return fmt.Errorf("%w: the entries up to %d are not those that the snapshot was made of; pratique ledger verify says which", ErrPoisoned, h.Size)
	}
	return nil
}

// verifySnapshot checks the signature at the end of the file and rewinds it.
func verifySnapshot(f *os.File, verify func(message, signature []byte) error) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size < 64 {
		return state.ErrSnapshot
	}
	tail := make([]byte, 4)
	if _, err := f.ReadAt(tail, size-4); err != nil {
		return err
	}
	n := int64(binary.BigEndian.Uint32(tail))
	if n == 0 || n > maxSignature || n+4 >= size {
		return state.ErrSnapshot
	}
	sig := make([]byte, n)
	if _, err := f.ReadAt(sig, size-4-n); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size-4-n)); err != nil {
		return err
	}
	if err := verify(snapshotMessage(sum), sig); err != nil {
		return fmt.Errorf("%w: signature: %w", state.ErrSnapshot, err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
