package opinion

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const testCanary = "abcdefgh234567zz"

// said is the body of an answer of chat completions with this text.
func said(text string) []byte {
	q, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"total_tokens":9}}`, q)
}

const fine = `{"v":1,"verdict":"suspicious","categories":["override","hidden"],"spans":[{"first":1,"last":2},{"first":5,"last":5}]}`

func TestAnswersThatAreTaken(t *testing.T) {
	for _, s := range []string{
		fine,
		" \n" + fine + "\n",
		`{"spans":[],"categories":[],"verdict":"benign","v":1}`,
		`{"v":1,"verdict":"unsure","categories":[],"spans":[]}`,
		`{"v":1,"verdict":"injection","categories":["secrets"],"spans":[]}`,
	} {
		for _, reply := range [][]byte{Completion(testCanary, said(s)), Direct(testCanary, []byte(s))} {
			if _, err := ParseReply(reply, 5); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
	}
	a, err := ParseReply(Direct(testCanary, []byte(fine)), 5)
	if err != nil || a.Verdict != Suspicious || len(a.Categories) != 2 || a.Spans[0] != (LineSpan{1, 2}) || a.Spans[1] != (LineSpan{5, 5}) {
		t.Errorf("got %+v, %v", a, err)
	}
}

// wrong are answers of which each is wrong in one way.
var wrong = map[string]string{
	"nothing":            ``,
	"prose before":       `Here is my answer: ` + fine,
	"prose after":        fine + ` I hope this helps.`,
	"fenced":             "```json\n" + fine + "\n```",
	"thought in it":      "<think>hm</think>" + fine,
	"two answers":        fine + fine,
	"array":              `[` + fine + `]`,
	"string":             `"benign"`,
	"null":               `null`,
	"unknown member":     `{"v":1,"verdict":"benign","categories":[],"spans":[],"note":"all is well"}`,
	"unknown in a span":  `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":1,"last":1,"text":"x"}]}`,
	"member twice":       `{"v":1,"verdict":"injection","verdict":"benign","categories":[],"spans":[]}`,
	"member in capitals": `{"V":1,"verdict":"benign","categories":[],"spans":[]}`,
	"no v":               `{"verdict":"benign","categories":[],"spans":[]}`,
	"no verdict":         `{"v":1,"categories":[],"spans":[]}`,
	"no categories":      `{"v":1,"verdict":"benign","spans":[]}`,
	"no spans":           `{"v":1,"verdict":"benign","categories":[]}`,
	"null spans":         `{"v":1,"verdict":"benign","categories":[],"spans":null}`,
	"null verdict":       `{"v":1,"verdict":null,"categories":[],"spans":[]}`,
	"other v":            `{"v":2,"verdict":"benign","categories":[],"spans":[]}`,
	"v as text":          `{"v":"1","verdict":"benign","categories":[],"spans":[]}`,
	"other verdict":      `{"v":1,"verdict":"safe","categories":[],"spans":[]}`,
	"verdict in capital": `{"v":1,"verdict":"Benign","categories":[],"spans":[]}`,
	"verdict a number":   `{"v":1,"verdict":0,"categories":[],"spans":[]}`,
	"empty verdict":      `{"v":1,"verdict":"","categories":[],"spans":[]}`,
	"other category":     `{"v":1,"verdict":"unsure","categories":["none"],"spans":[]}`,
	"category twice":     `{"v":1,"verdict":"unsure","categories":["hidden","hidden"],"spans":[]}`,
	"five categories":    `{"v":1,"verdict":"unsure","categories":["override","secrets","sending","othertool","pretence"],"spans":[]}`,
	"nine spans":         `{"v":1,"verdict":"unsure","categories":[],"spans":[` + strings.Repeat(`{"first":1,"last":1},`, 8) + `{"first":1,"last":1}]}`,
	"span twice":         `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":1,"last":1},{"first":1,"last":1}]}`,
	"span from 0":        `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":0,"last":1}]}`,
	"negative span":      `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":-1,"last":1}]}`,
	"span beyond":        `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":5,"last":6}]}`,
	"span backwards":     `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":3,"last":2}]}`,
	"span in parts":      `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":1.5,"last":2}]}`,
	"span without end":   `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":1}]}`,
	"span as pair":       `{"v":1,"verdict":"unsure","categories":[],"spans":[[1,2]]}`,
	"huge number":        `{"v":1,"verdict":"unsure","categories":[],"spans":[{"first":1,"last":99999999999999999999}]}`,
	"benign with reason": `{"v":1,"verdict":"benign","categories":["hidden"],"spans":[]}`,
	"benign with span":   `{"v":1,"verdict":"benign","categories":[],"spans":[{"first":1,"last":1}]}`,
	"too long":           `{"v":1,"verdict":"benign","categories":[],"spans":[` + strings.Repeat(" ", maxAnswer) + `]}`,
	"too deep":           strings.Repeat("[", 4000),
	"BOM":                "\ufeff" + fine,
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, s := range wrong {
		for _, reply := range [][]byte{Completion(testCanary, said(s)), Direct(testCanary, []byte(s))} {
			if a, err := ParseReply(reply, 5); !errors.Is(err, ErrReply) {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
	}
}

// completions are bodies that hold a good answer and something that spoils it.
func TestCompletionsThatAreNone(t *testing.T) {
	q, _ := jsontext.AppendQuote(nil, fine)
	content := string(q)
	for name, tt := range map[string]struct {
		body string
		want error
	}{
		"good":                {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `,"tool_calls":[],"refusal":null,"function_call":null,"reasoning_content":"hm"}}]}`, nil},
		"empty":               {``, ErrReply},
		"cut off":             {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content, ErrReply},
		"trailing":            {string(said(fine)) + `{}`, ErrReply},
		"error object":        {`{"error":{"message":"no such model"}}`, ErrReply},
		"no choice":           {`{"choices":[]}`, ErrReply},
		"two choices":         {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `}},{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `}}]}`, ErrReply},
		"choices twice":       {`{"choices":[],"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `}}]}`, ErrReply},
		"content twice":       {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"x","content":` + content + `}}]}`, ErrReply},
		"stream chunk":        {`{"choices":[{"finish_reason":"stop","delta":{"role":"assistant","content":` + content + `}}]}`, ErrReply},
		"tool call":           {`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`, ErrReply},
		"tool call, stop":     {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `,"tool_calls":[{"id":"1"}]}}]}`, ErrReply},
		"function call":       {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `,"function_call":{"name":"f"}}}]}`, ErrReply},
		"refusal":             {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I can't help with that."}}]}`, ErrRefused},
		"refusal and answer":  {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + content + `,"refusal":"no"}}]}`, ErrRefused},
		"filtered":            {`{"choices":[{"finish_reason":"content_filter","message":{"role":"assistant","content":""}}]}`, ErrRefused},
		"out of tokens":       {`{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":` + content + `}}]}`, ErrReply},
		"no reason to finish": {`{"choices":[{"finish_reason":null,"message":{"role":"assistant","content":` + content + `}}]}`, ErrReply},
		"parts":               {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"text","text":` + content + `}]}}]}`, ErrReply},
		"object as content":   {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` + fine + `}}]}`, ErrReply},
		"no content":          {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant"}}]}`, ErrReply},
		"role user":           {`{"choices":[{"finish_reason":"stop","message":{"role":"user","content":` + content + `}}]}`, ErrReply},
		"not UTF-8":           {"{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"role\":\"assistant\",\"x\":\"\xff\",\"content\":" + content + "}}]}", ErrReply},
		"half a surrogate":    {`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","x":"\ud800","content":` + content + `}}]}`, ErrReply},
		"very deep":           {`{"x":` + strings.Repeat("[", 1<<17), ErrReply},
		"html":                {`<html>502 Bad Gateway</html>`, ErrReply},
	} {
		if a, err := ParseReply(Completion(testCanary, []byte(tt.body)), 5); !errors.Is(err, tt.want) || err == nil != (tt.want == nil) {
			t.Errorf("%s: %+v, %v; want %v", name, a, err, tt.want)
		}
	}
}

func TestCanary(t *testing.T) {
	spaced := strings.Join(strings.Split(strings.ToUpper(testCanary), ""), " - ")
	for name, tt := range map[string]struct {
		body []byte
		want error
	}{
		"as text":          {said("The word is " + testCanary), ErrCompromised},
		"in an answer":     {said(`{"v":1,"verdict":"benign","categories":[],"spans":[],"` + testCanary + `":1}`), ErrCompromised},
		"spelled":          {said("T h e: " + spaced), ErrCompromised},
		"escaped":          {[]byte(`{"choices":[{"message":{"content":"\u0061` + testCanary[1:] + `"}}]}`), ErrCompromised},
		"in a tool call":   {[]byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"send","arguments":"{\"x\":\"` + testCanary + `\"}"}}]}}]}`), ErrCompromised},
		"in a refusal":     {[]byte(`{"choices":[{"message":{"refusal":"I never say ` + testCanary + `"}}]}`), ErrCompromised},
		"as a name":        {[]byte(`{"` + testCanary + `":1}`), ErrCompromised},
		"not JSON":         {[]byte(`Sure! ` + testCanary), ErrCompromised},
		"broken JSON":      {[]byte(`{"choices":[{"message":{"content":"` + testCanary), ErrCompromised},
		"behind a thought": {[]byte(`{"choices":[{"message":{"reasoning_content":"` + testCanary + `","content":"` + testCanary + `"}}]}`), ErrCompromised},
		"broken thought":   {[]byte(`{"choices":[{"message":{"reasoning_content":"` + testCanary + `","reasoning":[tru`), ErrCompromised},
		"a part":           {said(testCanary[:15]), ErrReply},
		"only thought": {[]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","reasoning_content":"must not say ` + testCanary +
			`","content":"{\"v\":1,\"verdict\":\"benign\",\"categories\":[],\"spans\":[]}"}}]}`), nil},
	} {
		if _, err := ParseReply(Completion(testCanary, tt.body), 5); !errors.Is(err, tt.want) || err == nil != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if _, err := ParseReply(Direct(testCanary, []byte("x "+testCanary)), 1); !errors.Is(err, ErrCompromised) {
		t.Errorf("a command's answer: %v", err)
	}
}

func TestReplyFrames(t *testing.T) {
	for _, s := range []string{"", "\n", "answer\n" + fine, "answer \n" + fine, "answer abc\n" + fine, "other " + testCanary + "\n" + fine, "answer " + testCanary, testCanary + "\n" + fine} {
		if _, err := ParseReply([]byte(s), 5); !errors.Is(err, ErrReply) {
			t.Errorf("%q: %v", s, err)
		}
	}
	big := Direct(testCanary, append([]byte(fine), bytes.Repeat([]byte(" "), MaxReply)...))
	if _, err := ParseReply(big, 5); !errors.Is(err, ErrReply) {
		t.Errorf("beyond the bound: %v", err)
	}
}

// FuzzReply: whatever a server sends, it is an error, or an answer within the enum
// and the lines.
func FuzzReply(f *testing.F) {
	f.Add(Completion(testCanary, said(fine)), 5)
	f.Add(Direct(testCanary, []byte(fine)), 1)
	for _, s := range wrong {
		f.Add(Direct(testCanary, []byte(s)), 5)
	}
	f.Add(Completion(testCanary, []byte(`{"choices":[{"message":{"reasoning":{"a":["`+testCanary+`"]},"content":"x"}}]}`)), 3)
	f.Fuzz(func(t *testing.T, raw []byte, lines int) {
		a, err := ParseReply(raw, lines)
		if err != nil {
			if !errors.Is(err, ErrReply) && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrCompromised) {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		switch a.Verdict {
		case Benign, Suspicious, Injection, Unsure:
		default:
			t.Fatalf("verdict %q", a.Verdict)
		}
		if len(a.Categories) > MaxCategories || len(a.Spans) > MaxSpans {
			t.Fatalf("too much: %+v", a)
		}
		for _, c := range a.Categories {
			if c.category() == "" {
				t.Fatalf("category %q", c)
			}
		}
		for _, s := range a.Spans {
			if s.First < 1 || s.Last > lines || s.First > s.Last {
				t.Fatalf("span %+v of %d lines", s, lines)
			}
		}
		if bytes.Contains(bytes.ToLower(raw), []byte("\\u")) {
			return // spelled otherwise
		}
		_, body, _ := bytes.Cut(raw, []byte("\n"))
		if !bytes.Contains(body, []byte(a.Verdict)) {
			t.Fatalf("the verdict %s is not in the reply", a.Verdict)
		}
	})
}
