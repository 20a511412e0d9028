package sqlite

import (
	"encoding/binary"
	"fmt"

	"github.com/pratique-dev/pratique/registry/store"
)

// Layout of the write-ahead log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const (
	walHeader   = 32
	walFrame    = 24 // before each page
	walMagic    = 0x377f0682
	walVersion  = 3007000
	walMaxStale = 1 << 20
)

// tail is what SQLite's recovery will drop from the end of a write-ahead log.
type tail struct {
	kind    string // "" when there is nothing to report
	dropped uint64 // bytes
	frames  int    // committed frames that stay
	detail  string
}

// inspect reads a write-ahead log as recovery does, and tells a tear from
// frames that an earlier round has left behind: the file is overwritten from
// its start, and what lies behind the newest commit then carries older salts.
func inspect(wal []byte) tail {
	if len(wal) == 0 {
		return tail{}
	}
	if len(wal) < walHeader {
		return tail{kind: store.RepairTornTail, dropped: uint64(len(wal)), detail: "incomplete header"}
	}
	be := binary.BigEndian
	size, ok := walPage(wal)
	if !ok {
		return tail{kind: store.RepairLostTail, dropped: uint64(len(wal)), detail: "header unreadable"}
	}
	order := walOrder(be.Uint32(wal))
	salt := wal[16:24]
	s0, s1 := be.Uint32(wal[24:]), be.Uint32(wal[28:])
	step := walFrame + size
	body := wal[walHeader:]
	valid, committed := walValid(body, salt, size, order, s0, s1)
	t := tail{frames: committed}
	uncommitted := valid - committed
	damaged := 0
	for i := committed; (i+1)*step <= len(body); i++ {
		if f := body[i*step:]; !walStale(f, salt) {
			t.dropped += uint64(step)
			damaged++
		}
	}
	part := len(body) % step
	t.dropped += uint64(part)
	if t.dropped > 0 {
		t.kind = store.RepairTornTail
		t.detail = fmt.Sprintf("%d frames of a transaction without commit, %d damaged frames, %d bytes of an incomplete frame",
			uncommitted, damaged-uncommitted, part)
	}
	return t
}

// walValid counts the frames from the start whose salts and checksums hold,
// and those up to the last commit among them.
func walValid(body, salt []byte, size int, order binary.ByteOrder, s0, s1 uint32) (valid, committed int) {
	be, step := binary.BigEndian, walFrame+size
	for (valid+1)*step <= len(body) {
		f := body[valid*step:]
		if be.Uint32(f) == 0 || string(f[8:16]) != string(salt) {
			break
		}
		s0, s1 = walSum(order, f[:8], s0, s1)
		s0, s1 = walSum(order, f[walFrame:step], s0, s1)
		if be.Uint32(f[16:]) != s0 || be.Uint32(f[20:]) != s1 {
			break
		}
		valid++
		if be.Uint32(f[4:]) != 0 {
			committed = valid
		}
	}
	return valid, committed
}

// walPage checks the header and returns the page size.
func walPage(wal []byte) (int, bool) {
	be := binary.BigEndian
	magic, size := be.Uint32(wal), be.Uint32(wal[8:])
	if magic&^1 != walMagic || be.Uint32(wal[4:]) != walVersion || size < 512 || size > 65536 || size&(size-1) != 0 {
		return 0, false
	}
	s0, s1 := walSum(walOrder(magic), wal[:24], 0, 0)
	return int(size), s0 == be.Uint32(wal[24:]) && s1 == be.Uint32(wal[28:])
}

func walOrder(magic uint32) binary.ByteOrder {
	if magic&1 != 0 {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// walSum is the cumulative checksum over pairs of 32-bit words.
func walSum(o binary.ByteOrder, b []byte, s0, s1 uint32) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s0 += o.Uint32(b) + s1
		s1 += o.Uint32(b[4:]) + s0
	}
	return s0, s1
}

// walStale: a frame of an earlier round. The first salt counts the rounds.
func walStale(f, salt []byte) bool {
	be := binary.BigEndian
	age := be.Uint32(salt) - be.Uint32(f[8:])
	return be.Uint32(f) != 0 && age >= 1 && age <= walMaxStale
}
