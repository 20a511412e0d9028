// Package files looks at the links of this machine's file system, so that a path can
// be judged by where it leads. It opens no file and changes nothing.
//
// What it says is so when it looks: whoever can make a link between the look and the
// use can have another file used. Mounts and hard links are not seen.
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of one look: what systems themselves take.
const (
	maxLinks = 40
	maxPath  = 4096 // bytes, of the path and of what links make of it
)

// Files resolves paths as they lead from one folder. It is immutable and may be
// shared. The zero value tells nothing of relative paths.
type Files struct {
	base string
}

// From is the file system as it is seen by a process that runs in the folder base, an
// absolute path. Where base is empty, relative paths cannot be resolved.
func From(base string) *Files { return &Files{base: base} }

// Resolve is the absolute path with its links resolved, as far as it exists, with
// slashes; what does not exist is taken as it stands. ok is false where that cannot be
// told: a folder that may not be read, a loop, too many links, "..", no base.
func (f *Files) Resolve(path string) (resolved string, ok bool) {
	if !filepath.IsAbs(path) {
		if f.base == "" || !filepath.IsAbs(f.base) || filepath.VolumeName(path) != "" {
			return "", false
		}
		path = f.base + "/" + path
	}
	volume := filepath.VolumeName(path)
	w := walk{at: volume, left: maxLinks}
	if !w.along(filepath.ToSlash(path[len(volume):]), false) {
		return "", false
	}
	if w.at == volume {
		w.at += "/"
	}
	return filepath.ToSlash(w.at), true
}

// A walk goes down a path as the system does.
type walk struct {
	at   string // reached; no link in it, no slash at its end
	gone bool   // at does not exist: nothing below it does
	left int    // links that may still be followed
}

// along goes on from at. Of the target of a link ".." is taken as the system takes it:
// at has no links, so that its parent is the folder that it stands in.
func (w *walk) along(path string, target bool) bool {
	if len(path)+len(w.at) > maxPath {
		return false
	}
	for seg := range strings.SplitSeq(path, "/") {
		switch seg {
		case "", ".":
			continue
		case "..":
			if !target || w.gone {
				return false
			}
			w.at = w.at[:max(strings.LastIndexByte(w.at, '/'), len(filepath.VolumeName(w.at)))]
			continue
		}
		if !w.step(seg) {
			return false
		}
	}
	return true
}

// step goes down one segment, and along the link that it may be.
func (w *walk) step(seg string) bool {
	next := w.at + "/" + seg
	if w.gone {
		w.at = next
		return len(next) <= maxPath
	}
	info, err := os.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		w.at, w.gone = next, true
		return true
	case err != nil:
		return false
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0:
		w.at = next
		return true
	}
	to, err := os.Readlink(next)
	if err != nil || to == "" || w.left == 0 {
		return false
	}
	w.left--
	if filepath.IsAbs(to) {
		w.at = filepath.VolumeName(to)
		to = to[len(w.at):]
	} else if filepath.VolumeName(to) != "" {
		return false
	}
	return w.along(filepath.ToSlash(to), true)
}
