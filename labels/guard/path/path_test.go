package path_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/path"
)

func rule(t testing.TB, o path.Options) *path.Rule {
	t.Helper()
	r, err := path.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func within(t testing.TB, roots ...string) *path.Rule {
	t.Helper()
	return rule(t, path.Options{Within: roots})
}

// TestSiblingAndDotdot is case O-23 by the text alone.
func TestSiblingAndDotdot(t *testing.T) {
	read := within(t, "/srv/share")
	write := rule(t, path.Options{Exactly: []string{"package.json"}})
	for _, c := range []struct {
		r     *path.Rule
		text  string
		allow bool
	}{
		{read, "/srv/share/a.md", true},
		{read, "/srv/share/./sub//b.md", true},
		{read, "/srv/share-secret/loot.md", false},
		{read, "/srv/share/../share-secret/loot.md", false},
		{read, "/srv/share/sub/../../../etc/passwd", false},
		{read, "file:///srv/share/../../etc/passwd", false},
		{read, "/srv/share/a.md\x00.png", false},
		{read, "", false},
		{write, "package.json", true},
		{write, "./package.json", true},
		{write, "package.json/../.env", false},
		{write, "../.env", false},
	} {
		if why := c.r.Check(c.text, nil); (why == "") != c.allow {
			t.Errorf("%q: %q", c.text, why)
		}
	}
}

// plain are paths as people and programs write them; each has a refused twin in
// TestRefused.
var plain = []string{
	"a", "a/", "a.md", "src/main.go", "./src/main.go", "src//main.go", "src/./main.go", "src/", ".", "./", ".env", ".github/workflows/ci.yml",
	"docs/READ ME.md", "docs/it's.md", `docs/"quoted".md`, "a+b=c@d,e!f.txt", "v1.2.3/notes.txt", "a..b", "a/..b", "a/...b", "archive.tar.gz", "x~", "src/~tmp/a", "a - copy.txt",
	"app/[slug]/page.tsx", "app/[...slug]/page.tsx", "app/[[...slug]]/page.tsx", "app/(group)/@modal/page.tsx", "app/routes/$userId.tsx", "app/$userId/edit.$postId.tsx", "types/$types.d.ts", "price $5.txt", "a$",
	"100%.txt", "50%off.txt", "my%20file.txt", "%6%3%31", "100% sure.md", "caf%C3%A9.md",
	"docs/café.md", "docs/cafe\u0301.md", "日本語/ノート.md", "说明。txt", "中文。", "第1章：始まり？.md", "10～20.txt", "达成率100％.xlsx", "ＡＢＣ.txt", "עברית/שלום.txt", "می\u200cخواهم.txt",
	"1\ufe0f\u20e3 intro.md", "✈\ufe0f trip.md", "👨\u200d👩\u200d👧.png", "❤\ufe0f\u200d🔥.md", "Screenshot 10.00.00\u202fAM.png", "½.txt", "x²", "a•b", "ßtraße",
	"logs/2026-01-01T10:00:00.log", "a#b", "#a.go#", "C#/Program.cs", "what?", "a;b", "conf", "console.log", "nullable.go", "auxiliary/x", "common.go", "com10", "lpt", "lptx.c", "CONTRIBUTING.md", "contains", "Procfile", "prn_", "a.con", "a-b", "-", "a/-b",
}

// Ordinary names pass in every kind of rule: what is refused has a reason.
func TestOrdinaryPathsPass(t *testing.T) {
	hygiene, all, root := rule(t, path.Options{}), within(t, ""), within(t, "/srv/share")
	for _, p := range plain {
		if p == "-" {
			continue // begins like an option
		}
		if why := hygiene.Check(p, nil); why != "" {
			t.Errorf("hygiene %q: %s", p, why)
		}
		pattern := strings.ContainsAny(p, "*?")
		if why := all.Check(p, nil); why != "" && !pattern {
			t.Errorf("relative %q: %s", p, why)
		}
		if why := root.Check("/srv/share/"+p, nil); why != "" && !pattern {
			t.Errorf("absolute %q: %s", p, why)
		}
	}
	for _, p := range []string{"", "/", "/etc/hosts", "~", "~/notes.md", "src/**/*.go", "*.{ts,tsx}", "file{.ts,.tsx}", "a?.txt", "https://example.test/a", "s3://bucket/key", "a:b/c"[1:]} {
		if why := hygiene.Check(p, nil); why != "" && p != ":b/c" {
			t.Errorf("hygiene %q: %s", p, why)
		}
	}
}

// TestRefused: each spelling is refused for its reason, without a root too.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		why   string
		texts []string
	}{
		{path.WhyParent, []string{"..", "../a", "a/..", "a/../b", "./..", "a//..", "/..", `".."/a`, "a/'..'/b", "a/.'.'/b", "a/.$x.$y/b", "..$@/b", "a/.$1.$1/b"}},
		{path.WhyTrailing, []string{"a.", "a /b", "a/...", ". /a", ".. /a", "...", "a./b", "a/ ", "a\u00a0/b", "a\u3000", "'.'./a", `.""./a`, "%2E./a", "[.-/].", "a%20/b", "a/..%20/b"}},
		{path.WhyLeading, []string{" a", " /etc/passwd", "\u00a0/etc", "%20/etc"}},
		{path.WhyOption, []string{"-rf", "--output=x", "-", "%2drf", "－rf"}},
		{path.WhyControl, []string{"a\x00", "a\x00.png", "a\nb", "a\tb", "\x7f", "a\u0085b", "a\u2028", "a\x1b[0m"}},
		{path.WhyUTF8, []string{"a\xc0\xaeb", "\xff", "a\ufffdb", "\xed\xa0\x80"}},
		{path.WhyInvisible, []string{".\u200b./a", "a\u200b", "\ufeffa", "a\u00adb", "\u202ea", "a\u2066b", ".\u200d./a", ".\u200c.", ".\ufe0f.", "a\u200db", "\U000e0041", "\u3164", "a\u2060", "x\u180e", "1\ufe0f", "\u00e9\u200da", "a\u200d\u00e9", "/\u200e"}},
		{path.WhyLookalike, []string{"\uff0e\uff0e/a", "a\u2215b", "a\u2044b", "a\uff0fb", "a\uff3cb", "\u2025/a", "\u2024\u2024/a", "a\u2026", "\u3002\u3002/a", "。./a", "\uff61.", "\u0660\u0660", "a/\u06d4\u06d4/b", "\u29f8", "\u2216", "\ufe52", "℀", "⒈", "a/\u00b7\u00b7/b", "..\u3002", "x\u2571y"}},
		{path.WhyBackslash, []string{`a\b`, `..\a`, `\\host\share`, `\\?\C:\a`, `\a`, `C:\a`, `a\u002e\u002e`, `a\ b`}},
		{path.WhyNetwork, []string{"//host/share", "//", "///a", `"/"/a`}},
		{path.WhyDrive, []string{"C:/a", "C:a", "c:", "Z:..", `"C":/a`, "Ｃ：/a"}},
		{path.WhyURL, []string{"file:///srv/a", "FILE:/a", "file:a", "file://host/a"}},
		{path.WhyStream, []string{"a.txt::$DATA", "a::b", "dir:$I30", "a::$INDEX_ALLOCATION/b"}},
		{path.WhyDevice, []string{"CON", "con", "nul.txt", "a/NUL", "Aux.c", "a/prn.x.y", "COM1", "lpt9.txt", "com¹", "CONIN$", "conout$.x", "nul .txt", "CLOCK$", "con:x", "ＣＯＮ"}},
		{path.WhyPercent, []string{"%2e%2e%2f", "%2e.a", "a%2fb", "a%5cb", "%252e", "a%00", "%c0%ae", "%c0%af", "%e0%80%ae", "%u002e", "%uff0e", "a%3ab", "%25", "%%32e", "%f0%80%80%af", "％２ｅ", "%²ｅ", "a%0ab", "%e2%80", `%2"e"`, "%24HOME", "caf%e9", "%6%3%3%3%3%3%3%31"}},
		{path.WhyLookalike, []string{"%ef%bc%8e%ef%bc%8e/a", "%e2%88%95"}},
		{path.WhyInvisible, []string{"%e2%80%8b"}},
		{path.WhyExpands, []string{"$HOME/a", "${HOME}/a", "a/${x}", "$(id)", "`id`", "$home/a", "$pwd", "$env:TEMP", "%USERPROFILE%", "%TEMP%/a", "$A", "＄HOME", "%ProgramFiles(x86)%/a", "$PWD", "$'HOME'"}},
		{path.WhyPattern, []string{".[.]", "[.][.]/a", ".?", ".*", "{.,a}.", "a/{..,b}/c", "x{/..,}/y", "[+-0].", "[!a].", ".**", "a/[.a][.b]", "{..}/a", "[^a][.]"}},
		{path.WhyParent, []string{"a/..;/b", "..;x", "..?", "..#a", "..;jsessionid=1/a", "..;"}},
		{path.WhyEmpty, []string{"''", `""`}},
		{path.WhyLong, []string{strings.Repeat("a/", 2049)}},
	} {
		hygiene := rule(t, path.Options{})
		for _, text := range c.texts {
			if why := hygiene.Check(text, nil); why != c.why {
				t.Errorf("%q: %q, want %q", text, why, c.why)
			}
			if within(t, "", "/").Check(text, nil) == "" {
				t.Errorf("%q passes a rule with roots", text)
			}
		}
	}
}

// TestPlaces: what lies in a root, what is exactly a file, and what cannot be told.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		o    path.Options
		pass []string
		fail map[string]string
	}{
		{"absolute", path.Options{Within: []string{"/srv/share/", "/data"}},
			[]string{"/srv/share", "/srv/share/", "/srv//share/a", "/srv/./share/a", "/data/x", "/data/it's", "/data/a{b", "/data/a}b"},
			map[string]string{
				"/srv/share2": path.WhyOutside, "/srv": path.WhyOutside, "/": path.WhyOutside, "/srv/shar": path.WhyOutside, "/srv/share-secret/a": path.WhyOutside,
				"/SRV/share/a": path.WhyOtherForm, "/srv/ｓhare/a": path.WhyOtherForm, "/srv/ſhare": path.WhyOtherForm,
				"a": path.WhyRelative, "srv/share/a": path.WhyRelative, "~/a": path.WhyHome, "~": path.WhyHome, "/srv/share/*": path.WhyPattern, "/srv/share/{a,b}": path.WhyPattern,
				"{/etc/passwd,/srv/share/a}": path.WhyPattern, "/srv/share/a?": path.WhyPattern, "https://example.test/srv/share": path.WhyURL, "": path.WhyEmpty, "''": path.WhyRelative,
				"/s'rv'/share/a": path.WhyOutside, "/srv/%73hare/a": path.WhyOutside,
			}},
		{"the whole", path.Options{Within: []string{"."}},
			[]string{"a", "a/b", ".", "./", "a/~$doc.docx", "a/b:c", "./a/-b", "a/~"},
			map[string]string{"/a": path.WhyAbsolute, "$x/etc/passwd": path.WhyAbsolute, "$1/etc": path.WhyAbsolute, ";/etc/passwd": path.WhyAbsolute, "./;/etc/passwd": path.WhyAbsolute, ".//$x/etc": path.WhyAbsolute, "#a/b": path.WhyAbsolute, "?/x": path.WhyPattern, "host:a/b": path.WhyURL, "user@host:/a": path.WhyURL, "https://example.test/": path.WhyURL, "~root": path.WhyHome, "./~/a": path.WhyHome, ".//./~root": path.WhyHome, "./ab:c": path.WhyURL, "./-a": path.WhyOption, "./C:/a": path.WhyDrive, "": path.WhyEmpty}},
		{"a folder", path.Options{Within: []string{"./src//app"}},
			[]string{"src/app", "src/app/a", "./src/app/a", "src/app/"},
			map[string]string{"src": path.WhyOutside, "src/application": path.WhyOutside, "src/App/x": path.WhyOtherForm, ".": path.WhyOutside, "app/src/app": path.WhyOutside}},
		{"a file", path.Options{Exactly: []string{"package.json", "app/[id]/page.tsx"}},
			[]string{"package.json", "./package.json", ".//package.json", "app/[id]/page.tsx"},
			map[string]string{"package.json/": path.WhyFolder, "package.json/.": path.WhyFolder, "package.json/a": path.WhyOutside, "Package.json": path.WhyOtherForm,
				"package.json.bak": path.WhyOutside, "a/package.json": path.WhyOutside, "ｐackage.json": path.WhyOtherForm, "package.json#": path.WhyOutside, "package.json::$DATA": path.WhyStream, "pack'age'.json": path.WhyOutside}},
		{"a file and a folder", path.Options{Within: []string{"src"}, Exactly: []string{"go.mod"}},
			[]string{"src/a", "go.mod"}, map[string]string{"go.sum": path.WhyOutside}},
		{"both kinds", path.Options{Within: []string{"/srv/share", ""}},
			[]string{"a", "/srv/share/a"}, map[string]string{"/etc": path.WhyUntold}},
		{"without case", path.Options{Within: []string{"/srv/Share"}, Fold: true},
			[]string{"/SRV/share/a", "/srv/Share"}, map[string]string{"/srv/\u017fhare": path.WhyOtherForm, "/srv/sharé": path.WhyOutside, "/srv/share-": path.WhyOutside}},
		{"in another script", path.Options{Within: []string{"/srv/été"}},
			[]string{"/srv/été/a"}, map[string]string{"/srv/e\u0301te\u0301/a": path.WhyOtherForm, "/srv/ÉTÉ": path.WhyOtherForm}},
		{"windows", path.Options{Within: []string{`C:\Users\me`}, Windows: true},
			[]string{`C:\Users\me\a.txt`, `c:/users/ME/a`, `C:\Users\\me\.\a`, `C:\Users\me\第：章`},
			map[string]string{`C:Users\me`: path.WhyDrive, `\Users\me`: path.WhyDrive, "/Users/me": path.WhyDrive, `\\?\C:\Users\me`: path.WhyStream, `\\.\C:\x`: path.WhyStream, `\\host\x`: path.WhyNetwork, `//srv/a`: path.WhyNetwork,
				`C:\Users\me\..\you`: path.WhyParent, `C:\Users\me2`: path.WhyOutside, `D:\Users\me`: path.WhyOutside, `C:\Users\me\a:b`: path.WhyStream, `C:\Users\me\a"`: path.WhyStream,
				`C:\USERS~1\me`: path.WhyShort, `Users\me`: path.WhyRelative, `C:\Users\me\a.`: path.WhyTrailing, `\`: path.WhyDrive, "C:": path.WhyDrive}},
		{"windows, relative", path.Options{Within: []string{"src", "ab"}, Windows: true},
			[]string{`src\a`, `.\src/a`, `ab\c`}, map[string]string{`src2\a`: path.WhyOutside, `C:\src`: path.WhyAbsolute, `..\src\a`: path.WhyParent}},
	} {
		r := rule(t, c.o)
		for _, p := range c.pass {
			if why := r.Check(p, nil); why != "" {
				t.Errorf("%s: %q: %s", c.name, p, why)
			}
		}
		for p, want := range c.fail {
			if why := r.Check(p, nil); why != want {
				t.Errorf("%s: %q: %q, want %q", c.name, p, why, want)
			}
		}
	}
}

// TestClimbing: of a URI only what could lead up is refused, whatever else it has.
func TestClimbing(t *testing.T) {
	r := rule(t, path.Options{Climbing: true})
	for _, u := range []string{"file:///a/b", "C:/a", "notes://x/y", "//host/a", "-a", "a./b", "a /b", "$HOME/a", "${x}", "con", "a::b", " a", "x?y=%41", "mem://a/~/b", "*"} {
		if why := r.Check(u, nil); why != "" {
			t.Errorf("%q: %s", u, why)
		}
	}
	for _, u := range []string{"file:///a/../b", "C:/../a", "//h/..", "-a/..", "a /../b", "$HOME/../a", "${x}/../a", "con/../a", " ../a", "x/%2e%2e/a", "x%2fa", `x\a`, "x/..;/a", "x/'..'/a", "x/. ./a", "x/.. /a", "x/.../a", "\uff0e\uff0e/a", "a\x00", "x/.$y.$z/a", "x/.\u200b./a", "${x}%2f", "x/[.]./a", "x/{..,a}/b"} {
		if r.Check(u, nil) == "" {
			t.Errorf("%q may lead up", u)
		}
	}
	for _, o := range []path.Options{{Climbing: true, Within: []string{"a"}}, {Climbing: true, Exactly: []string{"a"}}, {Climbing: true, Windows: true}, {Climbing: true, Fold: true}} {
		if _, err := path.New(o); err == nil {
			t.Errorf("%+v makes a rule", o)
		}
	}
}

// A rule that nobody made refuses, and a root that is not plain makes none.
func TestNoRule(t *testing.T) {
	var none *path.Rule
	if none.Check("a", nil) != path.WhyNoRule || new(path.Rule).Check("", nil) != path.WhyNoRule {
		t.Error("a rule that nobody made lets pass")
	}
	for _, o := range []path.Options{
		{Within: []string{"/srv/../etc"}}, {Within: []string{"~/x"}}, {Within: []string{"$HOME"}}, {Within: []string{"src/*"}}, {Within: []string{"a%20b"}}, {Within: []string{`C:\x`}},
		{Within: []string{"/srv/a."}}, {Within: []string{"//srv"}}, {Within: []string{"/srv/ｓhare"}}, {Within: []string{"it's"}}, {Within: []string{"host:x"}}, {Within: []string{"a", "\x00"}},
		{Exactly: []string{""}}, {Exactly: []string{"."}}, {Exactly: []string{"a/"}}, {Exactly: []string{"/"}}, {Exactly: []string{"a/."}}, {Within: []string{"/x"}, Windows: true},
	} {
		if _, err := path.New(o); !errors.Is(err, path.ErrRoot) {
			t.Errorf("%+v: %v", o, err)
		} else if s := err.Error(); strings.Contains(s, "srv") {
			t.Errorf("repeats the path: %s", s)
		}
	}
}

// Every sentence is one of Reasons and repeats nothing.
func TestReasons(t *testing.T) {
	all := path.Reasons()
	seen := map[string]bool{}
	for _, why := range all {
		if seen[why] || !strings.HasSuffix(why, ".") {
			t.Errorf("%q twice, or no sentence", why)
		}
		seen[why] = true
	}
	if slices.Contains(all, "") {
		t.Error("no reason is a reason")
	}
}

// tree is a file system of links: from a path to where it leads.
type tree map[string]string

func (f tree) Resolve(p string) (string, bool) {
	if !strings.HasPrefix(p, "/") {
		p = "/repo/" + p
	}
	p = "/" + strings.Join(strings.FieldsFunc(strings.ReplaceAll(p, "/./", "/"), func(c rune) bool { return c == '/' }), "/")
	p = strings.TrimSuffix(p, "/.")
	for from, to := range f {
		if p == from || strings.HasPrefix(p, from+"/") {
			if to == "" {
				return "", false
			}
			return to + p[len(from):], true
		}
	}
	return p, true
}

// TestLinks: what lies inside by its letters must lie inside by its links.
func TestLinks(t *testing.T) {
	files := tree{
		"/srv/share/link": "/etc", "/srv/share/in": "/srv/share/sub", "/srv/share/loop": "", "/srv/share/other": "/data/x", "/away": "/srv/share/a", "/lnk": "/real",
		"/repo/out": "/etc", "/repo/src/in": "/repo/docs", "/repo/go.mod": "/repo/.env", "/repo/vendor": "/usr/vendor", "/srv/file": "/srv/other", "/repo/there": "/repo/src",
	}
	for _, c := range []struct {
		name string
		o    path.Options
		text string
		want string
	}{
		{"inside", path.Options{Within: []string{"/srv/share"}}, "/srv/share/a/new", ""},
		{"a link out", path.Options{Within: []string{"/srv/share"}}, "/srv/share/link/passwd", path.WhyLink},
		{"encoded", path.Options{Within: []string{"/srv/share"}}, "/srv/share/li%6ek/passwd", path.WhyLink},
		{"quoted", path.Options{Within: []string{"/srv/share"}}, "/srv/share/li'nk'/passwd", path.WhyLink},
		{"full-width", path.Options{Within: []string{"/srv/share"}}, "/srv/share/lｉnk/passwd", path.WhyLink},
		{"a link inside", path.Options{Within: []string{"/srv/share"}}, "/srv/share/in/a", ""},
		{"a loop", path.Options{Within: []string{"/srv/share"}}, "/srv/share/loop/a", path.WhyUntold},
		{"to another root", path.Options{Within: []string{"/srv/share", "/data"}}, "/srv/share/other/a", ""},
		{"to no root", path.Options{Within: []string{"/srv/share"}}, "/srv/share/other/a", path.WhyLink},
		{"a link from elsewhere", path.Options{Within: []string{"/srv/share"}}, "/away/a", path.WhyLink},
		{"surely elsewhere", path.Options{Within: []string{"/srv/share"}}, "/srv/x", path.WhyOutside},
		{"elsewhere, cannot be told", path.Options{Within: []string{"/srv/x"}}, "/srv/share/loop", path.WhyUntold},
		{"the root is a link", path.Options{Within: []string{"/lnk"}}, "/lnk/a", ""},
		{"relative", path.Options{Within: []string{"src"}}, "src/a", ""},
		{"the whole", path.Options{Within: []string{""}}, "src/in/a", ""},
		{"relative, out", path.Options{Within: []string{""}}, "out/passwd", path.WhyLink},
		{"relative, out of the folder", path.Options{Within: []string{"src"}}, "src/in/a", path.WhyLink},
		{"a relative root that leads out", path.Options{Within: []string{"vendor"}}, "vendor/a", path.WhyLink},
		{"a relative root that leads elsewhere inside", path.Options{Within: []string{"there"}}, "there/a", ""},
		{"a file that is a link", path.Options{Exactly: []string{"go.mod"}}, "go.mod", path.WhyLink},
		{"a file", path.Options{Exactly: []string{"go.sum"}}, "./go.sum", ""},
		{"an absolute file that is a link", path.Options{Exactly: []string{"/srv/file"}}, "/srv/file", path.WhyLink},
		{"an absolute file behind a link", path.Options{Exactly: []string{"/lnk/a"}}, "/lnk/a", ""},
	} {
		if why := rule(t, c.o).Check(c.text, files); why != c.want {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
		if why := rule(t, path.Options{}).Check(c.text, files); why != "" {
			t.Errorf("%s: hygiene looked at links: %s", c.name, why)
		}
	}
}

// blind sees everything but some paths.
type blind map[string]bool

func (f blind) Resolve(p string) (string, bool) { return "/repo/" + p, !f[p] }

// What cannot be told of the path, its root or where it starts is not taken for well.
func TestBlind(t *testing.T) {
	r := within(t, "src")
	if r.Check("src/a", blind{}) == path.WhyUntold {
		t.Error("what can be told is not")
	}
	for _, gone := range []string{"src/a", "."} {
		if why := r.Check("src/a", blind{gone: true}); why != path.WhyUntold {
			t.Errorf("without %q: %q", gone, why)
		}
	}
	if r.Check("src/a", blind{"src": true}) == "" {
		t.Error("a root that cannot be told holds a path")
	}
}

// An ordinary path is judged without a copy of it.
func TestNoAllocation(t *testing.T) {
	r := within(t, "/srv/share", "/data")
	if n := testing.AllocsPerRun(100, func() {
		if r.Check("/data/sub/folder/readme-2.md", nil) != "" {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, o := range map[string]path.Options{"hygiene": {}, "within": {Within: []string{"/srv/other", "/srv/share"}}} {
		r := rule(b, o)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Check("/srv/share/project/src/main_test.go", nil)
			}
		})
	}
}
