package gateway

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// newGuard makes the guard of what is ours. root is the folder of a launch on
// this machine, from which its relative paths start; empty where the upstream
// is somewhere else, whose files are not ours.
func newGuard(own Own, root string, local bool) *guard {
	g := &guard{home: own.Home, root: slashed(root), fold: runtime.GOOS == "windows" || runtime.GOOS == "darwin"}
	if g.home == "" {
		g.home, _ = os.UserHomeDir()
	}
	g.home = slashed(g.home)
	var ours []string
	for _, p := range append([]string{own.Data}, own.Files...) {
		if p == "" {
			continue
		}
		abs, err := filepath.Abs(p)
		if err != nil {
			abs = p
		}
		ours = append(ours, abs)
		g.addFolder(abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			g.addFolder(real)
		}
	}
	if local && len(ours) > 0 {
		g.stat = func(p string) (bool, bool) { return sameAsAny(p, ours) }
	}
	g.addListeners(own.Listeners)
	return g
}

// sameAsAny tells whether a path leads to one of ours; ok is false where it leads
// nowhere.
func sameAsAny(p string, ours []string) (same, ok bool) {
	a, err := os.Stat(p)
	if err != nil {
		return false, false
	}
	for _, o := range ours {
		if b, err := os.Stat(o); err == nil && os.SameFile(a, b) {
			return true, true
		}
	}
	return false, true
}

// addFolder adds a folder, or a file, of ours.
func (g *guard) addFolder(p string) {
	p = path.Clean(slashed(p))
	if p == "/" || p == "." {
		return // a data folder that is everything names nothing
	}
	for _, have := range g.folders {
		if have == p {
			return
		}
	}
	g.folders = append(g.folders, p)
	g.lasts = append(g.lasts, path.Base(p))
	g.needles = append(g.needles, newNeedle(strings.ToLower(path.Base(p))))
}

// hasLast tells whether the last element of a folder of ours stands in a text.
func (g *guard) hasLast(v string) bool {
	for _, last := range g.lasts {
		if strings.Contains(v, last) {
			return true
		}
	}
	return false
}
