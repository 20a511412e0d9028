package main

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// testSpecimens puts an order into every place that an agent reads, each beside an
// innocent twin that says something else in the same place. The order is withheld
// alone: its item, message or part; the twin passes byte for byte; the agent reads no
// word of it; and the operator is shown where it stands.
func testSpecimens(t *testing.T) {
	for i, c := range crossings() {
		t.Run("items "+string(c.way)+" "+c.rev, func(t *testing.T) {
			t.Parallel()
			(&scene{t, c.way, c.rev}).items(i)
		})
		t.Run("returned "+string(c.way)+" "+c.rev, func(t *testing.T) {
			t.Parallel()
			(&scene{t, c.way, c.rev}).returned(i)
		})
		t.Run("server "+string(c.way)+" "+c.rev, func(t *testing.T) {
			t.Parallel()
			(&scene{t, c.way, c.rev}).server()
		})
	}
}

// A crossing is a way in a revision.
type crossing struct {
	way stage.Way
	rev string
}

// crossings are both eras on ways that have stdio, and HTTP, on both sides; with the
// tag long, on all ways. Older revisions of the first era lack some of the places.
func crossings() (out []crossing) {
	ws := []stage.Way{stage.StdioStdio, stage.HTTPHTTP}
	if everything {
		ws = append(ws, stage.StdioHTTP, stage.HTTPStdio)
	}
	for _, w := range ws {
		for _, rev := range []string{"2025-11-25", mcptest.Modern} {
			out = append(out, crossing{w, rev})
		}
	}
	return out
}

// looks tells whether a scene looks at what the operator is shown of a vector: with
// the tag long all do, else each is looked at in one of them.
func looks(vector, crossing int) bool { return everything || vector%4 == crossing%4 }

func inBase64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// A Found is one reason for a verdict, as `pratique quarantine show` says.
type found struct {
	Category string `json:"category"`
	Verdict  string `json:"verdict"`
	Path     string `json:"path"`
	From     int    `json:"from"`
	To       int    `json:"to"`
	Said     string `json:"said"`
}

// shown wants the operator's view of something in quarantine to name the place, and
// nothing else but what is inside of it (JSON, base64); every span to have some of the
// words in it, and one to have nothing but words. whole: the words are found as part of
// what stands around them.
func (s *scene) shown(h *stage.House, id, place, path, words string, whole bool) {
	s.Helper()
	var out struct {
		Found []found `json:"found"`
		Texts []struct {
			Path string `json:"path"`
			Text string `json:"text"`
		} `json:"texts"`
	}
	h.JSON(&out, "quarantine", "show", "--data", h.Data, "--id", id)
	under := func(p string) bool { return p == path || strings.HasPrefix(p, path+"(") }
	exact := whole
	for _, f := range out.Found {
		switch {
		case !under(f.Path):
			s.Errorf("%s: found %s at %s, not at %s", place, f.Category, f.Path, path)
		case f.To <= f.From || f.Said == "":
			s.Errorf("%s: %s has no span: %+v", place, f.Category, f)
		case strings.Contains(words, f.Said) || strings.Contains(inBase64(words), f.Said):
			exact = true
		case !whole && !overlap(f.Said, words):
			s.Errorf("%s: the span of %s is %q, which is nothing of %q", place, f.Category, f.Said, words)
		}
	}
	if !exact || len(out.Found) == 0 {
		s.Errorf("%s: nothing was found that is of the words %q alone: %+v", place, words, out.Found)
	}
	for _, x := range out.Texts {
		if under(x.Path) && strings.Contains(x.Text, "⟦") {
			return
		}
	}
	s.Errorf("%s: the text at %s is not marked: %+v", place, path, out.Texts)
}

// overlap tells whether one text has the other in it, or ends as the other begins.
func overlap(a, b string) bool {
	if strings.Contains(a, b) {
		return true
	}
	const least = 8 // letters
	for n := least; n <= min(len(a), len(b)); n++ {
		if a[len(a)-n:] == b[:n] || b[len(b)-n:] == a[:n] {
			return true
		}
	}
	return false
}

// silent wants no frame that the agent was sent to have a planted word in it.
func (s *scene) silent(a *mcptest.Agent, more ...string) {
	s.Helper()
	for _, f := range a.Frames() {
		low := strings.ToLower(string(f.Raw))
		for _, w := range append(more, mark, "id_rsa", "previous instructions", "system prompt", inBase64(payloads[0])[:20]) {
			if strings.Contains(low, strings.ToLower(w)) {
				s.Errorf("the agent was sent %q: %.600s", w, f.Raw)
			}
		}
	}
}

// lists are the members of a script by the kind of their items.
func lists(sc *mcptest.Script) map[string]*mcptest.List {
	return map[string]*mcptest.List{"tool": &sc.Tools, "prompt": &sc.Prompts, "resource": &sc.Resources, "template": &sc.Templates}
}

// listing is how a kind is listed: method, member and the name of items.
var listing = map[string][3]string{
	"tool": {"tools/list", "tools", "name"}, "prompt": {"prompts/list", "prompts", "name"},
	"resource": {"resources/list", "resources", "uri"}, "template": {"resources/templates/list", "resourceTemplates", "uriTemplate"},
}

// planted is the item of a plant, and its name: the bad one or the twin.
func (p *plant) planted(i int, bad bool) (item, name, words string) {
	words = p.good
	name = bare("twin_", p.place)
	if bad {
		words, name = or(p.bad, payloads[i%len(payloads)]), bare(mark+"_", p.place)
	}
	item = fill(p.shape, words, name)
	return item, mcptest.Text(mcptest.JSON(item), listing[p.list][2]), words
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// items: what is listed.
func (s *scene) items(crossing int) {
	sc := mcptest.Script{Answers: map[string]mcptest.Answer{}}
	for i := range plants {
		p := &plants[i]
		twin, _, _ := p.planted(i, false)
		bad, _, _ := p.planted(i, true)
		l := lists(&sc)[p.list]
		l.Items = append(l.Items, mcptest.JSON(bad), mcptest.JSON(twin))
	}
	h := stage.New(s, s.way, sc, stage.Options{})
	a := h.Agent(s.rev)
	a.Start()
	got := map[string]mcptest.Message{}
	for kind, l := range listing {
		got[kind] = a.Request(l[0], "")
	}
	held := map[string]stage.Held{}
	for _, x := range h.Quarantine() {
		held[x.Kind+" "+x.Name] = x
	}
	if len(held) != len(plants) {
		s.Errorf("%d items are withheld, of %d with an order: %+v", len(held), len(plants), held)
	}
	var refs []stage.Refusal
	for i := range plants {
		p := &plants[i]
		twin, name, _ := p.planted(i, false)
		if raw := raw(got[p.list], listing[p.list], name); string(raw) != twin {
			s.Errorf("%s: the twin is %s, sent was %s", p.place, raw, twin)
		}
		_, name, words := p.planted(i, true)
		if slices.Contains(got[p.list].Names(), name) {
			s.Errorf("%s is listed", name)
		}
		if p.list == "tool" {
			refs = append(refs, stage.Refused(s, a.Call(name, `{}`), "not_shown"))
		}
		s.tally(row{vector: "order in " + p.list + ": " + p.place, tries: 1, done: h.Up.Executed(name)})
		x, ok := held[p.list+" "+name]
		if !ok || x.State != "withheld" || x.Verdict != "suspect" && x.Verdict != "hostile" {
			s.Errorf("%s: held as %+v", p.place, x)
			continue
		}
		if looks(i, crossing) {
			s.shown(h, x.ID, p.place, strings.ReplaceAll(p.path, "«W»", words), words, p.whole)
		}
	}
	const singly = 16 // refusals of the same kind have entries of their own; the rest are counted in one
	for _, e := range h.Recorded(refs[:singly]...) {
		if e.Name == "" || e.Kind != "tool" {
			s.Errorf("the entry names no item: %+v", e)
		}
	}
	for i := range plants { // and the record says of each that it was held back
		_, name, _ := plants[i].planted(i, true)
		if es := h.Held(name); everything && len(es) != 1 {
			s.Errorf("%s: the record says %+v", plants[i].place, es)
		}
	}
	s.silent(a)
}

// raw is the item of that name in a listing, as it came.
func raw(m mcptest.Message, l [3]string, name string) mcptest.JSON {
	for i := 0; ; i++ {
		v := mcptest.Path(m.Result, l[1], fmt.Sprint(i))
		if v == nil || mcptest.Text(v, l[2]) == name {
			return v
		}
	}
}
