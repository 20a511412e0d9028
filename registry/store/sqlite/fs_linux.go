package sqlite

import (
	"fmt"
	"syscall"

	"github.com/pratique-dev/pratique/registry/store"
)

// File systems shared between machines: the index of the write-ahead log is
// shared memory, which they do not have (https://sqlite.org/wal.html), and
// their locks are often only local. Numbers: statfs(2).
var networked = map[uint32]string{
	0x6969: "nfs", 0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb2",
	0x01021997: "9p", 0x5346414f: "afs", 0x00c36400: "ceph", 0x0bd00bd0: "lustre", 0x01161970: "gfs2",
}

// checkFS refuses a folder on such a file system.
func checkFS(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("file system: %w", err)
	}
	if n, ok := networked[uint32(st.Type)]; ok {
		return fmt.Errorf("%w: %s is on a network file system (%s)", store.ErrUnsafe, dir, n)
	}
	return nil
}
