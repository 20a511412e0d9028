package ref_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

func Example() {
	rule, err := ref.Protect([]string{"main", "release/*"})
	if err != nil {
		panic(err)
	}
	fmt.Println(rule.Check("feat/x:refs/heads/main"))
	fmt.Println(rule.Check("main:feat/x") == "")
	// Output:
	// The destination is a protected ref, or can be taken for one.
	// true
}

func protect(t testing.TB, patterns ...string) *ref.Rule {
	t.Helper()
	r, err := ref.Protect(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProtectedInEverySpelling(t *testing.T) {
	r := protect(t, "main", "release/*")
	for why, texts := range map[string][]string{
		ref.WhyProtected: {
			"main", "refs/heads/main", "heads/main", "+main", "++main", "x:main", "+x:refs/heads/main", ":main", "+:main", "HEAD:main", "HEAD:refs/heads/main",
			"Main", "MAIN", "REFS/HEADS/MAIN", "refs%2Fheads%2Fmain", "refs%252Fheads%252Fmain", "ma%69n", "%6dain", "main%00", "main%20",
			"main/", "main.git", "main.lock", "main.", "main ", " main", "\tmain\n", "/main", "//main", "./main", "refs//heads//main", "refs/./heads/main",
			"feat/../main", "feat/x/../../main", `refs\heads\main`, "main\x00", "main\x00.txt", "ma\x01in", "ma\u200bin", "m\u0430in", "ma\u0131n", "\uff4dain", "main\u00a0",
			"refs\u2044heads\u2044main", "x\uff1amain", "remotes/origin/main", "refs/remotes/origin/main", "origin/main", "refs/remotes/x/main", "tags/main", "refs/tags/main", "refs/main",
			"main@{0}", "main~0", "main^", "main^{}", "main^0", "main~1", "main@{upstream}",
			"feat/x,main", "feat/x main", "feat/x;main", "feat/x\nmain", "feat/x, x:main", `["main"]`, `"main"`, "'main'", "(main)", "a:b:main", "a:main:b", "refs/heads/refs/heads/main",
			"release/2.4", "refs/heads/release/2.4", "RELEASE/2", "release/a/b", "+HEAD:release/1", "branch=main", "refs/for/main%submit", "refs/for/main%2csubmit", "main}", "main]",
		},
		ref.WhyHead:    {"HEAD", "head", "@", "+HEAD", "x:HEAD", "refs/heads/HEAD", "refs/remotes/origin/HEAD", "HEAD~1", "HEAD@{1}", "-"},
		ref.WhyUnseen:  {"", " ", ":", "+:", "+", "x:", "main:", "^main", "^feat/x", "+^x", "@{u}", "@{-1}", "@{push}", ",", "[]", "/", ".", "..", "::"},
		ref.WhyPattern: {"*", "*:*", "refs/*", "refs/*:refs/*", "refs/heads/*:refs/heads/*", "+refs/heads/*:refs/heads/*", "ma*", "m?in", "ma[i]n", "x:ma*n", "x:refs/heads/m*", "r*", "release/*", "*/main", "re*s/heads/main", "{main,x}", "$BRANCH", "x:${B}", "rel*/2", "a*,b*,c*,d*,e*", "x*" + strings.Repeat("y", 200), "refs/remotes/*/ma*"},
		ref.WhyOption:  {"--mirror", "--all", "-f", "feat/x --force", "feat/x,--delete"},
		ref.WhyEncoded: {"a%25252561"},
		ref.WhyLong:    {strings.Repeat("a", ref.MaxText+1)},
	} {
		for _, text := range texts {
			if got := r.Check(text); got != why {
				t.Errorf("Check(%+q) = %q, want %q", text, got, why)
			}
		}
	}
}

func TestOtherDestinationsPass(t *testing.T) {
	r := protect(t, "main", "release/*")
	for _, text := range []string{
		"main:feat/x", "+main:feat/x", "refs/heads/main:refs/heads/feat/x", "maintenance", "feat/main-menu", "feat/main", "main-2", "domain", "releases/2", "release", "prerelease/2",
		"feat/x", "refs/heads/feat/x", "feat/x,feat/y", "refs/heads/feat/*:refs/heads/feat/*", "refs/tags/v1.2", "v1.2", "4b1f0c9e8d7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c", "feat/100%", "refs/for/main", "HEAD:feat/x",
		`["feat/x"]`, "\u6771\u4eac", "main/x", "feature/ahead", "x-head", "dependabot/npm_and_yarn/lodash-4.17.21", "refs/merge-requests/1/head-2", "user@host",
	} {
		if why := r.Check(text); why != "" {
			t.Errorf("Check(%+q) = %q, want none", text, why)
		}
	}
}

func TestSpacesOfNames(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		refused       bool
	}{
		{"refs/tags/v*", "refs/tags/v1", true}, {"refs/tags/v*", "v1", true}, {"refs/tags/v*", "tags/v1", true}, {"refs/tags/v*", "refs/heads/v1", false}, {"refs/tags/v*", "HEAD", false}, {"refs/tags/v*", ":", false},
		{"refs/heads/main", "refs/tags/main", false}, {"refs/heads/main", "main", true}, {"refs/heads/main", "heads/main", true}, {"refs/heads/main", "refs/tags/m*", false}, {"refs/heads/main", "refs/heads/m*", true},
		{"refs/notes/*", "notes/x", true}, {"refs/notes/*", "refs/notes/x", true}, {"refs/notes/*", "refs/heads/x", false},
		{"Main", "main", true}, {"*", "feat/x", true}, {"*-stable", "v1-stable", true}, {"*-stable", "stable", false},
	} {
		if why := protect(t, c.pattern).Check(c.text); (why != "") != c.refused {
			t.Errorf("%q protected: Check(%q) = %q", c.pattern, c.text, why)
		}
	}
}

func TestOnly(t *testing.T) {
	r, err := ref.Only([]string{"feat/*", "refs/tags/v*", "fix"})
	if err != nil {
		t.Fatal(err)
	}
	for text, pass := range map[string]bool{
		"feat/x": true, "refs/heads/feat/x": true, "x:feat/x": true, "+main:refs/heads/feat/x": true, ":feat/x": true, "fix": true, "refs/heads/fix": true, "refs/tags/v1": true, "v1": true, "HEAD:feat/x": true, "feat/a/b": true,
		"": false, "main": false, "Feat/x": false, "feat/": false, "feat/..": false, "feat/../main": false, "feat/x,main": false, "feat/x main": false, "feat/x,feat/y": false, "feat/x:main": false, "a:b:feat/x": false,
		"^x:feat/x": false, "+^x:feat/x": false, "heads/feat/x": false, "refs/feat/x": false, "refs/heads/v1": false, "-feat/x": false, "feat/%2e%2e/main": false, "feat/x\u200b": false, "feat/*": false, "feat/x@{1}": false, "feat/x~1": false, "feat/x.lock": false,
		"HEAD": false, "@": false, "feat/\xff": false, "refs/remotes/feat/x": false, "fix ": false, "feat\\x": false,
	} {
		if why := r.Check(text); (why == "") != pass {
			t.Errorf("Check(%q) = %q", text, why)
		}
	}
	if all, err := ref.Only([]string{"*"}); err != nil || all.Check("head") == "" || all.Check("HEAD") == "" {
		t.Error("HEAD is surely nothing")
	}
}

func TestNoRuleRefuses(t *testing.T) {
	var none *ref.Rule
	if none.Check("x") != ref.WhyNoRule || new(ref.Rule).Check("x") != ref.WhyNoRule {
		t.Error("a rule that nobody made passes")
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for _, p := range []string{"", "HEAD", "head", "main/", "/main", "a b", "a..b", "refs/heads/", "+main", "x:main", "ma?n", "@", "main.lock", strings.Repeat("a", 256)} {
		if _, err := ref.Protect([]string{p}); err != ref.ErrPattern {
			t.Errorf("Protect(%q): %v", p, err)
		}
	}
	if _, err := ref.Only(nil); err != ref.ErrPattern {
		t.Error("a rule of nothing")
	}
}

func TestCommonTextIsFree(t *testing.T) {
	r := protect(t, "main", "master", "trunk", "production", "release/*")
	if n := testing.AllocsPerRun(100, func() { r.Check("feat/upgrade-lodash-4.17.21") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	r := protect(b, "main", "master", "trunk", "production", "release/*")
	b.ReportAllocs()
	for b.Loop() {
		r.Check("feat/upgrade-lodash-4.17.21")
	}
}
