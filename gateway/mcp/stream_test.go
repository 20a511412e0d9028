package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/pratique-dev/pratique/internal/mcptest/frames"
)

// readers are ways in which the same bytes arrive.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":      func(r io.Reader) io.Reader { return r },
	"one byte":   iotest.OneByteReader,
	"half":       iotest.HalfReader,
	"data error": iotest.DataErrReader,
}

func TestLines(t *testing.T) {
	long := `{"result":{"content":[{"type":"text","text":"` + strings.Repeat("a\\\"}", 200) + `"}]},"jsonrpc":"2.0","id":"l1"}`
	in := "\n\r\n  \t\n" + `{"a":1}` + "\r\n" + "server started\n" + `[{"b":2}]` + "\n" + long + "\r\n" + "\ufeff{}\n" + ` {"c":3}` + "\n" + `{"last":true}`
	want := []string{
		`text {"a":1}`, "noise server started", `text [{"b":2}]`, `long "l1" 3`, "noise \ufeff{}", `text  {"c":3}`, `text {"last":true}`,
	}
	for name, via := range readers {
		t.Run(name, func(t *testing.T) {
			r := NewLineReader(via(strings.NewReader(in)), Limits{Bytes: 300})
			for _, w := range want {
				l, err := r.Read()
				if err != nil {
					t.Fatal(err)
				}
				if got := show(l); got != w {
					t.Errorf("got %q, want %q", got, w)
				}
			}
			if l, err := r.Read(); err != io.EOF {
				t.Errorf("got %v, %v at the end", l, err)
			}
		})
	}
}

func show(l Line) string {
	switch l.Kind {
	case Text:
		return "text " + string(l.Data)
	case Long:
		return fmt.Sprintf("long %s %d", l.Seen.ID, l.Seen.Shape)
	}
	return "noise " + string(l.Data)
}

func TestLineAtTheLimit(t *testing.T) {
	line := `{"id":1,"x":"` + strings.Repeat("a", 100) + `"}`
	for _, end := range []string{"\n", "\r\n", ""} {
		for _, c := range []struct {
			limit int
			want  LineKind
		}{{len(line), Text}, {len(line) - 1, Long}} {
			r := NewLineReader(strings.NewReader(line+end), Limits{Bytes: c.limit})
			if l, err := r.Read(); err != nil || l.Kind != c.want {
				t.Errorf("limit %d, end %q: %+v %v", c.limit, end, l, err)
			}
			if _, err := r.Read(); err != io.EOF {
				t.Errorf("then %v", err)
			}
		}
	}
}

// O-06 (e) at the level of lines: 64 MiB are an error for that id only, the next
// line works, and memory is bounded.
func TestO06BigLine(t *testing.T) {
	head, tail := `{"result":{"content":[{"type":"text","text":"`, `"}]},"jsonrpc":"2.0","id":41}`+"\n"+`{"jsonrpc":"2.0","id":42,"result":{}}`+"\n"
	in := func() io.Reader {
		return io.MultiReader(strings.NewReader(head), io.LimitReader(endless('a'), 64<<20), strings.NewReader(tail))
	}
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r := NewLineReader(in(), Limits{Bytes: 1 << 20})
			if l, err := r.Read(); err != nil || l.Kind != Long || l.Seen.ID != "41" || l.Seen.Shape != Result || l.Seen.Bytes < 64<<20 {
				b.Fatal(l, err)
			}
			if l, err := r.Read(); err != nil || show(l) != `text {"jsonrpc":"2.0","id":42,"result":{}}` {
				b.Fatal(l, err)
			}
		}
	})
	if got.AllocedBytesPerOp() > 16<<20 {
		t.Errorf("%d bytes allocated for a line of 64 MiB at a limit of 1 MiB", got.AllocedBytesPerOp())
	}
}

// endless is a stream of one byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestSkimFindsTheID(t *testing.T) {
	for _, c := range []struct {
		in    string
		id    ID
		shape Shape
	}{
		{`{"jsonrpc":"2.0","id":7,"result":{"id":8}}`, "7", Result},
		{`{"result":{"id":8,"x":[{"id":9}]},"id":7}`, "7", Result},
		{`{"id":"a\"}b","method":"m","params":{"id":1}}`, `"a\"}b"`, Request},
		{`{"\u0069d":7,"error":{}}`, "7", Failure},
		{`{"id":7,"id":8,"result":{}}`, "", Result},
		{`{"id":7,"\u0069d":8,"result":{}}`, "", Result},
		{`{"ID":7,"result":{}}`, "", Result},
		{`{"x":"\"id\":9","id":7}`, "7", NoFrame},
		{`{"id":null,"method":"m"}`, "", Notification},
		{`{"id":{"id":5},"method":"m"}`, "", Notification},
		{`[{"id":7,"method":"m"}]`, "", NoFrame},
		{`{"id": 1.50 ,"result":{`, "1.50", Result},
		{`{"method":"m","id":12`, "", Notification}, // cut off: it may go on
		{`{"a":{"b":[`, "", NoFrame},
		{`{}`, "", NoFrame},
		{`no {"id":7} frame`, "7", NoFrame},
	} {
		for step := 1; step < 5; step += 3 {
			var s skim
			for at := 0; at < len(c.in); at += step {
				s.feed([]byte(c.in[at:min(at+step, len(c.in))]))
			}
			if got := s.seen(); got.ID != c.id || got.Shape != c.shape || got.Bytes != int64(len(c.in)) {
				t.Errorf("%s: %+v", c.in, got)
			}
		}
	}
}

func TestEvents(t *testing.T) {
	big := `{"result":"` + strings.Repeat("x", 300) + `","id":5}`
	in := "\ufeff: hello\n\n" +
		"id: 1\nretry: 250\ndata:\n\n" +
		"event: message\r\nid: 2\r\ndata: {\"a\":1}\r\n\r\n" +
		"data:{\"b\":\rdata:  2}\r\r" +
		"data: " + big + "\n\n" +
		"data: {\"result\":[\ndata: \"" + strings.Repeat("y", 300) + "\"],\ndata: \"id\":6}\n\n" +
		"event: x\nunknown: y\nid\n\n" +
		"id: a\x00b\nretry: 1x\n\n" +
		": " + strings.Repeat("c", 1000) + "\ndata: {\"c\":3}\nignored\n\n" +
		"data: {\"cut\":"
	want := []string{
		`[1] retry 250 `, `message [2] {"a":1}`, "{\"b\":\n 2}", "long 5", "long 6", `x [] `, `{"c":3}`,
	}
	for name, via := range readers {
		t.Run(name, func(t *testing.T) {
			r := NewEventReader(via(strings.NewReader(in)), Limits{Bytes: 200})
			for _, w := range want {
				e, err := r.Read()
				if err != nil {
					t.Fatal(err)
				}
				if got := showEvent(e); got != w {
					t.Errorf("got %q, want %q", got, w)
				}
			}
			if e, err := r.Read(); err != io.EOF {
				t.Errorf("got %+v, %v at the end", e, err)
			}
		})
	}
}

func showEvent(e Event) (s string) {
	if e.Name != "" {
		s += e.Name + " "
	}
	if e.ID != nil {
		s += "[" + *e.ID + "] "
	}
	if e.Retry > 0 {
		s += fmt.Sprintf("retry %d ", e.Retry)
	}
	if e.Seen != nil {
		return s + "long " + string(e.Seen.ID)
	}
	return s + string(e.Data)
}

func TestEventWriter(t *testing.T) {
	var out bytes.Buffer
	flushed := 0
	w := NewEventWriter(&out, func() error { flushed++; return nil })
	id := "7\nevent: forged"
	for _, err := range []error{
		w.Comment("still\nhere"),
		w.Write(Event{ID: &id, Retry: 100}),
		w.Write(Event{Name: "x\r\ndata: forged", Data: []byte("a\r\nb\rc\nd")}),
		w.WriteFrame(Note("ping", nil), ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := ": stillhere\n\n" + "id: 7event: forged\nretry: 100\ndata: \n\n" +
		"event: xdata: forged\ndata: a\ndata: b\ndata: c\ndata: d\n\n" +
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n\n"
	if out.String() != want || flushed != 4 {
		t.Errorf("%d flushes, got %q", flushed, out.String())
	}
}

func TestWritersStopAfterAnError(t *testing.T) {
	broken := errors.New("broken")
	w := NewLineWriter(failing{broken})
	e := NewEventWriter(failing{broken}, nil)
	for range 2 {
		if err := w.Write(Note("ping", nil)); err != broken {
			t.Error(err)
		}
		if err := e.WriteFrame(Note("ping", nil), ""); err != broken {
			t.Error(err)
		}
	}
}

func TestWritersDoNotMixLines(t *testing.T) {
	var out bytes.Buffer
	w := NewLineWriter(&out)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				_ = w.Write(Answer(NumberID(int64(i)), Object(Member{"x", Quote(strings.Repeat("y", 500))})))
			}
		})
	}
	wg.Wait()
	r := NewLineReader(&out, Limits{})
	for range 400 {
		l, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseOne(l.Data, Limits{}); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range frames.All() {
		f.Add(c.Bytes)
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},7,[]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lim := Limits{Bytes: 1 << 16, Depth: 32}
		given := bytes.Clone(data)
		got, batch, err := Parse(given, lim)
		if !bytes.Equal(given, data) {
			t.Fatalf("%q was changed to %q", data, given)
		}
		if err != nil {
			var e *FrameError
			if !errors.As(err, &e) || got != nil {
				t.Fatalf("%v, %v", got, err)
			}
			if _, err := ParseOne(e.Answer().Bytes(), Limits{}); err != nil {
				t.Errorf("the answer %s: %v", e.Answer().Bytes(), err)
			}
			return
		}
		if !batch && len(got) != 1 {
			t.Fatalf("%d frames", len(got))
		}
		for _, one := range got {
			if one.Shape == NoFrame {
				continue
			}
			text := one.Bytes()
			again, err := ParseOne(text, Limits{Bytes: 1 << 20, Depth: 32})
			if err != nil || !bytes.Equal(again.Bytes(), text) || again.Shape != one.Shape || again.ID != one.ID || again.Method != one.Method {
				t.Errorf("%q became %q: %v", data, text, err)
			}
			if bytes.ContainsAny(text, "\r\n") {
				t.Errorf("not on one line: %q", text)
			}
			if !batch {
				var s skim
				s.feed(data)
				if seen := s.seen(); seen.ID != one.ID || seen.Shape != one.Shape {
					t.Errorf("in passing %q is %+v", data, seen)
				}
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"id\":1}\r\n\nnoise\n[1]\n{\"result\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"id\":2}\n{"), uint8(30))
	f.Fuzz(func(t *testing.T, data []byte, limit uint8) {
		lim := Limits{Bytes: int(limit) + 1}
		var shown []string
		for _, via := range []func(io.Reader) io.Reader{readers["whole"], readers["one byte"]} {
			r, all := NewLineReader(via(bytes.NewReader(data)), lim), ""
			for {
				l, err := r.Read()
				if err != nil {
					break
				}
				if len(l.Data) > lim.Bytes || bytes.IndexByte(l.Data, '\n') >= 0 {
					t.Fatalf("%q", l.Data)
				}
				all += show(l) + "\n"
			}
			shown = append(shown, all)
		}
		if shown[0] != shown[1] {
			t.Errorf("%q\n%q", shown[0], shown[1])
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("\ufeff: c\nid: 1\nevent: m\ndata: {\r\ndata: }\r\rretry: 5\n\ndata: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n\n"), uint8(20))
	f.Fuzz(func(t *testing.T, data []byte, limit uint8) {
		lim := Limits{Bytes: int(limit) + 1}
		var shown []string
		for _, via := range []func(io.Reader) io.Reader{readers["whole"], readers["one byte"]} {
			r, all := NewEventReader(via(bytes.NewReader(data)), lim), ""
			for {
				e, err := r.Read()
				if err != nil {
					break
				}
				if len(e.Data) > lim.Bytes {
					t.Fatalf("%q", e.Data)
				}
				all += showEvent(e) + "\n"
				if e.Seen != nil {
					continue
				}
				var out bytes.Buffer
				if err := NewEventWriter(&out, nil).Write(e); err != nil {
					t.Fatal(err)
				}
				if again, err := NewEventReader(&out, Limits{}).Read(); err != nil || showEvent(again) != showEvent(e) {
					t.Errorf("%q written again is %q: %v", showEvent(e), showEvent(again), err)
				}
			}
			shown = append(shown, all)
		}
		if shown[0] != shown[1] {
			t.Errorf("%q\n%q", shown[0], shown[1])
		}
	})
}

// failing is a writer that is gone.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
