package sqlite

import (
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The glue that makes SQLite use disks: a file system registered with it,
// whose functions find the disk by the folder of the path.

const vfsName = "pratique-disk"

var disks sync.Map // folder -> *disk

// handle is one open file.
type handle struct {
	d     *disk
	name  string
	f     *inode
	level int32
	shm   [8]int // 0 none, 1 shared, 2 exclusive
	usesM bool
	gone  bool // delete when closed
}

var (
	handleMu sync.Mutex
	handles  = map[uintptr]*handle{}
	lastID   uintptr
)

// osFile is what SQLite allocates for each open file.
type osFile struct {
	methods uintptr
	id      uintptr
}

// at reinterprets memory that SQLite owns.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

func fn[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func get(p uintptr) *handle {
	handleMu.Lock()
	defer handleMu.Unlock()
	return handles[at[osFile](p).id]
}

func diskOf(path string) (*disk, string) {
	d, ok := disks.Load(filepath.Dir(path))
	if !ok {
		return nil, ""
	}
	return d.(*disk), filepath.Base(path)
}

var (
	ioMethods  sqlite3.Tsqlite3_io_methods
	theVFS     sqlite3.Tsqlite3_vfs
	registered sync.Once
)

func registerVFS() {
	registered.Do(func() {
		tls := libc.NewTLS()
		name, err := libc.CString(vfsName)
		if err != nil {
			panic(err)
		}
		theVFS = *at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0)) // time, sleep, randomness
		theVFS.FiVersion, theVFS.FszOsFile, theVFS.FzName, theVFS.FpNext = 2, int32(unsafe.Sizeof(osFile{})), name, 0
		theVFS.FxOpen, theVFS.FxDelete, theVFS.FxAccess, theVFS.FxFullPathname = fn(vOpen), fn(vDelete), fn(vAccess), fn(vFullPath)
		m := &ioMethods
		m.FiVersion = 2
		m.FxClose, m.FxRead, m.FxWrite, m.FxTruncate, m.FxSync = fn(fClose), fn(fRead), fn(fWrite), fn(fTruncate), fn(fSync)
		m.FxFileSize, m.FxLock, m.FxUnlock, m.FxCheckReservedLock = fn(fSize), fn(fLock), fn(fUnlock), fn(fReserved)
		m.FxFileControl, m.FxSectorSize, m.FxDeviceCharacteristics = fn(fControl), fn(fSector), fn(fDevice)
		m.FxShmMap, m.FxShmLock, m.FxShmBarrier, m.FxShmUnmap = fn(fShmMap), fn(fShmLock), fn(fShmBarrier), fn(fShmUnmap)
		if rc := sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&theVFS)), 0); rc != 0 {
			panic(rc)
		}
	})
}

func vOpen(_ *libc.TLS, _ uintptr, name, file uintptr, flags int32, out uintptr) int32 {
	*at[osFile](file) = osFile{}
	if name == 0 {
		return rcCantOpen // no temporary files
	}
	d, base := diskOf(libc.GoString(name))
	if d == nil {
		return rcCantOpen
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[base]
	if f == nil {
		if d.dead || flags&sqlite3.SQLITE_OPEN_CREATE == 0 {
			return rcCantOpen
		}
		f = &inode{}
		d.names[base] = f
	}
	handleMu.Lock()
	defer handleMu.Unlock()
	lastID++
	handles[lastID] = &handle{d: d, name: base, f: f, gone: flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE != 0}
	*at[osFile](file) = osFile{uintptr(unsafe.Pointer(&ioMethods)), lastID}
	if out != 0 {
		*at[int32](out) = flags
	}
	return rcOK
}

func vDelete(_ *libc.TLS, _ uintptr, name uintptr, dirSync int32) int32 {
	d, base := diskOf(libc.GoString(name))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return rcIO
	}
	delete(d.names, base)
	if dirSync != 0 && !d.lie {
		delete(d.kept, base)
	}
	return rcOK
}

func vAccess(_ *libc.TLS, _ uintptr, name uintptr, flags int32, out uintptr) int32 {
	d, base := diskOf(libc.GoString(name))
	*at[int32](out) = 0
	if d == nil {
		return rcOK
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[base]
	if f != nil && (flags != sqlite3.SQLITE_ACCESS_EXISTS || len(f.live) > 0) {
		*at[int32](out) = 1
	}
	return rcOK
}

func vFullPath(_ *libc.TLS, _ uintptr, name uintptr, n int32, out uintptr) int32 {
	b := append([]byte(libc.GoString(name)), 0)
	if len(b) > int(n) {
		return rcCantOpen
	}
	copy(bytesAt(out, n), b)
	return rcOK
}

func fClose(_ *libc.TLS, p uintptr) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.f.locks.unlock(h, 0)
	if h.gone {
		delete(h.d.names, h.name)
	}
	handleMu.Lock()
	defer handleMu.Unlock()
	delete(handles, at[osFile](p).id)
	return rcOK
}

func fRead(_ *libc.TLS, p, buf uintptr, n int32, off sqlite3.Tsqlite3_int64) int32 {
	h, b := get(p), bytesAt(buf, n)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.dead {
		return rcIO
	}
	got := 0
	if int(off) < len(h.f.live) {
		got = copy(b, h.f.live[off:])
	}
	if got < len(b) {
		clear(b[got:])
		return rcShort
	}
	return rcOK
}

func fWrite(_ *libc.TLS, p, buf uintptr, n int32, off sqlite3.Tsqlite3_int64) int32 {
	h := get(p)
	return h.d.change(opWrite, h.name, func() { h.f.write(bytesAt(buf, n), int(off)) })
}

func fTruncate(_ *libc.TLS, p uintptr, size sqlite3.Tsqlite3_int64) int32 {
	h := get(p)
	return h.d.change(opTruncate, h.name, func() {
		if int(size) < len(h.f.live) {
			h.f.live = h.f.live[:size:size]
		}
	})
}

func fSync(_ *libc.TLS, p uintptr, _ int32) int32 {
	h := get(p)
	return h.d.sync(h.f, h.name)
}

func fSize(_ *libc.TLS, p, out uintptr) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	*at[int64](out) = int64(len(h.f.live))
	return rcOK
}

func fLock(_ *libc.TLS, p uintptr, level int32) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.f.locks.lock(h, level)
}

func fUnlock(_ *libc.TLS, p uintptr, level int32) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.f.locks.unlock(h, level)
	return rcOK
}

func fReserved(_ *libc.TLS, p, out uintptr) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	*at[int32](out) = int32(btoi(h.f.locks.reserved != nil))
	return rcOK
}

func fControl(*libc.TLS, uintptr, int32, uintptr) int32 { return rcNotFound }
func fSector(*libc.TLS, uintptr) int32                  { return 4096 }
func fDevice(*libc.TLS, uintptr) int32                  { return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE } // as on a real one

func fShmMap(tls *libc.TLS, p uintptr, page, size, extend int32, out uintptr) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	s := &h.f.shm
	if !h.usesM {
		h.usesM = true
		s.users++
	}
	*at[uintptr](out) = 0
	for int(page) >= len(s.regions) {
		if extend == 0 {
			return rcOK
		}
		s.regions = append(s.regions, libc.Xcalloc(tls, 1, libc.Tsize_t(size)))
	}
	*at[uintptr](out) = s.regions[page]
	return rcOK
}

func fShmLock(_ *libc.TLS, p uintptr, off, n, flags int32) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return h.f.shm.lock(h, int(off), int(n), flags&sqlite3.SQLITE_SHM_LOCK != 0, flags&sqlite3.SQLITE_SHM_EXCLUSIVE != 0)
}

func fShmBarrier(_ *libc.TLS, p uintptr) {
	h := get(p)
	h.d.mu.Lock()
	h.d.mu.Unlock() //lint:ignore SA2001 the lock is the barrier
}

func fShmUnmap(tls *libc.TLS, p uintptr, _ int32) int32 {
	h := get(p)
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	s := &h.f.shm
	s.lock(h, 0, 8, false, false)
	if h.usesM {
		h.usesM = false
		if s.users--; s.users == 0 {
			for _, r := range s.regions {
				libc.Xfree(tls, r)
			}
			s.regions = nil
		}
	}
	return rcOK
}
