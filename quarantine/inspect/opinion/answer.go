package opinion

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/quarantine"
)

// Bounds of an answer.
const (
	MaxCategories = 4
	MaxSpans      = 8
	maxAnswer     = 4 << 10 // bytes of its JSON
)

// A Verdict is what a model may say of a segment. The zero value is none.
type Verdict string

// The verdicts of a model.
const (
	Benign     Verdict = "benign"
	Suspicious Verdict = "suspicious"
	Injection  Verdict = "injection"
	Unsure     Verdict = "unsure"
)

// raises is what the verdict raises a specimen's verdict to.
func (v Verdict) raises() quarantine.Verdict {
	switch v {
	case Benign:
		return quarantine.Clear
	case Injection:
		return quarantine.Hostile
	}
	return quarantine.Suspect
}

// A Category is a reason that a model may give.
type Category string

// The reasons, with what they mean in a report.
var categories = map[Category]quarantine.Category{
	"override":  quarantine.Override,
	"secrets":   quarantine.Secrets,
	"sending":   quarantine.Tracking,
	"othertool": quarantine.OtherTool,
	"pretence":  quarantine.Contradiction,
	"hidden":    quarantine.Hidden,
}

func (c Category) category() quarantine.Category { return categories[c] }

// A LineSpan is a range of lines of a request, from 1, both ends in it.
type LineSpan struct {
	First, Last int
}

// An Answer is a model's answer, after every check.
type Answer struct {
	Verdict    Verdict
	Categories []Category
	Spans      []LineSpan
}

// places are the pieces of specimens that the spans cover.
func (a Answer) places(lines []Line) []Piece {
	var out []Piece
	for _, s := range a.Spans {
		begun := false
		for _, l := range lines[s.First-1 : s.Last] {
			if n := len(out) - 1; begun && out[n].At == l.At && out[n].To == l.From {
				out[n].To = l.To
				continue
			}
			out, begun = append(out, l.Piece), true
		}
	}
	return out
}

// Forms of replies: what stands behind the first line.
const (
	completionForm = "completion" // the body of an answer of chat completions
	answerForm     = "answer"     // the answer itself, by a local command
)

// Completion is the reply that holds the body of an answer of chat completions
// to a request with this canary.
func Completion(canary string, body []byte) []byte { return reply(completionForm, canary, body) }

// Direct is the reply that holds an answer as such.
func Direct(canary string, answer []byte) []byte { return reply(answerForm, canary, answer) }

func reply(form, canary string, body []byte) []byte {
	out := make([]byte, 0, len(form)+len(canary)+len(body)+2)
	out = append(out, form...)
	out = append(out, ' ')
	out = append(out, canary...)
	out = append(out, '\n')
	return append(out, body...)
}

// ParseReply reads a reply to a request of so many lines. Its errors are ErrReply,
// ErrRefused and ErrCompromised: in all of them there is no answer.
func ParseReply(raw []byte, lines int) (Answer, error) {
	head, body, ok := bytes.Cut(raw, []byte("\n"))
	form, canary, ok2 := strings.Cut(string(head), " ")
	if len(raw) > MaxReply || !ok || !ok2 || len(canary) != canaryLength {
		return Answer{}, ErrReply
	}
	if Leaks(body, canary) {
		return Answer{}, ErrCompromised
	}
	switch form {
	case completionForm:
		content, err := contentOf(body)
		if err != nil {
			return Answer{}, err
		}
		return parseAnswer(content, lines)
	case answerForm:
		return parseAnswer(body, lines)
	}
	return Answer{}, ErrReply
}

// completion is what counts of an answer of chat completions. Servers add members
// of their own to it, so unknown ones pass.
type completion struct {
	Choices []struct {
		Finish  string   `json:"finish_reason"`
		Message *message `json:"message"`
	} `json:"choices"`
}

type message struct {
	Role     string         `json:"role"`
	Content  jsontext.Value `json:"content"`
	Refusal  jsontext.Value `json:"refusal"`
	Tools    jsontext.Value `json:"tool_calls"`
	Function jsontext.Value `json:"function_call"`
}

// contentOf is the one text that a model wrote, if it wrote that and did nothing
// else.
func contentOf(body []byte) ([]byte, error) {
	var c completion
	if err := json.Unmarshal(body, &c); err != nil || len(c.Choices) != 1 || c.Choices[0].Message == nil {
		return nil, ErrReply
	}
	m, finish := c.Choices[0].Message, c.Choices[0].Finish
	if !nothing(m.Refusal) || finish == "content_filter" {
		return nil, ErrRefused
	}
	if m.Role != "assistant" || finish != "stop" || !nothing(m.Tools) || !nothing(m.Function) || m.Content.Kind() != '"' {
		return nil, ErrReply
	}
	text, err := jsontext.AppendUnquote(nil, m.Content)
	if err != nil {
		return nil, ErrReply
	}
	return text, nil
}

// nothing tells whether a member is absent or says that there is nothing.
func nothing(v jsontext.Value) bool {
	switch string(v) {
	case "", "null", `""`, "[]":
		return true
	}
	return false
}

// parsed is an answer as JSON; all members are required, and there are no others.
type parsed struct {
	V          *int        `json:"v"`
	Verdict    *Verdict    `json:"verdict"`
	Categories *[]Category `json:"categories"`
	Spans      *[]struct {
		First *int `json:"first"`
		Last  *int `json:"last"`
	} `json:"spans"`
}

func parseAnswer(text []byte, lines int) (Answer, error) {
	var p parsed
	if err := canon.Unmarshal(text, &p, canon.Limits{Bytes: maxAnswer, Depth: 3, NoNull: true}); err != nil {
		return Answer{}, ErrReply
	}
	if p.V == nil || *p.V != 1 || p.Verdict == nil || p.Categories == nil || p.Spans == nil {
		return Answer{}, ErrReply
	}
	a := Answer{Verdict: *p.Verdict, Categories: *p.Categories}
	switch a.Verdict {
	case Benign, Suspicious, Injection, Unsure:
	default:
		return Answer{}, ErrReply
	}
	if len(a.Categories) > MaxCategories || len(*p.Spans) > MaxSpans {
		return Answer{}, ErrReply
	}
	for i, c := range a.Categories {
		if _, ok := categories[c]; !ok || slices.Contains(a.Categories[:i], c) {
			return Answer{}, ErrReply
		}
	}
	for _, s := range *p.Spans {
		if s.First == nil || s.Last == nil || *s.First < 1 || *s.First > *s.Last || *s.Last > lines {
			return Answer{}, ErrReply
		}
		span := LineSpan{*s.First, *s.Last}
		if slices.Contains(a.Spans, span) {
			return Answer{}, ErrReply
		}
		a.Spans = append(a.Spans, span)
	}
	if a.Verdict == Benign && (len(a.Categories) > 0 || len(a.Spans) > 0) {
		return Answer{}, ErrReply // says two things
	}
	return a, nil
}

// Leaks tells whether a reply's body repeats the canary in whatever spelling with
// signs between its characters. What a reasoning model thinks is not its answer:
// there it may recite its instructions.
func Leaks(body []byte, canary string) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		t, err := d.ReadToken()
		if err != nil {
			rest := body[d.InputOffset():]
			return len(bytes.TrimSpace(rest)) > 0 && spells(string(body), canary)
		}
		if t.Kind() != '"' {
			continue
		}
		s := t.String()
		if spells(s, canary) {
			return true
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 1 && isThought(s) {
			if d.SkipValue() != nil {
				return spells(string(body), canary)
			}
		}
	}
}

// isThought tells whether a member of a message holds what a model thought before
// it answered.
func isThought(name string) bool {
	switch name {
	case "reasoning", "reasoning_content", "reasoning_details", "thinking":
		return true
	}
	return false
}

func spells(s, canary string) bool {
	if len(s) < len(canary) {
		return false
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, s)
	return strings.Contains(plain, canary)
}
