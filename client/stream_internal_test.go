package client

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
)

func TestReadEvents(t *testing.T) {
	const text = ": hello\n\nevent: label\nid: 7\ndata: {\"a\":\ndata: 1}\n\n" +
		"data:no blank\r\n\r\n\nid: 8\n\nevent: reset\n\nevent: nothing\n\nretry: 5\nother\ndata: x\n\ndata: half"
	var got []string
	err := readEvents(strings.NewReader(text), func(e event) error {
		got = append(got, e.kind+"|"+e.id+"|"+string(e.data))
		return nil
	})
	want := []string{"label|7|{\"a\":\n1}", "|7|no blank", "reset|8|", "|8|x"}
	if !errors.Is(err, errStream) || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, %v", got, err)
	}
	stop := errors.New("stop")
	if err := readEvents(strings.NewReader(text), func(event) error { return stop }); err != stop {
		t.Errorf("got %v", err)
	}
	for name, r := range map[string]io.Reader{
		"endless line":  strings.NewReader("data: " + strings.Repeat("x", maxLine) + "\n\n"),
		"endless event": strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 2000)),
	} {
		if err := readEvents(r, func(event) error { return nil }); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add(": hello\n\nevent: label\nid: 7\ndata: {}\n\n")
	f.Add("data: a\ndata\ndata:\n\r\n\x00id: 1\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = readEvents(strings.NewReader(text), func(e event) error {
			if len(e.data) > maxEvent || strings.ContainsAny(e.kind+e.id, "\n\x00") && strings.Contains(e.id, "\x00") {
				t.Errorf("event %+v", e)
			}
			return nil
		})
	})
}

func FuzzParseHandle(f *testing.F) {
	f.Add("eyJhbGciOiJFZERTQSJ9.e30.AAAA\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandle(text)
		if err != nil {
			if h != (Handle{}) {
				t.Error("half a handle")
			}
			return
		}
		if _, err := credentials.ParseToolID(string(h.Tool)); err != nil || strings.TrimSpace(h.Token) != h.Token {
			t.Errorf("handle %+v", h)
		}
	})
}

func TestBounded(t *testing.T) {
	b := newBounded[int, string](3)
	for i := range 5 {
		b.put(i, "v")
	}
	b.put(4, "w")
	b.set(3, func(s string) string { return s + "!" })
	b.set(0, func(string) string { t.Error("an entry that is gone was set"); return "" })
	for k, want := range map[int]string{0: "", 1: "", 2: "v", 3: "v!", 4: "w"} {
		if got, ok := b.get(k); got != want || ok != (want != "") {
			t.Errorf("%d: %q, %v", k, got, ok)
		}
	}
	if len(b.m) != 3 || len(b.ring) != 3 {
		t.Errorf("%d entries, %d in the ring", len(b.m), len(b.ring))
	}
	if b.clear(); len(b.m) != 0 {
		t.Error("not cleared")
	}
}

// The map of seqs stays bounded, and what was moved last stays in it.
func TestSeqsAreBounded(t *testing.T) {
	m := &memory{state: &MemoryState{}, k: Kept{Seqs: map[credentials.ToolID]uint64{}}}
	const n = 3 * maxSeqs
	name := func(i uint64) credentials.ToolID { return credentials.ToolID(rune(i)) }
	for i := uint64(1); i <= n; i++ {
		m.see(name(i), i)
	}
	if len(m.k.Seqs) > maxSeqs+maxSeqs/8 || m.seq(name(n)) != n || m.seq(name(n-maxSeqs/2)) != n-maxSeqs/2 {
		t.Errorf("%d kept", len(m.k.Seqs))
	}
	m.see(name(n), 1)
	if m.seq(name(n)) != n {
		t.Error("a seq went down")
	}
	equal := map[credentials.ToolID]uint64{}
	for i := uint64(1); i <= maxSeqs+100; i++ {
		equal[name(i)] = 5
	}
	if trim(equal); len(equal) != maxSeqs {
		t.Errorf("%d equal ones kept", len(equal))
	}
}
