package gitdir_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/gitdir"
)

// refuses is what Git's verify_path says of a path with core.protectHFS and
// core.protectNTFS, as its own source has it: is_hfs_dotgit and is_ntfs_dotgit.
func refuses(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if hfs(name) {
			return true
		}
		for part := range strings.SplitSeq(name, `\`) {
			part, _, _ = strings.Cut(part, ":")
			for _, want := range []string{".git", "git~1"} {
				if len(part) >= len(want) && strings.EqualFold(part[:len(want)], want) && strings.Trim(part[len(want):], " .") == "" {
					return true
				}
			}
		}
	}
	return false
}

// hfs compares without case and without what HFS+ ignores.
func hfs(name string) bool {
	bare := strings.Map(func(c rune) rune {
		if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
			return -1
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		return c
	}, name)
	return bare == ".git"
}

// TestModel: whatever Git refuses to check out for its name is found, and of names that
// are made of plain characters nothing else.
func TestModel(t *testing.T) {
	t.Parallel()
	pieces := []string{".", "g", "i", "t", "G", "I", "T", ".git", "git~1", ".GIT", "/", `\`, ":", " ", ".", "~", "1", "x", "-", "\u200c", "\u202e", "\u206f", "\ufeff", "config", "::$INDEX_ALLOCATION", "hub", "ignore"}
	plain := []string{".", "g", "i", "t", "G", "T", ".git", ".Git", "/", "/", "x", "-", "config", "hub", "ignore", "modules", "_", "7"}
	found := 0
	for seed := range uint64(40000) {
		r := rand.New(rand.NewPCG(seed, 1))
		make := func(list []string) string {
			var b strings.Builder
			for range 1 + r.IntN(7) {
				b.WriteString(list[r.IntN(len(list))])
			}
			return b.String()
		}
		if s := make(pieces); refuses(s) {
			if found++; gitdir.Of(s) == gitdir.Elsewhere {
				t.Fatalf("seed %d: git refuses %q", seed, s)
			}
		}
		s := make(plain)
		if got := gitdir.Of(s) != gitdir.Elsewhere; got != refuses(s) && !bare(s) {
			t.Fatalf("seed %d: %q: %v", seed, s, got)
		}
	}
	if found < 1000 {
		t.Error(found)
	}
}

// bare tells whether a path lies in a folder x.git, in which a repository may be.
func bare(s string) bool {
	return strings.Contains(strings.ToLower(s), ".git/") || strings.Contains(strings.ToLower(s), ".git.")
}

// TestOf: what is the folder, what lies in it, and what only resembles it.
func TestOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]gitdir.Place{
		".git": gitdir.Folder, "/a/.git/": gitdir.Folder, ".git/.": gitdir.Folder, ".git/config": gitdir.Inside, "a/.git/refs": gitdir.Inside,
		"x.git": gitdir.Elsewhere, "x.git/config": gitdir.Inside, `C:\x.git\hooks\y`: gitdir.Inside, "x.git//./HEAD": gitdir.Inside, "x.git/src": gitdir.Elsewhere,
		"%2e%67%69%74/x": gitdir.Inside, "%252egit/x": gitdir.Inside, "\xc0\xaegit/x": gitdir.Elsewhere, "%c0%aegit%c0%afx": gitdir.Inside, ".%67it": gitdir.Folder,
		"．ＧＩＴ": gitdir.Folder, ".gіt/config": gitdir.Inside, ".gi\x00t": gitdir.Elsewhere, ".git\x00.txt": gitdir.Inside, "git~4/x": gitdir.Inside,
		"https://a.example/.git/config": gitdir.Elsewhere, "https://a.example/x,.git/config": gitdir.Inside, "file:///a/.git/config": gitdir.Inside,
		"git+ssh://h/x.git": gitdir.Elsewhere, "host:.git/config": gitdir.Inside, "of=.git/HEAD": gitdir.Inside, "{.git,x}/y": gitdir.Inside,
		".g[i]t/x": gitdir.Inside, ".g*": gitdir.Folder, ".*": gitdir.Elsewhere, "*": gitdir.Elsewhere, ".git$x/config": gitdir.Inside,
		"": gitdir.Elsewhere, ".": gitdir.Elsewhere, "..": gitdir.Elsewhere, ".gitx": gitdir.Elsewhere, "a.git.md": gitdir.Elsewhere, ".git-x": gitdir.Elsewhere,
		"%" + strings.Repeat("25", 20) + "41": gitdir.Inside, "100%": gitdir.Elsewhere,
	} {
		if got := gitdir.Of(path); got != want {
			t.Errorf("%q: %d, want %d", path, got, want)
		}
	}
}

// TestCost: a look costs no memory for what is not encoded.
func TestCost(t *testing.T) {
	for _, s := range []string{"src/main.go", ".github/workflows/ci.yml", ".git/config", "https://github.com/a/b.git", "100% of it"} {
		if n := testing.AllocsPerRun(100, func() { gitdir.Of(s) }); n > 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{".git/config", "%2egit", "git~1", ".g[i]t", "a.git/HEAD", "file:///.git"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if refuses(s) && !strings.Contains(s, "://") && gitdir.Of(s) == gitdir.Elsewhere {
			t.Errorf("git refuses %q", s)
		}
	})
}
