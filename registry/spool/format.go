package spool

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// A segment is a header, records, and zeros up to its size.
//
//	header  magic 16 | ordinal 8 | first index 8 | size 8 | chain before 32 | MAC 32 | zeros to 128
//	record  length 4 | CRC-32C 4 | index 8 | chain 32 | record | end mark 4
//
// Numbers are big-endian. The CRC is over all of the record but itself. The end
// mark tells a record that was written whole, and changed since, from one that a
// crash cut: there the mark, or a whole block before it, is still zero.
const (
	headerSize = 128
	macAt      = 16 + 8 + 8 + 8 + 32
	recordHead = 4 + 4 + 8 + 32
	overhead   = recordHead + 4
	blockSize  = 512

	magic      = "pratique/spool/1"
	endMark    = 0xa55e9d5a
	lockName   = "lock"
	nextName   = "next"
	repairName = "repairs"
	suffix     = ".spool"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func segmentName(ordinal uint64) string { return fmt.Sprintf("%08d%s", ordinal, suffix) }

func parseSegmentName(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && segmentName(n) == name
}

func genesis(key []byte, name string) (chain [32]byte) {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("pratique/spool/v1\x00" + name))
	m.Sum(chain[:0])
	return chain
}

type header struct {
	ordinal, first uint64
	size           int64
	chain          [32]byte
}

func (h *header) encode(key []byte, name string) []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint64(b, h.ordinal)
	b = binary.BigEndian.AppendUint64(b, h.first)
	b = binary.BigEndian.AppendUint64(b, uint64(h.size))
	b = append(b, h.chain[:]...)
	m := hmac.New(sha256.New, key)
	m.Write([]byte("pratique/spool-segment/v1\x00" + name + "\x00"))
	m.Write(b)
	b = m.Sum(b)
	return b[:headerSize]
}

// parseHeader reads the header of a segment; ok says that it was made under the
// key for this spool.
func parseHeader(b, key []byte, name string) (h header, ok bool) {
	if len(b) < headerSize || string(b[:16]) != magic {
		return h, false
	}
	h.ordinal = binary.BigEndian.Uint64(b[16:])
	h.first = binary.BigEndian.Uint64(b[24:])
	size := binary.BigEndian.Uint64(b[32:])
	copy(h.chain[:], b[40:72])
	if size < headerSize || size > maxSegment {
		return h, false
	}
	h.size = int64(size)
	return h, key == nil || hmac.Equal(h.encode(key, name), b[:headerSize])
}

func appendRecord(b []byte, index uint64, chain *[32]byte, record []byte) []byte {
	at := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(len(record)))
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, index)
	b = append(b, chain[:]...)
	b = append(b, record...)
	binary.BigEndian.PutUint32(b[at+4:], sumOf(b[at:]))
	return binary.BigEndian.AppendUint32(b, endMark)
}

// sumOf is the CRC of a record without its end mark.
func sumOf(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[8:])
}

// A raw record as it lies in a segment.
type raw struct {
	index uint64
	chain [32]byte
	data  []byte
	next  int  // offset after it
	mark  bool // its end mark is right
}

// parseRecord reads the record at an offset; ok says that its CRC is right.
func parseRecord(b []byte, at int) (r raw, ok bool) {
	if at+overhead >= len(b) {
		return r, false
	}
	n := int(binary.BigEndian.Uint32(b[at:]))
	if n == 0 || n > MaxRecord || at+overhead+n > len(b) {
		return r, false
	}
	end := at + recordHead + n
	if binary.BigEndian.Uint32(b[at+4:]) != sumOf(b[at:end]) {
		return r, false
	}
	r.index = binary.BigEndian.Uint64(b[at+8:])
	copy(r.chain[:], b[at+16:])
	r.data, r.next = b[at+recordHead:end], end+4
	r.mark = binary.BigEndian.Uint32(b[end:]) == endMark
	return r, true
}

// resync is the next offset from at on where a record stands whose CRC is
// right.
func resync(b []byte, at int) (int, bool) {
	for p := at; p+overhead < len(b); p++ {
		if b[p] != 0 { // a length under 2^24 begins with zero
			continue
		}
		if _, ok := parseRecord(b, p); ok {
			return p, true
		}
	}
	return 0, false
}
