package path_test

import (
	"fmt"
	"net/url"
	"os"
	stdpath "path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"

	"github.com/pratique-dev/pratique/labels/guard/files"
	"github.com/pratique-dev/pratique/labels/guard/path"
)

// A disk is a real tree of files that a passing path is opened on: share is allowed,
// everything else is not.
type disk struct {
	top, share string
	links      bool
}

// newDisk lays a tree out. Without links, a path is judged by its letters alone.
func newDisk(t testing.TB, links bool) *disk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{top: top, share: top + "/share", links: links}
	for _, n := range []string{"share/a.md", "share/sub/b.md", "share/sub/deep/c", "share/it's", "share/%61", "share/[id]/page.tsx", "share/a b", "share/caf\u00e9", "share/a", "share/~/x", "share/C:/x",
		"share-secret/loot.md", "out/x", "out/sub/b.md", "a.md", "etc/passwd", "home/x", "srv/x"} {
		write(t, top+"/"+n)
	}
	if !links {
		return d
	}
	for from, to := range map[string]string{"share/link": "../out", "share/abs": top + "/out", "share/in": "sub", "share/file": "../share-secret/loot.md", "share/new": "../out/none", "share/loop": "loop",
		"share/sub/up": "..", "share/sub/top": "../..", "share/sub/deep/far": "../../../out", "share/chain": "in/top", "share/home": "/", "share/li nk": "../out", "share/l\u00eenk": "../out", "share/dots": "sub/..", "share/sub/me": "."} {
		if err := os.Symlink(to, top+"/"+from); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func write(t testing.TB, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// opens is where the kernel gets to with a path, opening what is there or making the
// file; "" where it gets nowhere. Nothing outside of the tree is made.
func (d *disk) opens(name string) string {
	if strings.IndexByte(name, 0) >= 0 {
		name = name[:strings.IndexByte(name, 0)] // as C does
	}
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		return where(fd)
	}
	if err != syscall.ENOENT || !d.made(name) {
		return ""
	}
	fd, err = unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err == syscall.EEXIST { // a link to what is not there
		fd, err = unix.Open(name, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	}
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	at := where(fd)
	_ = os.Remove(at)
	return at
}

// made tells whether a file of the name may be made: its folder is in the tree, and if
// it is a link, the link is one of ours.
func (d *disk) made(name string) bool {
	dir := name[:strings.LastIndexByte(name, '/')+1]
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return d.inside(where(fd), d.top)
}

func (d *disk) inside(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

func where(fd int) string {
	p, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return "?"
	}
	return p
}

// decodings are what servers do to a path before they open it, each alone, and every
// two of them one after the other.
func decodings(text string) map[string]string {
	out := map[string]string{"as it stands": text}
	for range 2 {
		for how, t := range cloned(out) {
			for name, f := range steps {
				if u := f(t); u != t {
					out[how+", "+name] = u
				}
			}
		}
	}
	return out
}

func cloned(m map[string]string) map[string]string {
	n := make(map[string]string, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}

var steps = map[string]func(string) string{
	"percent": func(s string) string {
		if u, err := url.PathUnescape(s); err == nil {
			return u
		}
		return s
	},
	"lenient percent": func(s string) string {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(c))
					i += 2
					continue
				}
			}
			b.WriteByte(s[i])
		}
		return b.String()
	},
	"overlong": func(s string) string {
		return strings.NewReplacer("\xc0\xae", ".", "\xc0\xaf", "/", "\xe0\x80\xae", ".", "\xe0\x80\xaf", "/").Replace(s)
	},
	"backslash":  func(s string) string { return strings.ReplaceAll(s, `\`, "/") },
	"compatible": func(s string) string { return norm.NFKC.String(s) },
	"look-alikes": func(s string) string {
		return strings.NewReplacer("\u2215", "/", "\u2044", "/", "\u29f8", "/", "\u3002", ".", "\uff61", ".", "\u2024", ".").Replace(s)
	},
	"invisible": func(s string) string {
		return strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "", "\u00ad", "", "\ufe0f", "", "\u2060", "").Replace(s)
	},
	"trimmed": strings.TrimSpace,
	"cleaned": func(s string) string { return stdpath.Clean(s) },
	"quotes":  func(s string) string { return strings.NewReplacer(`'`, "", `"`, "").Replace(s) },
	"cut": func(s string) string {
		return segmentwise(s, func(e string) string { return e[:strings.IndexAny(e+";", ";?#")] })
	},
	"windows":  func(s string) string { return segmentwise(s, windows) },
	"file URL": func(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "file://"), "file:") },
	"home":     func(s string) string { return prefixed(s, "~", "/") },
	"variables": func(s string) string {
		return os.Expand(s, func(n string) string { return variables[n] })
	},
	"stream":         func(s string) string { return strings.TrimSuffix(s, "::$DATA") },
	"drive":          func(s string) string { return prefixed(s, "C:", "") },
	"double slashes": func(s string) string { return prefixed(s, "//", "/") },
}

var variables = map[string]string{"HOME": "/", "PWD": "/", "home": "/", "X": ".."}

func prefixed(s, prefix, with string) string {
	if rest, ok := strings.CutPrefix(s, prefix); ok {
		return with + rest
	}
	return s
}

func segmentwise(s string, f func(string) string) string {
	list := strings.Split(s, "/")
	for i := range list {
		list[i] = f(list[i])
	}
	return strings.Join(list, "/")
}

// windows drops what Windows drops at the end of a name; ".." stays.
func windows(e string) string {
	if e == "." || e == ".." {
		return e
	}
	if t := strings.TrimRight(e, " "); t == "." || t == ".." {
		return t
	}
	return strings.TrimRight(e, ". ")
}

// braces is what shells make of braces, one pair.
func braces(s string) []string {
	i := strings.IndexByte(s, '{')
	if i < 0 {
		return []string{s}
	}
	j := strings.IndexByte(s[i:], '}')
	if j < 0 {
		return []string{s}
	}
	var out []string
	for alt := range strings.SplitSeq(s[i+1:i+j], ",") {
		out = append(out, s[:i]+alt+s[i+j+1:])
	}
	return out
}

// FuzzCheck opens what passes, in every decoding that servers do, and asks the kernel
// where it got to. "@" at the beginning stands for the folder that is allowed.
func FuzzCheck(f *testing.F) {
	for _, p := range plain {
		f.Add(p)
		f.Add("@/" + p)
	}
	for _, p := range []string{"..", "../share-secret/loot.md", "@-secret/loot.md", "@/../share-secret/loot.md", "link/x", "@/link/x", "@/li%6ek/x", "l'in'k/x", "lｉnk/x", "new", "@/new", "file", "sub/up/a.md", "sub/top/out/x", "sub/deep/far/x", "chain/out/x",
		"home/etc/passwd", "li%20nk/x", "l\u00eenk/x", "dots/a.md", "loop", "%2e%2e/out/x", "%252e%252e/out/x", "..%2fout%2fx", `..\out\x`, "%c0%ae%c0%ae/out/x", "\u2025/out/x", "\uff0e\uff0e/out/x", ". ./out/x", ".. /out/x", "..;/out/x", "'..'/out/x",
		"file://@/a.md", "~/etc/passwd", "$HOME/etc/passwd", "$X/out/x", "{..,a}/out/x", "{@/../out/x,a}", "a.md\x00.png", "a.md::$DATA", "C:/etc/passwd", "//etc/passwd", "sub/.//b.md", "s\u200bub/../x", "./", ".", "@", "@/", "-rf", "sub/[a-z]*", "a/%2e%2e/%2e%2e/x", "new/a", "link", "@/sub/me/me/up/link", ";/;x~", "$wne/", "@/new#", "././/~/////.", "./##/##", "sub/$$$to$$$x"} {
		f.Add(p)
	}
	linked, bare := newDisk(f, true), newDisk(f, false)
	type judge struct {
		d    *disk
		r    *path.Rule
		see  path.Files
		in   string // what may be opened
		file bool
	}
	var judges []judge
	for _, d := range []*disk{linked, bare} {
		var see path.Files
		if d.links {
			see = files.From(d.share)
		}
		judges = append(judges,
			judge{d, rule(f, path.Options{Within: []string{d.share}}), see, d.share, false},
			judge{d, rule(f, path.Options{Within: []string{""}}), see, d.share, false},
			judge{d, rule(f, path.Options{Within: []string{"sub"}}), see, d.share + "/sub", false},
			judge{d, rule(f, path.Options{Exactly: []string{"sub/b.md", d.share + "/a.md"}}), see, "", true},
		)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, j := range judges {
			text := prefixed(text, "@", j.d.share)
			if j.r.Check(text, j.see) != "" {
				continue
			}
			for how, name := range decodings(text) {
				for _, name := range braces(name) {
					if !strings.HasPrefix(name, "/") {
						name = j.d.share + "/" + name
					}
					at := j.d.opens(name)
					ok := at == "" || j.d.inside(at, j.in)
					if j.file {
						ok = at == "" || at == j.d.share+"/sub/b.md" || at == j.d.share+"/a.md"
					}
					if !ok {
						t.Fatalf("%q passes, and %s (%q) opens %q", text, how, name, at)
					}
				}
			}
		}
	})
}
