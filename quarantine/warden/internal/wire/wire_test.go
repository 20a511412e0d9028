package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/quarantine"
)

func read(t testing.TB, frame []byte, k Kind) string {
	t.Helper()
	got, body, err := Read(bytes.NewReader(frame), k)
	if err != nil || got != k {
		t.Fatalf("%c: %v", got, err)
	}
	return body
}

// fill sets every field to something that is not its zero value, so that a field
// which the wire forgets shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(strings.Repeat("é\x00", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	default:
		panic(v.Kind())
	}
}

func TestOrderComesOutAsItWentIn(t *testing.T) {
	var o Order
	fill(reflect.ValueOf(&o).Elem(), new(int))
	f, err := AppendOrder(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseOrder(read(t, f, KindBatch))
	if err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%v\n%+v\n%+v", err, got, o)
	}
	if n := len(f) - header; n > Size(o.Batch) {
		t.Errorf("%d bytes, Size said %d", n, Size(o.Batch))
	}
	for i := range f { // no part of a frame is a frame
		if _, _, err := Read(bytes.NewReader(f[:i]), KindBatch); err == nil || i > 0 && err == io.EOF {
			t.Fatalf("%d of %d bytes: %v", i, len(f), err)
		}
		if _, err := ParseOrder(string(f[header:][:max(0, i-header)])); i < len(f) && err == nil {
			t.Fatalf("%d of %d bytes are a body", i, len(f))
		}
	}
	if _, err := ParseOrder(string(f[header:]) + "x"); err == nil {
		t.Error("a byte too many")
	}
}

func TestReportComesOutAsItWentIn(t *testing.T) {
	var r quarantine.Report
	fill(reflect.ValueOf(&r).Elem(), new(int))
	r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Late})
	f, err := AppendReport(nil, 7, r)
	if err != nil {
		t.Fatal(err)
	}
	n, got, err := ParseReport(read(t, f, KindReport))
	for i := range r.Findings[:3] {
		r.Findings[i].Path = Named
	}
	if err != nil || n != 7 || !reflect.DeepEqual(got, r) {
		t.Errorf("%v\n%+v\n%+v", err, got, r)
	}
	h := Hello{Landlock: 7, Seccomp: true, Engine: "e"}
	if f, err = AppendHello(f, h); err != nil {
		t.Fatal(err)
	}
	if got, err := ParseHello(read(t, f, KindHello)); err != nil || got != h {
		t.Errorf("%v %+v", err, got)
	}
}

func TestManyFindings(t *testing.T) {
	r := quarantine.Report{Verdict: quarantine.Hostile, Findings: make([]quarantine.Finding, 1000)}
	f, err := AppendReport(nil, 0, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := ParseReport(read(t, f, KindReport)); err != nil || len(got.Findings) != MaxFindings || !got.Partial || got.Verdict != quarantine.Hostile {
		t.Errorf("%v: %d findings", err, len(got.Findings))
	}
}

func TestBoundsComeFirst(t *testing.T) {
	head := func(k Kind, n uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{byte(k)}, n) }
	for name, b := range map[string][]byte{
		"too long":     head(KindReport, MaxReport+1),
		"longest":      head(KindBatch, math.MaxUint32),
		"unknown kind": head('x', 0),
		"other kind":   head(KindHello, 0),
	} {
		if _, _, err := Read(bytes.NewReader(b), KindReport, KindBatch); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is only promised takes no memory.
	promise := head(KindBatch, MaxBatch)
	if n := testing.AllocsPerRun(10, func() { Read(bytes.NewReader(promise), KindBatch) }); n > 20 {
		t.Errorf("%v allocations", n)
	}
	count := binary.AppendUvarint([]byte{0, 0, 0, 0}, MaxSpecimens)
	if _, err := ParseOrder(string(count)); err == nil {
		t.Error("a million specimens in no bytes")
	}
	if Fits(quarantine.Batch{Specimens: make([]quarantine.Specimen, MaxSpecimens+1)}) ||
		Fits(quarantine.Batch{Specimens: []quarantine.Specimen{{Text: strings.Repeat("x", MaxBatch)}}}) {
		t.Error("too much fits")
	}
	if _, err := Bytes(nil, KindReply, make([]byte, MaxReply+1)); err == nil {
		t.Error("a reply that is too long")
	}
}

func TestNegativePlacesAreRefused(t *testing.T) {
	for _, f := range []quarantine.Finding{{At: -1}, {Span: quarantine.Span{From: -1}}, {Span: quarantine.Span{From: 2, To: 1}}} {
		if _, err := AppendReport(nil, 0, quarantine.Report{Findings: []quarantine.Finding{f}}); err == nil {
			t.Errorf("%+v", f)
		}
	}
	if _, err := AppendOrder(nil, Order{Batch: quarantine.Batch{Specimens: []quarantine.Specimen{{Token: quarantine.Span{From: 2, To: 1}}}}}); err == nil {
		t.Error("a token that ends before it begins")
	}
}

// FuzzChildReads: whatever comes to a child is refused or read to an order that is
// written as the same bytes.
func FuzzChildReads(f *testing.F) {
	var o Order
	fill(reflect.ValueOf(&o).Elem(), new(int))
	b, _ := AppendOrder(nil, o)
	f.Add(b)
	b, _ = Bytes(nil, KindReply, []byte("\x00{}"))
	f.Add(b)
	f.Fuzz(func(t *testing.T, in []byte) {
		k, body, err := Read(bytes.NewReader(in), KindBatch, KindReply)
		if err != nil || k != KindBatch {
			return
		}
		o, err := ParseOrder(body)
		if err != nil {
			return
		}
		again, err := AppendOrder(nil, o)
		if err != nil || !bytes.Equal(again[header:], []byte(body)) {
			t.Fatalf("%v: %q is written as %q", err, body, again)
		}
	})
}

// FuzzParentReads: the same for what a child says.
func FuzzParentReads(f *testing.F) {
	var r quarantine.Report
	fill(reflect.ValueOf(&r).Elem(), new(int))
	b, _ := AppendReport(nil, 9, r)
	f.Add(b)
	b, _ = AppendHello(nil, Hello{Landlock: 7, Engine: "x"})
	f.Add(b)
	b, _ = Bytes(nil, KindQuestion, []byte("{}"))
	f.Add(b)
	f.Fuzz(func(t *testing.T, in []byte) {
		k, body, err := Read(bytes.NewReader(in), KindHello, KindReport, KindQuestion)
		if err != nil {
			return
		}
		var again []byte
		switch k {
		case KindReport:
			n, r, e := ParseReport(body)
			if e != nil || spansTurned(r) {
				return
			}
			again, err = AppendReport(nil, n, r)
		case KindHello:
			h, e := ParseHello(body)
			if e != nil {
				return
			}
			again, err = AppendHello(nil, h)
		case KindQuestion:
			again, err = Bytes(nil, k, []byte(body))
		}
		if err != nil || !bytes.Equal(again[header:], []byte(body)) {
			t.Fatalf("%v: %q is written as %q", err, body, again)
		}
	})
}

// spansTurned: a child that lies may send one; the warden refuses it by the text.
func spansTurned(r quarantine.Report) bool {
	for _, f := range r.Findings {
		if f.Span.To < f.Span.From {
			return true
		}
	}
	return false
}
