package sqlite

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/pratique-dev/pratique/registry/store"
)

// Every row carries a check that is bound to its own key. The Merkle root shows
// that something was changed; these show what: a changed byte, a row in another's
// place, a missing row. Whoever changes a row and its check alike is found by
// the root and the signed checkpoints.

// leafHash is the RFC 6962 hash of an entry, SHA-256(0x00 || entry).
func leafHash(entry []byte) [32]byte {
	var buf [1024]byte // nearly all entries: one pass, no allocation
	if len(entry) < len(buf) {
		return sha256.Sum256(buf[:1+copy(buf[1:], entry)])
	}
	h := sha256.New()
	h.Write(buf[:1])
	h.Write(entry)
	return [32]byte(h.Sum(nil))
}

// masked binds a leaf hash to its place: the index is mixed into its first
// eight bytes. It is its own inverse.
func masked(leaf [32]byte, seq uint64) [32]byte {
	n := binary.BigEndian.Uint64(leaf[:8]) ^ seq
	binary.BigEndian.PutUint64(leaf[:8], n)
	return leaf
}

// headSum is the check of the head row; notes is the number of checkpoint rows,
// so that a missing newest one shows.
func headSum(h store.Head, notes uint64) [32]byte {
	b := append(make([]byte, 0, 96), "pratique/head-row/v1\x00"...)
	b = binary.BigEndian.AppendUint64(b, h.Size)
	b = append(b, h.Root[:]...)
	return sha256.Sum256(binary.BigEndian.AppendUint64(b, notes))
}

// noteSum is the check of the n-th checkpoint row.
func noteSum(n, size uint64, text []byte) [32]byte {
	b := append(make([]byte, 0, 64+len(text)), "pratique/checkpoint-row/v1\x00"...)
	b = binary.BigEndian.AppendUint64(b, n)
	b = binary.BigEndian.AppendUint64(b, size)
	return sha256.Sum256(append(b, text...))
}
