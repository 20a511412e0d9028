package flat_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/flat"
)

var controls = regexp.MustCompile(`[\x00-\x1f]`)

// same reads a string as the root, as an element beside others and as a name, and holds
// what is decoded and marked against the decoder of jsontext. Where it is loose that
// has errors, and is what counts all the same.
func same(t *testing.T, inside string, loose bool) bool {
	quoted := `"` + inside + `"`
	want, err := jsontext.AppendUnquote(nil, quoted)
	if loose { // which goes on where that decoder stops
		want, _ = jsontext.AppendUnquote(nil, controls.ReplaceAllStringFunc(quoted, func(c string) string { return fmt.Sprintf(`\u%04x`, c[0]) }))
	}
	has := naive(string(want))
	if err != nil && !strings.Contains(inside, `\`) {
		want = []byte(inside) // what has no escapes is not decoded
	}
	for i, raw := range []string{quoted, `["\u0061",` + quoted + `]`, `{` + quoted + `:1}`} {
		var d flat.Doc
		ok := d.Read([]byte(raw), raw, flat.MaxNodes, loose)
		if !loose && ok != (err == nil) {
			t.Fatalf("%q: read %v, but %v", raw, ok, err)
		}
		if !ok {
			return false
		}
		if n := uint32(len(d.Nodes)) - 1; i == 2 {
			if got := d.NameOf(n); got != string(want) {
				t.Fatalf("%q as a name is %q, want %q", inside, got, want)
			}
			if got := d.Nodes[n].Marks; has != 0 && got&flat.MarkName == 0 || has == 0 && got != 0 && err == nil && !strings.Contains(inside, `\u`) {
				t.Fatalf("%q as a name is marked %b", inside, got)
			}
		} else if got := d.TextOf(n); got != string(want) {
			t.Fatalf("%q is %q, want %q", inside, got, want)
		} else if got := d.Nodes[n].Marks; has != 0 && got != flat.MarkText || has == 0 && got != 0 && err == nil && !strings.Contains(inside, `\u`) {
			t.Fatalf("%q is marked %b, has %b", inside, got, has)
		}
	}
	return true
}

var pieces = []string{`\n`, `\r`, `\t`, `\b`, `\f`, `\"`, `\\`, `\/`, `\u0041`, `\u002f`, `\u005C`, `\u0000`, `\u007f`, `\u0080`, `\u07ff`, `\u20AC`, `\uffff`,
	`\ufffd`, `\ud83d\ude00`, `\uD800\uDC00`, `\uDBFF\udfff`, `\ud800`, `\udc00`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\ud83d\n`, `\ud83d\`, `\u00`, `\x`, `\`, `\u00zz`,
	"/", "~", ":", "%", "é", "\u2044", "😀", "\xff", "\xed\xa0\x80", "\t", "\x01", "a", " ", "abcdefgh", "0123456789abcdefXYZ", "{", `"`}

// TestText takes strings of pieces in any order.
func TestText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var read [2]int
	for range 200_000 {
		var b strings.Builder
		few := 1 + r.IntN(len(pieces)) // of the pieces, so that most are read
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(few)])
		}
		for i, loose := range []bool{false, true} {
			if same(t, b.String(), loose) {
				read[i]++
			}
		}
	}
	if read[0] < 50_000 || read[1] < read[0]+1000 {
		t.Errorf("%d were read strictly, %d loosely", read[0], read[1])
	}
}

// FuzzText is TestText of any string.
func FuzzText(f *testing.F) {
	for _, s := range pieces {
		f.Add(s)
		f.Add("prose " + s + `\n more of it ` + s + s)
	}
	f.Fuzz(func(t *testing.T, inside string) {
		same(t, inside, false)
		same(t, inside, true)
		if got, want := flat.Classes(inside), naive(inside); got != want || flat.Classes([]byte(inside)) != want {
			t.Errorf("%q has %b, want %b", inside, got, want)
		}
	})
}

var prose = strings.Repeat(`The form asks for a name and an address. It says at once what is missing, and sends nothing before.\n`, 6)

func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"prose": prose, "json": strings.Repeat(`{\"a\":1,\"b\":\"c\"},`, 30), "hex": strings.Repeat(`\u0061`, 100),
	} {
		raw := `"` + s + `"`
		b.Run(name, func(b *testing.B) {
			var d flat.Doc
			if !d.Read([]byte(raw), raw, 1, false) {
				b.Fatal(raw)
			}
			b.ReportAllocs()
			for b.Loop() {
				d.Nodes[0].Text, d.Texts = 0, d.Texts[:0]
				d.TextOf(0)
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	raw := `{"name":"src/a.ts","text":"` + prose + `","n":[1,2,3],"url":"https://example.test/a"}`
	src := []byte(raw)
	var d flat.Doc
	b.ReportAllocs()
	for b.Loop() {
		if !d.Read(src, raw, flat.MaxNodes, false) {
			b.Fatal(raw)
		}
	}
}

func BenchmarkClasses(b *testing.B) {
	for name, s := range map[string]string{"short": "src/a.ts"[:6], "path": "feature/new-accounts", "prose": prose} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				flat.Classes(s)
			}
		})
	}
}
