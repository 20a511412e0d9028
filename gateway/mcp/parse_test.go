package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"n1"}}}`

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`[`, 10_000) + strings.Repeat(`]`, 10_000)
	for _, c := range []struct {
		name, in string
		err      error
		code     int64
		id       ID
		shape    Shape
	}{
		{"nothing", ``, ErrSyntax, CodeParse, "", NoFrame},
		{"blank", " \n\t", ErrSyntax, CodeParse, "", NoFrame},
		{"no JSON", `hello`, ErrSyntax, CodeParse, "", NoFrame},
		{"a scalar", `"hello"`, ErrFrame, CodeInvalidRequest, "", NoFrame},
		{"cut off", call[:len(call)-1], ErrSyntax, CodeParse, "7", Request},
		{"trailing data", call + "x", ErrSyntax, CodeParse, "7", Request},
		{"two frames", call + call, ErrSyntax, CodeParse, "", NoFrame},
		{"byte order mark", "\ufeff" + call, ErrSyntax, CodeParse, "7", Request},
		{"invalid UTF-8", strings.Replace(call, "n1", "n\xff", 1), ErrSyntax, CodeParse, "7", Request},
		{"half a surrogate pair", strings.Replace(call, "n1", `\ud800`, 1), ErrSyntax, CodeParse, "7", Request},
		{"control character", strings.Replace(call, "n1", "n\n1", 1), ErrSyntax, CodeParse, "7", Request},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, ErrTwice, CodeInvalidRequest, "1", Request},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, ErrTwice, CodeInvalidRequest, "", Notification},
		{"two names, one escaped", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`, ErrTwice, CodeInvalidRequest, "1", Request},
		{"two names deep in arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[{"k":1,"k":2}]}}}`, ErrTwice, CodeInvalidRequest, "1", Request},
		{"10,000 deep", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{"x":` + deep + `}}}`, ErrDepth, CodeInvalidRequest, "3", Request},
		{"10,000 deep answer, id last", `{"result":{"x":` + deep + `},"jsonrpc":"2.0","id":"z"}`, ErrDepth, CodeInvalidRequest, `"z"`, Result},
		{"10,000 opened", `{"jsonrpc":"2.0","id":3,"method":"m","params":` + strings.Repeat(`{"a":`, 10_000), ErrDepth, CodeInvalidRequest, "3", Request},
		{"no jsonrpc", `{"id":1,"method":"ping"}`, ErrFrame, CodeInvalidRequest, "1", Request},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, ErrFrame, CodeInvalidRequest, "1", Request},
		{"jsonrpc as number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, ErrFrame, CodeInvalidRequest, "1", Request},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, ErrID, CodeInvalidRequest, "", Notification},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, ErrID, CodeInvalidRequest, "", Notification},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, ErrID, CodeInvalidRequest, "", Notification},
		{"huge id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"ping"}`, ErrID, CodeInvalidRequest, "", Notification},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, ErrBoth, CodeInvalidRequest, "1", Result},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, ErrBoth, CodeInvalidRequest, "1", Request},
		{"result and null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, ErrBoth, CodeInvalidRequest, "1", Result},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, ErrID, CodeInvalidRequest, "", Result},
		{"result with null id", `{"jsonrpc":"2.0","id":null,"result":{}}`, ErrID, CodeInvalidRequest, "", Result},
		{"nothing but an id", `{"jsonrpc":"2.0","id":1}`, ErrFrame, CodeInvalidRequest, "1", NoFrame},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, ErrFrame, CodeInvalidRequest, "1", Request},
		{"method no text", `{"jsonrpc":"2.0","id":1,"method":7}`, ErrFrame, CodeInvalidRequest, "1", Request},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["read_note"]}`, ErrParams, CodeInvalidParams, "1", Request},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, ErrParams, CodeInvalidParams, "1", Request},
		{"params text of an unknown method", `{"jsonrpc":"2.0","id":1,"method":"x/y","params":"z"}`, ErrParams, CodeInvalidParams, "1", Request},
		{"_meta no object", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":[]}}`, ErrParams, CodeInvalidParams, "1", Request},
		{"error no object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, ErrFrame, CodeInvalidRequest, "1", Failure},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, ErrFrame, CodeInvalidRequest, "1", Failure},
		{"error code a fraction", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`, ErrFrame, CodeInvalidRequest, "1", Failure},
		{"error Code", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","Code":2}}`, ErrFold, CodeInvalidRequest, "1", Failure},
		{"result Content", `{"jsonrpc":"2.0","id":1,"result":{"content":[],"Content":[]}}`, ErrFold, CodeInvalidRequest, "1", Result},
		{"result requeſtState", `{"jsonrpc":"2.0","id":1,"result":{"reque\u017ftState":"x"}}`, ErrFold, CodeInvalidRequest, "1", Result},
		{"our _meta in capitals", `{"jsonrpc":"2.0","id":1,"result":{"_meta":{"Dev.Pratique/Label":{}}}}`, ErrFold, CodeInvalidRequest, "1", Result},
		{"empty batch", `[]`, ErrBatch, CodeInvalidRequest, "", NoFrame},
		{"long batch", "[" + strings.Repeat(call+",", 100) + call + "]", ErrBatch, CodeInvalidRequest, "", NoFrame},
		{"batch cut off", "[" + call, ErrSyntax, CodeParse, "", NoFrame},
		{"batch with trailing data", "[" + call + "]]", ErrSyntax, CodeParse, "", NoFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames, _, err := Parse([]byte(c.in), Limits{})
			var e *FrameError
			if !errors.As(err, &e) || !errors.Is(err, c.err) || frames != nil {
				t.Fatalf("got %v, %v; want %v", frames, err, c.err)
			}
			if e.Code != c.code || e.ID != c.id || e.Shape != c.shape {
				t.Errorf("code %d id %q shape %d; want %d %q %d", e.Code, e.ID, e.Shape, c.code, c.id, c.shape)
			}
			if _, err := ParseOne(e.Answer().Bytes(), Limits{}); err != nil {
				t.Errorf("the answer is no frame: %v", err)
			}
		})
	}
}

func TestParseBoundsSize(t *testing.T) {
	lim := Limits{Bytes: len(call)}
	if _, err := ParseOne([]byte(call), lim); err != nil {
		t.Error(err)
	}
	var e *FrameError
	if _, err := ParseOne([]byte(call+" "), lim); !errors.Is(err, ErrSize) || !errors.As(err, &e) || e.ID != "7" {
		t.Errorf("got %v", err)
	}
}

func TestDepthIsBounded(t *testing.T) {
	nest := func(n int) []byte { // n levels in all: frame, params, arguments and the arrays
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":%s%s}}}`, strings.Repeat("[", n-3), strings.Repeat("]", n-3))
	}
	if _, err := ParseOne(nest(DefaultDepth), Limits{}); err != nil {
		t.Error(err)
	}
	if _, err := ParseOne(nest(DefaultDepth+1), Limits{}); !errors.Is(err, ErrDepth) {
		t.Errorf("got %v", err)
	}
	if frames, _, err := Parse(append(append([]byte("["), nest(DefaultDepth)...), ']'), Limits{}); err != nil || len(frames) != 1 {
		t.Errorf("in a batch: %v", err)
	}
}

// O-02 at the level of frames: a batch never looks like one harmless frame.
func TestO02BatchSmuggle(t *testing.T) {
	one := `{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-17"}}}`
	for _, in := range []string{"[" + one + "]", " \n\t[" + one + "]", "\r\n\r\n [ " + one + " ] "} {
		frames, batch, err := Parse([]byte(in), Limits{})
		if err != nil || !batch || len(frames) != 1 || frames[0].Method != "tools/call" || frames[0].ID != "7" {
			t.Errorf("%q: %v %v %v", in, frames, batch, err)
		}
		if _, err := ParseOne([]byte(in), Limits{}); !errors.Is(err, ErrNoBatch) {
			t.Errorf("%q where arrays are not spoken: %v", in, err)
		}
	}
	if _, _, err := Parse([]byte("\ufeff["+one+"]"), Limits{}); !errors.Is(err, ErrSyntax) {
		t.Errorf("with a byte order mark: %v", err)
	}
	frames, batch, err := Parse([]byte("[["+one+"],7,"+one+`,{"jsonrpc":"2.0","id":8,"method":"ping","Method":"x"},{"id":null,"jsonrpc":"2.0","method":"ping"}]`), Limits{})
	if err != nil || !batch || len(frames) != 5 {
		t.Fatal(frames, batch, err)
	}
	for i, want := range []struct {
		shape Shape
		id    ID
	}{{NoFrame, ""}, {NoFrame, ""}, {Request, "7"}, {NoFrame, "8"}, {NoFrame, ""}} {
		f := frames[i]
		if f.Shape != want.shape || f.ID != want.id || want.shape == NoFrame && f.Error.Code != CodeInvalidRequest {
			t.Errorf("member %d: %+v", i, f)
		}
	}
	orphan, err := ParseOne([]byte(`{"jsonrpc": "2.0", "id": 4711, "result": {"action": "accept", "content": {"ok": true}}}`), Limits{})
	if err != nil || orphan.Shape != Result || orphan.ID != "4711" {
		t.Errorf("orphan: %+v %v", orphan, err)
	}
	noID, err := ParseOne([]byte(`{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "delete_record", "arguments": {"id": "r-19"}}}`), Limits{})
	if err != nil || noID.Shape != Notification {
		t.Errorf("call without an id: %+v %v", noID, err)
	}
	if m, _ := Lookup(noID.Method); m.Notification {
		t.Error("the table takes tools/call for a notification")
	}
}

// O-03 at the level of frames.
func TestO03CaseFoldKeys(t *testing.T) {
	for i, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","Name":"delete_note","arguments":{"id":"n1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"NAME":"delete_note","name":"read_note","arguments":{"id":"n1"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","Method":"tools/call","params":{"name":"delete_note","arguments":{"id":"n1"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"n1"}},"param\u017f":{"name":"delete_note","arguments":{"id":"n1"}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"read_note\",\"arguments\":{\"id\":\"n1\"}},\"param\u017f\":{\"name\":\"delete_note\",\"arguments\":{\"id\":\"n1\"}}}",
		`{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"info","LEVEL":"debug"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"n\u0041me":"delete_note","name":"read_note"}}`,
		`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","_Meta":{}}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","\u212a":1,"re\u0071ueſtState":"s"}}`,
	} {
		_, err := ParseOne([]byte(in), Limits{})
		var e *FrameError
		if !errors.Is(err, ErrFold) || !errors.As(err, &e) || e.ID != NumberID(int64(i+1)) {
			t.Errorf("frame %d: %v", i+1, err)
		}
	}
	f, err := ParseOne([]byte(`{"jsonrpc":"2.0","id":5,"meth\u006fd":"tools/call","params":{"n\u0061me":"delete_note","arguments":{"id":"n1"}}}`), Limits{})
	if err != nil || f.Method != "tools/call" {
		t.Fatalf("%+v %v", f, err)
	}
	if name, _ := GetString(f.Params, "name"); name != "delete_note" {
		t.Errorf("name is %q", name)
	}
	in := []byte(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","ID":"main","id":"feat/x"}}}`)
	if f, err = ParseOne(in, Limits{}); err != nil || !bytes.Equal(f.Bytes(), in) {
		t.Errorf("two fields of a tool's own: %v %s", err, f.Bytes())
	}
}

func TestIDsKeepTheirText(t *testing.T) {
	for _, id := range []string{"1.5", "9007199254740993", "1e3", "-0", `"7"`, `"a\u0062"`, `""`} {
		f, err := ParseOne([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`), Limits{})
		if err != nil || string(f.ID) != id || f.Shape != Request {
			t.Errorf("%s: %+v %v", id, f, err)
		}
	}
	if f, err := ParseOne([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`), Limits{}); err != nil || f.Shape != Failure || f.ID != "" {
		t.Errorf("an error that answers nobody: %+v %v", f, err)
	}
}

func TestBytesStayOnOneLine(t *testing.T) {
	f, err := ParseOne([]byte("{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\"method\":\"tools/call\",\"params\":{\r\n \"name\":\"a\\nb\",\n\"arguments\":[1,\n2]},\"x\":\n{\n}}"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{ "name":"a\nb","arguments":[1,2]},"x":{}}`
	if got := string(f.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func BenchmarkParseBytes(b *testing.B) {
	in := []byte(`{"jsonrpc":"2.0","id":123,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("lorem ipsum dolor ", 30) + `","list":[` + strings.Repeat(`{"id":9007199254740993,"tag":"x"},`, 9) + `0],"flag":true},"_meta":{"progressToken":"t1"}}}`)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		f, err := ParseOne(in, Limits{})
		if err != nil {
			b.Fatal(err)
		}
		dst = f.Append(dst[:0])
	}
}

func BenchmarkParseDeep(b *testing.B) {
	in := []byte(`{"jsonrpc":"2.0","id":3,"method":"m","params":` + strings.Repeat(`{"a":`, 10_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseOne(in, Limits{}); err == nil {
			b.Fatal("taken")
		}
	}
}
