package gateway

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/flat"
	"github.com/pratique-dev/pratique/labels/args"
)

// manyGuards are one guard of each kind, before a file system that is made up.
func manyGuards() []*guard {
	own := func(data string, files ...string) Own {
		return Own{Data: data, Files: files, Home: "/home/u", Listeners: []string{"127.0.0.1:7070", "https://gate.example", "http://[::1]", "10.0.0.7:443", "gate.example:90", "localhost:7071"}}
	}
	stat := func(p string) (same, ok bool) {
		return strings.HasSuffix(p, "/link") || p == "/up/.pratique data", !strings.Contains(p, "none")
	}
	var all []*guard
	for i, o := range []Own{
		own("/home/u/.pratique data"), own("/srv/own-data", "/etc/conf/rules.yaml", "/home/u/.pratique data"), own("/home/u/Prätique"), own("/srv/QUARZ"), own("/srv/klinik"),
		{Data: "/home/u/.pratique data", Home: "/home/u"}, {Listeners: []string{"127.0.0.1:7070"}, Home: "/home/u"},
	} {
		for _, root := range []string{"", "/work/dir"} {
			g := newGuard(o, root, false)
			if all = append(all, g); i < 5 {
				local, fold := *g, *g
				local.stat, fold.fold = stat, true
				all = append(all, &local, &fold)
			}
		}
	}
	windows := newGuard(own(""), "", false)
	windows.fold, windows.home = true, "C:/Users/u"
	windows.addFolder(`C:\Users\u\AppData\pratique`)
	return append(all, windows)
}

// agree holds what the guards say of a text, and of params that have it, against the
// guard as it was.
func agree(t *testing.T, all []*guard, text, params string) (found int) {
	f := ask(methodCall, params)
	p, err := readParams(&f, 1<<24)
	var tree *args.Tree
	if err == nil && jsontext.Value(params).IsValid() {
		if tree, err = args.Parse(p.arguments()); err == nil {
			defer tree.Release()
		}
	}
	for i, g := range all {
		old := &oldGuard{g}
		if g.stat != nil {
			sameWay(t, g, text)
		}
		want := old.namesText(text)
		if got := g.namesText(text); got != want {
			t.Fatalf("guard %d: %v, was %v: %q", i, got, want, text)
		}
		if want {
			found++
		}
		if !jsontext.Value(params).IsValid() {
			continue
		}
		want = old.names([]byte(params))
		if got := g.names([]byte(params)); got != want {
			t.Fatalf("guard %d: %v, was %v: %s", i, got, want, params)
		}
		if want {
			found++
		}
		if tree == nil {
			continue
		}
		if got := g.namesCall(&p, tree); got != want || old.namesCall(&p, tree) != want {
			t.Fatalf("guard %d: %v in a call, was %v: %s", i, got, want, params)
		}
	}
	return found
}

// sameWay holds the paths that a text is looked up by against those that it was.
func sameWay(t *testing.T, g *guard, text string) {
	var way, old []string
	with := func(to *[]string) *guard {
		asks := *g
		asks.stat = func(p string) (same, ok bool) {
			*to = append(*to, p)
			return g.stat(p)
		}
		return &asks
	}
	with(&way).namesText(text)
	(&oldGuard{with(&old)}).namesText(text)
	if !slices.Equal(way, old) {
		t.Fatalf("%q: %q, was %q", text, way, old)
	}
}

// A maker makes texts and params in which what is ours may be planted.
type maker struct{ *rand.Rand }

var planted = []string{
	"/home/u/.pratique data", "/srv/own-data", "/etc/conf/rules.yaml", "/home/u/Prätique", "/srv/QUARZ", `C:\Users\u\AppData\pratique`, "C:/Users/u/AppData/Pratique/x",
	".pratique data", "own-data", "rules.yaml", "Prätique", "quarz", "/home/u", "/home", "~", "$HOME", "${HOME}", "%USERPROFILE%", "~/.pratique data", "u/.pratique data/keys", "/srv", "/etc/conf", "/",
	"link", "a/link", "./link", "/up", "none/link", "..", "../..", "../../srv/own-data", "/srv/own-data/keys/root.jwk", "/srv/own-*", "/srv/*", "/srv/own-data.", "/srv/own-data2",
	"127.0.0.1:7070", "localhost:7070", "http://127.1:7070/x", "http://2130706433:7070", "https://gate.example/", "https://GATE.example:443", "http://localhost", "[::1]:80", "gate.example:90", "gate.example",
	"/srv/klinik", "/srv/\u212alinik", ".prat*", "u/.pratiqu?/keys", "own-dat[a]", "~/", `["localhost",7070]`, ` ["10.0.0.7","443"]`, `[["90","gate.example"]]`,
	"7070", "90", "443", "80", "70701", ":7070", ":", "::", "127.0.0.1", "localhost", "10.0.0.7", "0x7f000001", "[::1]", "file:///srv/own-data", "FILE:/srv/own-data", "host:/srv/own-data/x", "f/x", "F:/y",
}

var fillers = []string{
	" ", "\t", "\n", "\r\n", `"`, "'", "`", "=", ";", "|", "&", "<", ">", "(", ")", ",", "{", "}", "[", "]", "\x00", "\u00a0", "\u00c2", "\u2003", "\ufeff", "/", `\`, "//", "/./", ".", "..", "~", "%", "%2", "%2f", "%252F", "%5c", ":", "://",
	"a", "word", "The form asks for a name", "src/accounts/form.ts", "feature/new", "e.g. ", " .x", "é", "😀", "／", "１２７.0.0.1", "\u200b", "\u2044", "0", "12", "1204", "-1", "{}", "[1]", `{"a":1}`, "\\n", "\\x2f", "\\u002f", "c:/", "*", "?", "K", "q", "Q",
}

// text is what is ours and what is not side by side, encoded in some of the ways.
func (m maker) text() string {
	var b strings.Builder
	for range m.IntN(4) {
		switch m.IntN(3) {
		case 0:
			b.WriteString(planted[m.IntN(len(planted))])
		case 1:
			if m.IntN(4) == 0 {
				b.WriteString([]string{"\u00a0", "\u00c2\u00a0", " "}[m.IntN(3)] + []string{"x/../link", ".x/link", "~/.pratique data/", "/srv/x/../own-data"}[m.IntN(4)])
			}
		default:
			b.WriteString(fillers[m.IntN(len(fillers))])
		}
	}
	s := b.String()
	for range m.IntN(4) {
		s = m.encoded(s)
	}
	switch m.IntN(60) {
	case 0:
		s = strings.Repeat("Some words, ", 500) + s + strings.Repeat(" and more", m.IntN(3))
	case 1, 2, 3, 4:
		if i := m.IntN(len(s) + 1); i < len(s) { // one byte less or another
			s = strings.ToValidUTF8(s[:i]+string(rune(m.IntN(128)))+s[i+m.IntN(2):], "")
		}
	}
	return s
}

func (m maker) encoded(s string) string {
	each := func(one func(r rune) string) string {
		var b strings.Builder
		often := 1 + m.IntN(4)
		for _, r := range s {
			if m.IntN(often) == 0 {
				b.WriteString(one(r))
			} else {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	switch m.IntN(14) {
	case 0:
		return each(func(r rune) string {
			if r < utf8.RuneSelf {
				return fmt.Sprintf("%%%02x", r)
			}
			return string(r)
		})
	case 1:
		return strings.NewReplacer("%", "%25", "/", "%2F", ":", "%3A", " ", "%20").Replace(s)
	case 2:
		return q(s)
	case 3:
		return `{"p":` + q(s) + `,` + q(s) + `:1}`
	case 4:
		return `[` + m.quoted(s) + `]`
	case 5: // full-width
		return each(func(r rune) string {
			if r > ' ' && r < 0x7f {
				return string(r + 0xfee0)
			}
			return string(r)
		})
	case 6:
		return strings.ToUpper(s)
	case 7:
		return strings.ReplaceAll(s, "/", []string{"//", "/./", "/x/../", `\`, `\/`, `\\`}[m.IntN(6)])
	case 8:
		return each(func(r rune) string { return `\` + string(r) })
	case 9:
		return each(func(r rune) string {
			if r < utf8.RuneSelf {
				return fmt.Sprintf([]string{`\x%02x`, `\u%04x`}[m.IntN(2)], r)
			}
			return string(r)
		})
	case 10:
		return each(func(r rune) string { return string(r) + []string{"", "", "\u200b", "\u2060"}[m.IntN(4)] })
	case 11:
		return strings.Repeat(" \n"[m.IntN(2):], m.IntN(3)) + s + strings.Repeat(" ", m.IntN(2))
	case 12:
		return s + fillers[m.IntN(len(fillers))] + planted[m.IntN(len(planted))]
	}
	return planted[m.IntN(len(planted))] + fillers[m.IntN(len(fillers))] + s
}

// quoted is a string of JSON, in which some is escaped that need not be.
func (m maker) quoted(s string) string {
	often := []int{1, 2, 8, 1000}[m.IntN(4)]
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		one := q(string(r))
		switch {
		case m.IntN(often) == 0 && r < 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '/' && m.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteString(one[1 : len(one)-1])
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (m maker) value(deep int) string {
	switch n := m.IntN(12); {
	case n < 1:
		return []string{"null", "true", "false", "-7070", "70.70", "1e3", "0"}[m.IntN(7)]
	case n < 2:
		return []string{"7070", "90", "443", "80", "1204", "7", "70701"}[m.IntN(7)]
	case n < 4 && deep < 4:
		var all []string
		for range m.IntN(4) {
			all = append(all, m.value(deep+1))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case n < 7 && deep < 4:
		return m.object(deep+1, nil)
	case n < 8:
		return m.quoted(planted[m.IntN(len(planted))])
	}
	return m.quoted(m.text())
}

// object has members beside those that are given.
func (m maker) object(deep int, all []string) string {
	for i := range m.IntN(4) {
		name := fmt.Sprintf(`"m%d"`, i)
		if m.IntN(6) == 0 {
			name = m.quoted(fmt.Sprintf("%d", i) + m.text())
		}
		all = append(all, name+[]string{":", " : "}[m.IntN(2)]+m.value(deep))
	}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "{" + strings.Join(all, ",") + "}"
}

func (m maker) params() string {
	all := []string{`"name":` + m.quoted([]string{"it", "it", "a/b", "7070"}[m.IntN(4)])}
	if m.IntN(8) > 0 {
		all = append(all, `"arguments":`+m.object(0, nil))
	}
	if m.IntN(2) == 0 {
		all = append(all, `"_meta":`+m.object(2, []string{`"progressToken":7`}))
	}
	if m.IntN(3) == 0 {
		return m.object(2, all)
	}
	return "{" + strings.Join(all, ",") + "}"
}

// TestOwnGuardAgrees: the guard finds what it found when it looked at each text anew,
// and nothing else, in whatever way what is ours is written.
func TestOwnGuardAgrees(t *testing.T) {
	all := manyGuards()
	cases, found := 30_000, 0
	if testing.Short() {
		cases = 3000
	}
	m := maker{rand.New(rand.NewPCG(7, 11))}
	for i := range cases {
		some := all[i%len(all)]
		found += agree(t, []*guard{some, all[m.IntN(len(all))]}, m.text(), m.params())
	}
	if found < cases/4 || found > cases*3 {
		t.Errorf("%d of %d name what is ours", found, 4*cases)
	}
}

// FuzzOwnGuardAgrees is TestOwnGuardAgrees of any text and any params.
func FuzzOwnGuardAgrees(f *testing.F) {
	all := manyGuards()
	m := maker{rand.New(rand.NewPCG(3, 4))}
	for _, s := range slices.Concat(planted, fillers) {
		f.Add(s, `{"name":"it","arguments":{"a":`+q(s)+`}}`)
	}
	for range 100 {
		f.Add(m.text(), m.params())
	}
	f.Fuzz(func(t *testing.T, text, params string) { agree(t, all, text, params) })
}

// TestNeedle: what a long text is searched for is found as it is in lower case.
func TestNeedle(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(5, 6))}
	letters := []string{"q", "Q", "a", "A", "k", "K", "\u212a", "é", "É", "İ", ".", "-", "1", " ", "/", "\x00", "\xc3"}
	found := 0
	for range 100_000 {
		var b strings.Builder
		for range m.IntN(12) {
			b.WriteString(letters[m.IntN(len(letters))])
		}
		v, low := b.String(), strings.ToLower(letters[m.IntN(len(letters))]+letters[m.IntN(len(letters))])
		n := newNeedle(low)
		want := strings.Contains(strings.ToLower(v), low)
		if n.in(v, flat.Classes(v)) != want {
			t.Fatalf("%q in %q: not %v", low, v, want)
		}
		if want {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("%d were found", found)
	}
}
