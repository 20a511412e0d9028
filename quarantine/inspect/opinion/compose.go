package opinion

import (
	_ "embed"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Signs are what is drawn for one request, once its texts are known.
type Signs struct {
	Mark   string // stands for every space of the texts and occurs in none of them
	Canary string // must never come back
}

const (
	letters      = "abcdefghijklmnopqrstuvwxyz234567"
	canaryLength = 16

	// A mark is two letters in low lines, _k7_: models read it as two or three tokens,
	// half of what longer ones cost. A text can hold all of these marks; then it is
	// three letters, of which a window holds an eighth at most.
	shortMark, longMark = 2, 3
	markCost            = longMark + 2 // bytes
)

// Draw draws signs for a request with these lines. An error means that random is
// broken.
func Draw(random io.Reader, lines []Line) (Signs, error) {
	var text strings.Builder // lines are cut anywhere: a mark may stand across two
	for _, l := range lines {
		text.WriteString(strings.ToLower(l.Text))
	}
	for try := range 64 {
		var b [longMark + canaryLength]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return Signs{}, ErrRandom
		}
		first := b[0]
		for i := range b {
			b[i] = letters[b[i]%32]
		}
		b[0] = letters[first%26] // no number
		n := shortMark
		if try >= 16 {
			n = longMark
		}
		s := Signs{Mark: "_" + string(b[:n]) + "_", Canary: string(b[longMark:])}
		if !strings.Contains(text.String(), s.Mark) && !strings.Contains(text.String(), s.Canary) {
			return s, nil
		}
	}
	return Signs{}, ErrRandom
}

// unbroken is the most characters that stand without a mark: texts in scripts
// without spaces are marked too.
const unbroken = 24

// A marker puts marks into a text: in place of each run of spaces, behind each sign
// that could begin a control word of a model's chat template (<|im_start|>, [INST],
// </s>: servers take them for their own wherever they stand), and after a while in
// any case.
type marker struct {
	space bool
	run   int
}

// before tells whether a mark stands before r, and whether r stands there at all.
func (m *marker) before(r rune) (mark, char bool) {
	if isSpace(r) {
		m.space = true
		return false, false
	}
	mark = m.space || m.run == unbroken
	if mark {
		m.space, m.run = false, 0
	}
	m.run++
	switch r {
	case '<', '[', '\u25c1', '\uff1c', '\ufe64', '\u3008', '\u2329', '\u27e8', '\uff3b':
		m.run = unbroken // the next one is marked
	}
	return mark, true
}

// mark appends a text with its marks.
func mark(b *strings.Builder, text, sign string) {
	var m marker
	for _, r := range text {
		marked, char := m.before(r)
		if marked {
			b.WriteString(sign)
		}
		if unicode.IsControl(r) {
			r = unicode.ReplacementChar
		}
		if char {
			b.WriteRune(r)
		}
	}
	if m.space {
		b.WriteString(sign)
	}
}

// fit is how many bytes of text cost no more than room when they are marked, and
// what they cost. Marks count: a text of single letters must not become a request
// so long that a server drops its beginning.
func fit(text string, room int) (size, cost int) {
	var m marker
	for i, r := range text {
		marked, char := m.before(r)
		c := 0
		if marked {
			c = markCost
		}
		if char {
			c += utf8.RuneLen(r)
		}
		if cost+c > room {
			return i, cost
		}
		cost += c
	}
	return len(text), cost
}

// isSpace tells whether a character parts words, seen or unseen.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\u2060' || r == '\ufeff' || r == '\u180e'
}

//go:embed prompt/system.txt
var systemText string

//go:embed prompt/user.txt
var userText string

// What an agent takes the texts of a request for.
const (
	metadataKind = "what a tool, prompt, resource or server says of itself to an AI agent: names, descriptions, schemas, instructions for use"
	returnedKind = "what a tool returned to an AI agent: documents, web pages, mails, code, logs, error messages"
)

// A Prompt is the two messages of a request.
type Prompt struct {
	System, User string
	returned     bool
	lines        []Line
}

// Compose makes the messages for some lines: instructions, texts as data,
// instructions again. All lines are of one batch, hence of one origin.
func Compose(lines []Line, s Signs) Prompt {
	p := Prompt{lines: lines, returned: len(lines) > 0 && lines[0].Kind.Returned()}
	kind := metadataKind
	if p.returned {
		kind = returnedKind
	}
	var data strings.Builder
	for i, l := range lines {
		data.WriteString(strconv.Itoa(i + 1))
		data.WriteByte(' ')
		data.WriteString(string(l.Kind))
		data.WriteByte(' ')
		mark(&data, l.Text, s.Mark)
		data.WriteByte('\n')
	}
	fill := strings.NewReplacer("{mark}", s.Mark, "{canary}", s.Canary, "{kind}", kind, "{count}", strconv.Itoa(len(lines)), "{lines}\n", data.String())
	p.System, p.User = fill.Replace(systemText), fill.Replace(userText)
	return p
}

// A Model is what the operator says about a model behind an endpoint.
type Model struct {
	Name      string // as the endpoint knows it
	MaxTokens int    // of the answer
	// Reasoning is for models that think before they answer: they want
	// max_completion_tokens and no temperature.
	Reasoning bool
}

//go:embed prompt/schema.json
var schemaText []byte

// body is a request to chat completions. No member is of the texts or the judge,
// the messages apart.
type body struct {
	Model       string         `json:"model"`
	Messages    [2]turn        `json:"messages"`
	Temperature jsontext.Value `json:"temperature,omitempty"`
	MaxTokens   int            `json:"max_tokens,omitzero"`
	MaxAll      int            `json:"max_completion_tokens,omitzero"`
	Stream      bool           `json:"stream"`
	Format      format         `json:"response_format"`
}

type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type format struct {
	Type   string `json:"type"`
	Schema schema `json:"json_schema"`
}

type schema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema jsontext.Value `json:"schema"`
}

// Body is the prompt as the body of a request to chat completions, without
// tools, not streamed, with the form of the answer.
func (p Prompt) Body(m Model) ([]byte, error) {
	r := body{
		Model: m.Name, Messages: [2]turn{{"system", p.System}, {"user", p.User}},
		Format: format{"json_schema", schema{"opinion", true, schemaText}},
	}
	if m.Reasoning {
		r.MaxAll = m.MaxTokens
	} else {
		r.MaxTokens, r.Temperature = m.MaxTokens, jsontext.Value("0")
	}
	return json.Marshal(r)
}

// input is what a local command reads.
type input struct {
	V        int            `json:"v"`
	Kind     string         `json:"kind"` // metadata or returned
	Lines    []string       `json:"lines"`
	Messages [2]turn        `json:"messages"`
	Schema   jsontext.Value `json:"schema"`
}

// Input is the prompt for a local command: the lines as they are, for a
// classifier, and the messages, for a language model.
func (p Prompt) Input() ([]byte, error) {
	r := input{V: 1, Kind: "metadata", Messages: [2]turn{{"system", p.System}, {"user", p.User}}, Schema: schemaText}
	if p.returned {
		r.Kind = "returned"
	}
	for _, l := range p.lines {
		r.Lines = append(r.Lines, strings.ToValidUTF8(l.Text, "\ufffd"))
	}
	return json.Marshal(r)
}
