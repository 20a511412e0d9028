package labels_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

func ExampleOpenTopology() {
	site := origin.Must("https://shop.example")
	body := newDoc(site, 1, row("checkout", "srv", "server")).body() // as read from site.TopologyURL()

	top, err := labels.OpenTopology(site, []byte(body), labels.Known{}, t0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []credentials.KeyID{top.Site, kid('a')} {
		f := top.Evaluate(labels.Registration{Name: "checkout", Publisher: key}, t0)
		fmt.Println(f.Outcome, f.Standing, f.Measure)
	}
	// Output:
	// met attested accept
	// violated vetoed refuse
}

func TestPatterns(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no string // names, separated by spaces
	}{
		{"pay", "pay", "Pay pay_ apay pa"},
		{"pay*", "pay pay_all pay.", "pa Pay_all apay"},
		{"*pay", "pay a.pay", "payx"},
		{"a*z", "az a.z azz aaz", "a z aza ba_z"},
		{"aa*aa", "aaaa aaXaa aaaaa", "aaa aa a"},
		{"*", "a pay A.b-c_9", ""},
	}
	for _, tt := range tests {
		p, err := labels.ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range strings.Fields(tt.yes) {
			if !p.Match(n) {
				t.Errorf("%s does not match %s", p, n)
			}
		}
		for _, n := range strings.Fields(tt.no) {
			if p.Match(n) {
				t.Errorf("%s matches %s", p, n)
			}
		}
	}
	for _, bad := range []string{"", "**", "a**", "*a*", "a b", "a?", "[a]", "a/b", "\u00e9", "a\n", "*\n", strings.Repeat("a", 129), "*" + strings.Repeat("a", 128)} {
		if p, err := labels.ParsePattern(bad); !errors.Is(err, labels.ErrPattern) {
			t.Errorf("%q: %q, %v", bad, p, err)
		}
	}
}

func TestPublishers(t *testing.T) {
	for _, good := range []string{"server", string(kid('a')), "server:" + string(kid('a')), "sri:" + script, "sig:" + scriptKey} {
		if _, err := labels.ParsePublisher(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	k := string(kid('a'))
	for _, bad := range []string{
		"", "Server", "any", "*", k + "=", k[:42], "server:", "server:server", "server:" + k[1:], "prn_" + k, "sri:", "sri:" + script[:len(script)-1],
		"sri:" + strings.Replace(script, "sha384", "sha512", 1), "sri:" + strings.ReplaceAll(script, "B", "-"), script, "sig:" + scriptKey[:len(scriptKey)-1],
		"sig:" + scriptKey + "=", "sig:ed25519-" + strings.Repeat("A", 43) + "=", scriptKey, "sri:" + script + "\n", " server",
	} {
		if p, err := labels.ParsePublisher(bad); !errors.Is(err, labels.ErrPublisher) {
			t.Errorf("%q: %q, %v", bad, p, err)
		}
	}
}

func TestHandleActionsAreTheFewestOfAllRows(t *testing.T) {
	r := func(name string, as ...credentials.Action) labels.Row {
		return labels.Row{Name: labels.Pattern(name), Publishers: []labels.Publisher{"server"}, Level: credentials.LevelPoP, Actions: as}
	}
	top := &labels.Topology{Site: kid('s'), Expires: t0.Add(time.Hour), Rows: []labels.Row{
		r("*", credentials.AllActions()...), r("a*", credentials.Overwrite, credentials.Revoke), r("ab", credentials.Delegate, credentials.Revoke), r("abc"),
	}}
	for name, want := range map[string]int{"x": 3, "a": 2, "ab": 1, "abc": 0} {
		f := top.Evaluate(labels.Registration{Name: name, Publisher: kid('s')}, t0)
		if len(f.Actions) != want || f.Measure != labels.Accept {
			t.Errorf("%s: %v, %v", name, f.Actions, f.Measure)
		}
	}
	if len(top.Rows[0].Actions) != 3 || !slices.Equal(top.Rows[1].Actions, []credentials.Action{credentials.Overwrite, credentials.Revoke}) {
		t.Error("evaluating changed the topology")
	}
	if f := top.Evaluate(labels.Registration{Name: "x"}, t0); f.Actions != nil {
		t.Errorf("a violated row gives actions: %v", f.Actions)
	}
}

// What decides does not depend on the order of the rows.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	p := labels.Publisher(kid('p'))
	r := func(level credentials.Level, ps ...labels.Publisher) labels.Row {
		return labels.Row{Name: "*", Publishers: ps, Level: level}
	}
	for _, tt := range []struct {
		name    string
		a, b    labels.Row
		level   credentials.Level
		measure labels.Measure
	}{
		{"the least level counts", r(credentials.LevelPoP, p), r(credentials.LevelPoP, "server:"+p), credentials.LevelPoP, labels.Accept},
		{"the best publisher of a row counts", r(credentials.LevelPoP, p, "server:"+p), r(credentials.LevelPoP, "server:"+p, p), credentials.LevelSrv, labels.Accept},
		{"given to others goes before too low", r(credentials.LevelSrv, p), r(credentials.LevelPoP, "server"), credentials.LevelPoP, labels.Revoke},
		{"too low in both", r(credentials.LevelSrv, p), r(credentials.LevelSig, p), credentials.LevelPoP, labels.Veto},
		{"too low in one", r(credentials.LevelSrv, p), r(credentials.LevelPoP, p), credentials.LevelPoP, labels.Veto},
	} {
		for _, rows := range [][]labels.Row{{tt.a, tt.b}, {tt.b, tt.a}} {
			top := &labels.Topology{Site: kid('s'), Expires: t0.Add(time.Hour), Rows: rows}
			f := top.Evaluate(labels.Registration{Name: "x", Publisher: kid('p'), Held: true}, t0)
			if f.Level != tt.level || f.Measure != tt.measure {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

// With a further row, or without a publisher, nobody who is covered already
// stands better than before.
func TestStricterTopologyNeverPermitsMore(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pats := []labels.Pattern{"*", "a*", "*b", "ab", "a", "b", "a*b"}
	pubs := []labels.Publisher{"server", labels.Publisher(kid('p')), labels.Publisher("server:" + kid('q')), labels.Publisher("sri:" + script)}
	regs := []labels.Registration{
		{Publisher: kid('s')}, {Publisher: kid('p')}, {Publisher: kid('q')}, {Publisher: kid('x'), Script: script}, {Publisher: kid('x')}, {},
	}
	some := func() labels.Row {
		r := labels.Row{Name: pats[rnd.IntN(len(pats))], Level: credentials.Level(1 + rnd.IntN(4)), Actions: credentials.AllActions()[rnd.IntN(4):]}
		for _, p := range pubs {
			if rnd.IntN(2) == 0 {
				r.Publishers = append(r.Publishers, p)
			}
		}
		return r
	}
	for range 20000 {
		top := labels.Topology{Site: kid('s'), Expires: t0.Add(time.Hour)}
		for range rnd.IntN(4) {
			top.Rows = append(top.Rows, some())
		}
		more := top
		more.Rows = append(slices.Clone(top.Rows), some())
		rnd.Shuffle(len(more.Rows), func(i, j int) { more.Rows[i], more.Rows[j] = more.Rows[j], more.Rows[i] })
		for _, r := range regs {
			r.Name = []string{"a", "b", "ab", "axb", "c"}[rnd.IntN(5)]
			r.Held, r.Enrolled = rnd.IntN(2) == 0, rnd.IntN(2) == 0
			before, after := top.Evaluate(r, t0), more.Evaluate(r, t0)
			if before.Outcome == labels.RowUncovered {
				continue // the first row to cover a name may give it away
			}
			if after.Standing > before.Standing || after.Outcome > before.Outcome || after.Level > before.Level || len(after.Actions) > len(before.Actions) {
				t.Fatalf("%+v\n in %+v: %+v\n in %+v: %+v", r, top.Rows, before, more.Rows, after)
			}
		}
	}
}

func TestEnrolledSiteKey(t *testing.T) {
	site := origin.Must("https://shop.example")
	body := func(signer byte, ver uint64) []byte {
		d := newDoc(site, ver, goodRows()...)
		d.signer = signer
		return []byte(d.body())
	}
	enrolled := []credentials.KeyID{kid('n')}
	if _, err := labels.OpenTopology(site, body('s', 1), labels.Known{Enrolled: enrolled}, t0); !errors.Is(err, labels.ErrSiteKey) {
		t.Errorf("first use of another key than the enrolled: %v", err)
	}
	first, err := labels.OpenTopology(site, body('s', 5), labels.Known{}, t0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := labels.OpenTopology(site, body('n', 6), labels.Known{Topology: first, Enrolled: enrolled}, t0)
	if err != nil || second.Site != kid('n') {
		t.Fatalf("enrolled key: %v", err)
	}
	if _, err := labels.OpenTopology(site, body('n', 4), labels.Known{Topology: first, Enrolled: enrolled}, t0); !errors.Is(err, labels.ErrRolledBack) {
		t.Errorf("enrolled key, lower version: %v", err)
	}
	same := newDoc(site, 5, goodRows()...)
	same.signer = 'n'
	if _, err := labels.OpenTopology(site, []byte(same.body()), labels.Known{Topology: first, Enrolled: enrolled}, t0); !errors.Is(err, labels.ErrRolledBack) {
		t.Errorf("enrolled key, same version: %v", err)
	}
	if _, err := labels.OpenTopology(site, body('s', 7), labels.Known{Topology: second, Enrolled: enrolled}, t0); !errors.Is(err, labels.ErrSiteKey) {
		t.Errorf("back to the key before: %v", err)
	}
}

func TestOriginsWithoutSiteHaveNoTopology(t *testing.T) {
	for _, o := range []string{"stdio:gitlab", "channel:ops"} {
		d := newDoc(origin.Must("https://shop.example"), 1)
		if _, err := labels.OpenTopology(origin.Must(o), []byte(d.body()), labels.Known{}, t0); !errors.Is(err, labels.ErrOtherSite) {
			t.Errorf("%s: %v", o, err)
		}
	}
	// An endpoint's site speaks for it.
	site := origin.Must("https://shop.example")
	top, err := labels.OpenTopology(origin.Must("https://shop.example/mcp"), []byte(newDoc(site, 1).body()), labels.Known{}, t0)
	if err != nil || top.Origin != site {
		t.Errorf("endpoint: %v", err)
	}
}

func TestRowsSurviveTheLog(t *testing.T) {
	site := origin.Must("https://shop.example")
	top, err := labels.OpenTopology(site, []byte(newDoc(site, 5, goodRows()...).body()), labels.Known{}, t0)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := top.RowsJSON()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := labels.ParseRows(raw)
	if err != nil {
		t.Fatal(err)
	}
	logged := &labels.Topology{Origin: site, Ver: 5, Site: top.Site, Rows: rows, Expires: top.Expires}
	if a, b := outcome(top, t0), outcome(logged, t0); a != b {
		t.Errorf("as read %s, from the log %s", a, b)
	}
	for _, bad := range []string{"", "null", "{}", "[{}]", string(raw) + " []", strings.Replace(string(raw), "checkout", "check out", 1)} {
		if _, err := labels.ParseRows([]byte(bad)); !errors.Is(err, labels.ErrRows) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Whatever is taken has one form: its rows can be written and read again, and
// every publisher gets a finding from the closed sets.
func FuzzOpenTopology(f *testing.F) {
	site := origin.Must("https://shop.example")
	for _, r := range readings() {
		if r.doc != nil {
			if b := r.doc(site).body(); len(b) < 4<<10 {
				f.Add([]byte(b))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		top, err := labels.OpenTopology(site, body, labels.Known{}, t0)
		if (top == nil) != (err != nil) {
			t.Fatalf("%v with %v", top, err)
		}
		if err != nil {
			return
		}
		raw, err := top.RowsJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := labels.ParseRows(raw); err != nil {
			t.Fatal(err)
		}
		if _, err := labels.OpenTopology(site, body, labels.Known{Topology: top}, t0); err != nil {
			t.Fatalf("read a second time: %v", err)
		}
		_ = outcome(top, t0)
	})
}

// FuzzParseRows reaches what a fuzzer cannot sign: the claims themselves.
func FuzzParseRows(f *testing.F) {
	site := origin.Must("https://shop.example")
	top, err := labels.OpenTopology(site, []byte(newDoc(site, 5, goodRows()...).body()), labels.Known{}, t0)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := top.RowsJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(raw), "checkout")
	f.Add([]byte(`[{"actions":[],"level":"srv","name":"a*b","publishers":["sri:`+script+`","sig:`+scriptKey+`"]}]`), "ab")
	f.Add([]byte(`[]`), "")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		rows, err := labels.ParseRows(raw)
		if err != nil {
			return
		}
		top := &labels.Topology{Origin: site, Ver: 1, Site: kid('s'), Rows: rows, Expires: t0.Add(time.Hour)}
		again, err := top.RowsJSON()
		if err != nil {
			t.Fatal(err)
		}
		if rows2, err := labels.ParseRows(again); err != nil || len(rows2) != len(rows) {
			t.Fatalf("%s: written again as %s: %v", raw, again, err)
		}
		for _, p := range publishers {
			p.reg.Name = name
			f := top.Evaluate(p.reg, t0)
			if f.Outcome == labels.RowMet && !slices.ContainsFunc(rows, func(r labels.Row) bool { return r.Name.Match(name) }) {
				t.Fatalf("a row was met that does not cover %q", name)
			}
			if f.Measure == labels.Accept && f.Outcome == labels.RowViolated {
				t.Fatal("a violated row was accepted")
			}
		}
	})
}

func BenchmarkEvaluate1000Rows(b *testing.B) {
	b.ReportAllocs()
	top := &labels.Topology{Site: kid('s'), Expires: t0.Add(time.Hour)}
	for i := range labels.MaxRows {
		top.Rows = append(top.Rows, labels.Row{
			Name: labels.Pattern(fmt.Sprintf("tool_%d*", i)), Publishers: []labels.Publisher{"server"}, Level: credentials.LevelSrv,
			Actions: credentials.AllActions(),
		})
	}
	r := labels.Registration{Name: "tool_999_x", Publisher: kid('s')}
	for b.Loop() {
		if f := top.Evaluate(r, t0); f.Outcome != labels.RowMet {
			b.Fatal(f)
		}
	}
}
