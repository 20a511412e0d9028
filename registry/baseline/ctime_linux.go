package baseline

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when anything of the file last changed, in nanoseconds; 0: not
// known, or so recent that another change could have the same time.
func changeTime(st fs.FileInfo) int64 {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	t := time.Unix(s.Ctim.Unix())
	if time.Since(t) < time.Second {
		return 0
	}
	return t.UnixNano()
}
