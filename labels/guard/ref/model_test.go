package ref_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// A repo is what a model of git push knows: the refs here, and which branch is checked
// out.
type repo struct {
	refs []string
	head string
}

var world = repo{
	refs: []string{"refs/heads/main", "refs/heads/feat/x", "refs/heads/release/2.4", "refs/heads/topic", "refs/tags/v1", "refs/remotes/origin/main"},
	head: "refs/heads/main",
}

// protectedHere tells whether a full name is a protected branch, as a server without
// folding has it.
func protectedHere(name string) bool {
	return name == "refs/heads/main" || strings.HasPrefix(name, "refs/heads/release/")
}

// reaches are the refs of the other side that a refspec of git push can write, by
// gitrevisions(7), git-push(1) and the order in which git completes names: more than it
// does in one repository, never less. nil: git takes no such refspec.
func (r repo) reaches(spec string) []string {
	spec = strings.TrimPrefix(spec, "+")
	if spec == ":" || strings.HasPrefix(spec, "^") {
		return r.refs
	}
	src, dst, given := spec, "", false
	if i := strings.LastIndex(spec, ":"); i >= 0 {
		src, dst, given = spec[:i], spec[i+1:], true
	}
	switch {
	case given && dst == "", !given && !validRef(src, true) && src != "@", given && !validRef(dst, true):
		return nil
	case strings.Contains(src, "*"):
		return r.pattern(src, dst, given)
	case given:
		return completions(dst)
	case src == "HEAD" || src == "@":
		return []string{r.head}
	}
	return completions(src)
}

// pattern maps every ref here that fits.
func (r repo) pattern(src, dst string, given bool) (list []string) {
	if !given {
		dst = src
	}
	before, after, _ := strings.Cut(src, "*")
	for _, name := range r.refs {
		if len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			list = append(list, strings.Replace(dst, "*", name[len(before):len(name)-len(after)], 1))
		}
	}
	return list
}

func completions(name string) []string {
	return []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"}
}

// validRef is git check-ref-format --allow-onelevel, with one "*" in a pattern, by its
// manual.
func validRef(name string, glob bool) bool {
	if glob && strings.Count(name, "*") == 1 {
		name = strings.Replace(name, "*", "x", 1)
	}
	bad := func(r rune) bool { return r < 0x20 || r == 0x7f || strings.ContainsRune(" ~^:?*[\\", r) }
	for _, p := range strings.Split(name, "/") {
		if p == "" || strings.HasPrefix(p, ".") || strings.HasSuffix(p, ".lock") {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.HasSuffix(name, ".") && !strings.Contains(name, "@{") && name != "@" && !strings.ContainsFunc(name, bad)
}

// spell makes a refspec of pieces that matter.
func spell(rng *rand.Rand) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	name := func() string {
		if rng.IntN(2) == 0 {
			return pick("", "", "refs/heads/", "refs/tags/", "heads/") + pick("main", "feat/x", "feat/y", "release/2.4", "topic", "HEAD", "v1", "new", "feat/*", "*")
		}
		n := pick("", "", "", "refs/", "refs/heads/", "refs/heads/", "heads/", "tags/", "refs/tags/", "remotes/origin/", "refs/remotes/origin/", "origin/", "/", "./", "refs//heads/") +
			pick("main", "main", "main", "Main", "feat/x", "feat/x", "release/2.4", "release", "HEAD", "@", "*", "ma*", "m*n", "re*", "v1", "topic", "new", "feat/main", "main-2", "maintenance", "-x", "", "main:x", "origin", "m,ain") +
			pick("", "", "", "", "", "", "/", ".", ".lock", ".git", "~0", "^{}", "@{0}", "*", " ", "/x", "\x00", "%00", "^")
		if rng.IntN(12) == 0 && n != "" {
			i := rng.IntN(len(n))
			n = n[:i] + pick("", "%", "/", "\\", ":", "+", "*", "é", "refs/", "..", "a", " ", "\t", "@") + n[i+rng.IntN(2):]
		}
		return n
	}
	spec := pick("", "", "", "+", "++", "^", "-", "--") + name()
	for rng.IntN(3) > 0 && strings.Count(spec, ":") < 3 {
		spec += ":" + pick("", "", "", "+") + name()
	}
	return spec
}

func judge(t testing.TB, protect, only *ref.Rule, spec string) {
	if protect.Check(spec) == "" {
		if i := slices.IndexFunc(world.reaches(spec), protectedHere); i >= 0 {
			t.Errorf("%q passes and writes %s", spec, world.reaches(spec)[i])
		}
	}
	if only.Check(spec) == "" {
		for _, name := range world.reaches(spec) {
			if strings.Contains(strings.TrimPrefix(name, "refs/"), "refs/") { // of a full name that is completed nonetheless: nobody has such refs
				continue
			}
			short := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/tags/"), "refs/heads/")
			if !strings.HasPrefix(strings.TrimPrefix(short, "refs/"), "feat/") {
				t.Errorf("%q passes as one of feat/* and writes %s", spec, name)
			}
		}
	}
}

func rules(t testing.TB) (protect_, only *ref.Rule) {
	o, err := ref.Only([]string{"feat/*"})
	if err != nil {
		t.Fatal(err)
	}
	return protect(t, "main", "release/*"), o
}

// TestModel: of 200,000 refspecs of pieces that matter, none that passes writes what
// is protected, by a model of git push.
func TestModel(t *testing.T) {
	p, o := rules(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		judge(t, p, o, spell(rng))
		if t.Failed() {
			return
		}
	}
}

// TestListsOfOne: a name that is judged at once is judged as one of a list.
func TestListsOfOne(t *testing.T) {
	p, _ := rules(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30_000 {
		if s := spell(rng); p.Check(s) != p.Check(","+s) {
			t.Fatalf("%q: %q, in a list %q", s, p.Check(s), p.Check(","+s))
		}
	}
}

func FuzzSpec(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(spell(rng))
	}
	p, o := rules(f)
	f.Fuzz(func(t *testing.T, spec string) { judge(t, p, o, spec) })
}
