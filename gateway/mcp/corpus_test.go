package mcp

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/mcptest/frames"
)

// Show 4 at the level of frames: what was parsed and written again has the same
// members, byte for byte but for line breaks between tokens.
func TestCorpusArrivesEqual(t *testing.T) {
	all := frames.All()
	if len(all) < 200 {
		t.Fatalf("only %d frames", len(all))
	}
	for _, c := range all {
		f, err := ParseOne(c.Bytes, Limits{})
		if err != nil {
			t.Errorf("%s %s %s: %v\n%s", c.From, c.Era, c.Theme, err, c.Bytes)
			continue
		}
		out := f.Bytes()
		if bytes.ContainsAny(out, "\r\n") {
			t.Errorf("not on one line: %q", out)
		}
		want, got := members(t, c.Bytes), members(t, out)
		if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) {
			t.Errorf("other members:\n%s\n%s", c.Bytes, out)
		}
		for name, v := range want {
			if v = appendLine(nil, v); !bytes.Equal(v, got[name]) && !(name == "error" && sameError(t, v, got[name])) {
				t.Errorf("%s changed:\n%s\n%s", name, v, got[name])
			}
		}
	}
}

// members reads an object with the library, not with what is under test.
func members(t *testing.T, object []byte) map[string]jsontext.Value {
	t.Helper()
	var m map[string]jsontext.Value
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return m
}

// sameError compares errors, whose message is decoded on the way.
func sameError(t *testing.T, a, b []byte) bool {
	am, bm := members(t, a), members(t, b)
	var at, bt string
	if json.Unmarshal(am["message"], &at) != nil || json.Unmarshal(bm["message"], &bt) != nil || at != bt {
		return false
	}
	delete(am, "message")
	delete(bm, "message")
	return maps.EqualFunc(am, bm, func(x, y jsontext.Value) bool { return bytes.Equal(x, y) })
}

// In a batch and on a line of a stream the corpus arrives as well.
func TestCorpusInOtherFrames(t *testing.T) {
	var lines, events bytes.Buffer
	lw, ew := NewLineWriter(&lines), NewEventWriter(&events, nil)
	var want [][]byte
	for _, c := range frames.All() {
		f, err := ParseOne(c.Bytes, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		batch, is, err := Parse(append(append([]byte("["), c.Bytes...), ']'), Limits{})
		if err != nil || !is || !bytes.Equal(batch[0].Bytes(), f.Bytes()) {
			t.Errorf("in a batch: %v %s", err, c.Bytes)
		}
		if err := lw.Write(f); err != nil {
			t.Fatal(err)
		}
		if err := ew.WriteFrame(f, "7"); err != nil {
			t.Fatal(err)
		}
		want = append(want, f.Bytes())
	}
	lr, er := NewLineReader(&lines, Limits{}), NewEventReader(&events, Limits{})
	for _, w := range want {
		if l, err := lr.Read(); err != nil || l.Kind != Text || !bytes.Equal(l.Data, w) {
			t.Fatalf("line: %v %s", err, l.Data)
		}
		if e, err := er.Read(); err != nil || e.Name != "message" || *e.ID != "7" || !bytes.Equal(e.Data, w) {
			t.Fatalf("event: %v %s", err, e.Data)
		}
	}
}
