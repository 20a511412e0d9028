package opinion

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/quarantine"
)

func all(int) bool { return true }

func results(texts ...string) []quarantine.Specimen {
	var set []quarantine.Specimen
	for i, s := range texts {
		set = append(set, quarantine.Specimen{Path: fmt.Sprintf("content[%d].text", i), Kind: quarantine.KindResult, Text: s})
	}
	return set
}

var alphabet = []rune("abcdefgh  \nàéß中文字🙂<[")

func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// TestWindows: all of the text is in some window, in order, within the bounds, at
// whole characters; and what is no longer than the overlap is whole in one of them,
// wherever it stands (cutting a text apart is an attack).
func TestWindows(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var texts []string
		for range 1 + r.IntN(40) {
			n := r.IntN(30)
			if r.IntN(4) == 0 {
				n = r.IntN(3000)
			}
			texts = append(texts, words(r, n))
		}
		if seed%10 == 0 {
			texts = append(texts, slices.Repeat([]string{"abc"}, 3*MaxPieces)...)
		}
		cfg := Config{Window: 256 + r.IntN(2000)}.orDefault()
		st := streamOf(results(texts...), all)
		checkWindows(t, st, cfg)
	}
}

func checkWindows(t *testing.T, st stream, cfg Config) {
	t.Helper()
	start := map[int]int{} // of each specimen in the stream
	total := 0
	for _, p := range st.pieces {
		start[p.At] = total
		total += p.To
	}
	reached, windows, pieces := 0, 0, 0
	for w := range st.windows(cfg) {
		size := 0
		for i, p := range w {
			s := st.set[p.At].Text
			if p.From >= p.To || p.To > len(s) || !utf8.RuneStart(s[p.From]) || p.To < len(s) && !utf8.RuneStart(s[p.To]) {
				t.Fatalf("piece %+v of %d bytes", p, len(s))
			}
			if i > 0 && (p.From != 0 || w[i-1].To != len(st.set[w[i-1].At].Text)) {
				t.Fatalf("pieces %+v are not one stretch", w)
			}
			size += p.To - p.From
		}
		first, last := w[0], w[len(w)-1]
		from, to := start[first.At]+first.From, start[last.At]+last.To
		if size > cfg.Window || len(w) > MaxPieces || to <= reached {
			t.Fatalf("window of %d bytes, %d pieces, to %d after %d", size, len(w), to, reached)
		}
		whole := windows > 0 && pieces < MaxPieces/2 // then nothing but the overlap says how far it goes back
		if from > reached || whole && from > max(0, reached-cfg.Overlap) {
			t.Fatalf("window begins at %d, the last ended at %d, overlap %d", from, reached, cfg.Overlap)
		}
		reached, pieces = to, len(w)
		windows++
	}
	if reached != total {
		t.Fatalf("windows reach %d of %d bytes", reached, total)
	}
	// of a text that is all marks a window holds a third, and an eighth of it twice
	if most := 2 + total/(cfg.Window/3-cfg.Overlap-8) + 4*len(st.pieces)/MaxPieces; windows > most {
		t.Fatalf("%d windows for %d bytes, %d pieces", windows, total, len(st.pieces))
	}
}

// TestMarksCount: however many marks a text takes, a request stays short, and the
// windows few.
func TestMarksCount(t *testing.T) {
	for name, s := range map[string]string{
		"single letters": strings.Repeat("a ", 20000), "brackets": strings.Repeat("<", 20000), "ideographs": strings.Repeat("字", 20000),
		"spaces": strings.Repeat(" \n", 20000) + "words at the end", "word": strings.Repeat("x", 40000), "not UTF-8": strings.Repeat("\xff", 20000) + "words",
	} {
		cfg := Config{Window: 1024, Requests: MaxRequests}.orDefault()
		st := streamOf(results(s, "and another one of these"), all)
		checkWindows(t, st, cfg)
		for w := range st.windows(cfg) {
			var b strings.Builder
			for _, l := range Lines(st.set, w) {
				mark(&b, l.Text, "_k7_")
			}
			if lines := len(Lines(st.set, w)); b.Len() > 2*cfg.Window+16*lines {
				t.Fatalf("%s: a window of %d bytes marked", name, b.Len())
			}
		}
	}
}

func TestLinesAreTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	set := results(words(r, 5000), "short", strings.Repeat("x", 1000), "\xff\xfe"+strings.Repeat("\x80", 500), " ")
	var pieces []Piece
	var want strings.Builder
	for i := range set {
		pieces = append(pieces, Piece{i, 0, len(set[i].Text)})
		want.WriteString(set[i].Text)
	}
	var got strings.Builder
	for _, l := range Lines(set, pieces) {
		if len(l.Text) > lineBytes || l.Text != set[l.At].Text[l.From:l.To] {
			t.Fatalf("line %+v", l)
		}
		got.WriteString(l.Text)
	}
	if got.String() != want.String() {
		t.Error("lines are not the text")
	}
}

func TestJoinedSurfaces(t *testing.T) {
	set := func(k quarantine.Kind, paths ...string) (out []quarantine.Specimen) {
		for _, p := range paths {
			out = append(out, quarantine.Specimen{Path: p, Kind: k, Text: "some words of a description"})
		}
		return out
	}
	d := quarantine.KindDescription
	for name, tt := range map[string]struct {
		set  []quarantine.Specimen
		want bool
	}{
		"surface":                {set(d, "tool[a].name", "tool[a].description", "tool[b].name"), true},
		"tools and prompts":      {set(d, "tool[a].name", "prompt[a].name"), true},
		"one item":               {set(d, "name", "description"), false},
		"one item, named":        {set(d, "tool[a].name", "tool[a].description"), false},
		"item that looks like":   {set(d, "name", "tool[a].x", "tool[b].x"), false},
		"result that looks like": {set(quarantine.KindResult, "tool[a].x", "tool[b].x"), false},
		"nothing":                {nil, false},
	} {
		if joined(tt.set) != tt.want {
			t.Errorf("%s: %v", name, !tt.want)
		}
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"v":1,"pieces":[[0,0,5],[1,2,4]]}`))
	f.Add([]byte(`{"v":1,"pieces":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b := quarantine.Batch{Specimens: results("hello world", "second text", "")}
		q, err := ParseQuestion(raw, b)
		if err != nil {
			if err != ErrQuestion {
				t.Fatal(err)
			}
			return
		}
		_ = Lines(b.Specimens, q.Pieces)
		again, err := ParseQuestion(q.Append(nil), b)
		if err != nil || !slices.Equal(again.Pieces, q.Pieces) {
			t.Fatalf("%v after encoding: %v", q, err)
		}
	})
}

func TestQuestions(t *testing.T) {
	b := quarantine.Batch{Specimens: results("hello world", "second text", strings.Repeat("long ", 10000))}
	for _, s := range []string{
		``, `null`, `[]`, `{}`, `{"v":1}`, `{"v":1,"pieces":null}`, `{"v":1,"pieces":[]}`, `{"v":2,"pieces":[[0,0,5]]}`,
		`{"v":1,"pieces":[[0,0,12]]}`, `{"v":1,"pieces":[[0,-1,5]]}`, `{"v":1,"pieces":[[0,5,5]]}`, `{"v":1,"pieces":[[0,6,5]]}`,
		`{"v":1,"pieces":[[3,0,1]]}`, `{"v":1,"pieces":[[-1,0,1]]}`, `{"v":1,"pieces":[[1,0,5],[0,0,5]]}`, `{"v":1,"pieces":[[0,0,2],[0,2,4]]}`,
		`{"v":1,"pieces":[[0,0]]}`, `{"v":1,"pieces":[[0,0,5,1]]}`, `{"v":1,"pieces":[[0,0,5]],"text":"x"}`, `{"v":1,"v":1,"pieces":[[0,0,5]]}`,
		`{"v":1,"pieces":[[0,0,5]]} ` + strings.Repeat(" ", MaxQuestion), `{"v":1,"pieces":[[2,0,16385]]}`, `{"v":1,"pieces":[[0,0,5.5]]}`,
		`{"v":1,"pieces":[["0",0,5]]}`, `{"v":1,"pieces":[[0,0,5]],"model":"other"}`,
	} {
		if q, err := ParseQuestion([]byte(s), b); err != ErrQuestion {
			t.Errorf("%.60s: %v, %v", s, q, err)
		}
	}
	if _, err := ParseQuestion([]byte(`{"v":1,"pieces":[[0,0,11],[2,0,16000]]}`), b); err != nil {
		t.Error(err)
	}
}
