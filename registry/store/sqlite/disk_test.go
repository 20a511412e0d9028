package sqlite

import (
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
)

// disk is a file system in memory that keeps apart what programs see and what
// would survive a power cut: only what was synced, plus, when it is torn, any
// part of what was not.
type disk struct {
	mu    sync.Mutex
	rng   *rand.Rand
	names map[string]*inode // what programs see
	kept  map[string]*inode // names that survive: those of the last folder sync
	lie   bool              // syncs do nothing: the control
	dead  bool              // the power is off: everything fails
	ops   int               // writes, truncations and syncs so far
	cutAt int               // the power goes off before this operation; 0 is never
	torn  bool
	after map[string][]byte // the files as the next start finds them

	fail  func(op op, name string) int32 // injects a result code; nil or 0 is none
	syncs int
}

type op string

const (
	opWrite    op = "write"
	opSync     op = "sync"
	opTruncate op = "truncate"
)

type inode struct {
	live, kept []byte
	dirty      map[int]bool // blocks written since the last sync, even one that failed
	locks      dbLocks
	shm        shm
}

func newDisk(seed uint64, files map[string][]byte) *disk {
	d := &disk{rng: rand.New(rand.NewPCG(seed, 1)), names: map[string]*inode{}}
	for name, b := range files {
		d.names[name] = &inode{live: append([]byte(nil), b...), kept: append([]byte(nil), b...)}
	}
	d.kept = maps.Clone(d.names)
	return d
}

// killed is the disk as another process finds it after the one that used it
// was killed: caches live on, locks and shared memory do not.
func (d *disk) killed() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := newDisk(3, nil)
	for name, f := range d.names {
		n.names[name] = &inode{live: append([]byte(nil), f.live...), kept: append([]byte(nil), f.kept...), dirty: maps.Clone(f.dirty)}
		if d.kept[name] == f {
			n.kept[name] = n.names[name]
		}
	}
	return n
}

// off cuts the power now.
func (d *disk) off() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut()
}

// files is what programs see.
func (d *disk) files() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := map[string][]byte{}
	for name, f := range d.names {
		files[name] = append([]byte(nil), f.live...)
	}
	return files
}

// inject sets or, with nil, ends the injection of faults.
func (d *disk) inject(fail func(op, string) int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fail
}

const (
	rcOK       = 0
	rcIO       = 10
	rcFull     = 13
	rcFsync    = 10 | 4<<8
	rcBusy     = 5
	rcNotFound = 12
	rcCantOpen = 14
	rcShort    = 10 | 2<<8
)

// change counts an operation that changes something, and says whether it may
// go on. A write that the power cut meets is seen by the disk in part.
func (d *disk) change(o op, name string, do func()) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return rcIO
	}
	if d.fail != nil {
		if rc := d.fail(o, name); rc != 0 {
			if f := d.names[name]; f != nil && o == opSync {
				clear(f.dirty) // as Linux does: the blocks count as clean, and are not on the disk
			}
			return rc
		}
	}
	d.ops++
	if d.cutAt != 0 && d.ops >= d.cutAt {
		if o != opSync { // half of the time it has reached the cache
			if d.rng.IntN(2) == 0 {
				do()
			}
		}
		d.cut()
		return rcIO
	}
	do()
	return rcOK
}

func (d *disk) sync(f *inode, name string) int32 {
	return d.change(opSync, name, func() {
		d.syncs++
		if d.lie {
			return
		}
		f.flush()
		if strings.HasSuffix(name, "-wal") { // SQLite syncs the folder with a new write-ahead log
			d.kept = maps.Clone(d.names)
		}
	})
}

// cut works out what the next start will find. d.mu is held.
func (d *disk) cut() {
	d.dead = true
	names := d.kept
	if d.torn && d.rng.IntN(2) == 0 {
		names = d.names
	}
	d.after = map[string][]byte{}
	for name, f := range names {
		b := append([]byte(nil), f.kept...)
		if d.torn {
			b = d.tear(f)
		}
		d.after[name] = b
	}
}

// tear keeps a random subset of the unsynced blocks.
func (d *disk) tear(f *inode) []byte {
	b := append([]byte(nil), f.kept...)
	block := 4096
	if d.rng.IntN(4) == 0 {
		block = 512
	}
	if len(f.live) < len(b) && d.rng.IntN(2) == 0 {
		b = b[:len(f.live)]
	}
	keep := d.rng.IntN(3) // most, half, few
	for o := 0; o < len(f.live); o += block {
		e := min(o+block, len(f.live))
		if o < len(b) && e <= len(b) && string(b[o:e]) == string(f.live[o:e]) {
			continue
		}
		if d.rng.IntN(4) <= keep {
			continue
		}
		if len(b) < e {
			b = append(b, make([]byte, e-len(b))...)
		}
		copy(b[o:e], f.live[o:e])
	}
	return b
}

// flush makes durable what is dirty, and the size.
func (f *inode) flush() {
	if len(f.live) <= len(f.kept) {
		f.kept = f.kept[:len(f.live)]
	} else {
		f.kept = append(f.kept, make([]byte, len(f.live)-len(f.kept))...)
	}
	for b := range f.dirty {
		if o := b * 4096; o < len(f.live) {
			copy(f.kept[o:], f.live[o:min(o+4096, len(f.live))])
		}
	}
	clear(f.dirty)
}

func (f *inode) write(b []byte, off int) {
	if f.dirty == nil {
		f.dirty = map[int]bool{}
	}
	for p := off / 4096; p <= (off+len(b)-1)/4096; p++ {
		f.dirty[p] = true
	}
	if need := off + len(b); need > len(f.live) {
		f.live = append(f.live, make([]byte, need-len(f.live))...)
	}
	copy(f.live[off:], b)
}

// dbLocks are the five lock states of a database file.
type dbLocks struct {
	shared            int
	reserved, pending *handle
	exclusive         *handle
}

func (l *dbLocks) lock(h *handle, level int32) int32 {
	other := func(o *handle) bool { return o != nil && o != h }
	switch {
	case h.level >= level:
	case level == 1:
		if other(l.pending) || other(l.exclusive) {
			return rcBusy
		}
		l.shared++
		h.level = 1
	case level == 2:
		if other(l.reserved) {
			return rcBusy
		}
		l.reserved, h.level = h, 2
	default:
		if other(l.reserved) || other(l.pending) {
			return rcBusy
		}
		l.pending, h.level = h, 3
		if l.shared > 1 {
			return rcBusy
		}
		l.exclusive, h.level = h, 4
	}
	return rcOK
}

func (l *dbLocks) unlock(h *handle, level int32) {
	if h.level <= level {
		return
	}
	for _, p := range []**handle{&l.reserved, &l.pending, &l.exclusive} {
		if *p == h {
			*p = nil
		}
	}
	if level == 0 {
		l.shared--
	}
	h.level = level
}

// shm is the shared memory of the write-ahead log's index, and its eight locks.
type shm struct {
	regions []uintptr
	excl    [8]*handle
	shared  [8]int
	users   int
}

func (s *shm) lock(h *handle, off, n int, lock, exclusive bool) int32 {
	for i := off; i < off+n; i++ {
		mine := h.shm[i]
		switch {
		case !lock:
		case exclusive && (s.excl[i] != nil && s.excl[i] != h || s.shared[i] > btoi(mine == 1)):
			return rcBusy
		case !exclusive && s.excl[i] != nil && s.excl[i] != h:
			return rcBusy
		}
	}
	for i := off; i < off+n; i++ {
		switch {
		case !lock && h.shm[i] == 2:
			s.excl[i], h.shm[i] = nil, 0
		case !lock && h.shm[i] == 1:
			s.shared[i]--
			h.shm[i] = 0
		case lock && exclusive:
			s.excl[i], h.shm[i] = h, 2
		case lock && h.shm[i] == 0:
			s.shared[i]++
			h.shm[i] = 1
		}
	}
	return rcOK
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
