package flat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/flat"
)

func ExampleDoc_Read() {
	raw := `{"id":9007199254740993,"tags":["a","\u0062"]}`
	var d flat.Doc
	fmt.Println(d.Read([]byte(raw), raw, flat.MaxNodes, false))
	for i, x := range d.Nodes {
		fmt.Printf("%c %q %s\n", x.Kind, d.NameOf(uint32(i)), raw[x.At:x.End])
	}
	fmt.Println(d.TextOf(4))
	// Output:
	// true
	// { "" {"id":9007199254740993,"tags":["a","\u0062"]}
	// 0 "id" 9007199254740993
	// [ "tags" ["a","\u0062"]
	// " "" "a"
	// " "" "\u0062"
	// b
}

// Names that may be taken for each other are noted, wherever they stand.
func TestNear(t *testing.T) {
	for s, near := range map[string]bool{
		`{"a":1,"b":{"a":2,"c":[{"A":1},{"a":1}]}}`: false, `{"a":1,"A":2}`: true, `[{"x":{"branch":1,"Branch":2}}]`: true,
		`{"s":1,"\u017f":2}`: true, `{"ask":1,"as\u212a":2}`: true, `{"σ":1,"ς":2}`: true, `{"ß":1,"ẞ":2}`: true, `{}`: false, `1`: false,
		`{` + many(33) + `}`: true, // of many it is not told
	} {
		var d flat.Doc
		if !d.Read([]byte(s), s, flat.MaxNodes, false) || d.Near != near {
			t.Errorf("%.40s: near %v", s, d.Near)
		}
	}
}

func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d":%d`, i, i))
	}
	return strings.Join(all, ",")
}

// Marks are told of names and strings as they are decoded, wherever in them they stand,
// and of nothing beside them; \u is one, whatever it is for.
func TestMarks(t *testing.T) {
	for _, pad := range []int{0, 1, 3, 7, 8, 9, 15, 16, 40} {
		for _, c := range []string{"/", "~", ":", "%", `\\`, `\n`, `\"`, `\/`, `\u002F`, `\u003a`, `\u0061`, `\u00e9`, `\ud83d\ude00`, "é", "😀", "a", "-", ".", "@", "{", "}", "$", "&", "\x7f", "/:", "%é"} {
			text := strings.Repeat("a", pad) + c
			for _, behind := range []string{"", "b", strings.Repeat("b", 20)} {
				raw := fmt.Sprintf(`{"%s":"x","n":"%s","o":1}`, text+behind, text+behind)
				var d flat.Doc
				if !d.Read([]byte(raw), raw, flat.MaxNodes, false) {
					t.Fatal(raw)
				}
				has := naive(d.TextOf(2))
				want := has != 0 || strings.HasPrefix(c, `\u`)
				got := d.Nodes[1].Marks == flat.MarkName && d.Nodes[2].Marks == flat.MarkText
				if got != want || !want && d.Nodes[1].Marks|d.Nodes[2].Marks != 0 || d.Nodes[3].Marks != 0 || flat.Classes(d.TextOf(2)) != has {
					t.Errorf("%s: %b %b, want %v", raw, d.Nodes[1].Marks, d.Nodes[2].Marks, want)
				}
			}
		}
	}
}

// naive is Classes, one byte after the other.
func naive(s string) (has uint8) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\':
			has |= flat.Back | flat.Slash
		case c == '/', c == '~':
			has |= flat.Slash
		case c == ':':
			has |= flat.Colon
		case c == '%':
			has |= flat.Percent
		case c >= 0x80:
			has |= flat.High
		}
	}
	return has
}

// A reading that is used again knows nothing of the one before.
func TestReadAgain(t *testing.T) {
	var d flat.Doc
	for _, s := range []string{`{"a":1,"A":{"\u0062":[[]]}}`, `x`, `{"c":"d"}`} {
		ok := d.Read([]byte(s), s, flat.MaxNodes, false)
		if ok != (s != "x") || s[0] == '{' && strings.Contains(s, "c") && (d.Near || d.Deep != 1 || len(d.Nodes) != 2 || len(d.Texts) != 0) {
			t.Errorf("%s: %v, %+v", s, ok, d)
		}
		d.Reset(1 << 10)
	}
	if d.Read([]byte(`[1,2,3]`), "", 3, false) || !d.Read([]byte(`{"a":1,"a":2}`), "", 3, true) {
		t.Error("bounds or looseness are not kept to")
	}
}
