// Package intent is what an operator lets an agent do in one run: a task, the items
// that it needs, by id and version digest, rules for their arguments, and an end.
// Everything else is denied, tools that appear later too.
//
// A Plan is an intent as a person writes it, with names. Sealing resolves the names
// to the versions that are cleared now, and gives the Intent: one canonical text with
// one digest, which an operator signs. The package holds rules only: where an intent
// is kept and when it may be sealed is registry/runs' business.
package intent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Errors of intents. Texts name a key, a line or a rule, and repeat nothing else
// that stands in a file.
var (
	ErrFile    = errors.New("intent file")
	ErrText    = errors.New("intent: not the canonical text of an intent")
	ErrMissing = errors.New("intent: it names what is not cleared now")
	ErrUnnamed = fmt.Errorf("%w: a rule speaks of a name that is not among the tools, prompts, resources and templates", ErrFile)
	ErrWider   = errors.New("intent: it is not provably narrower than the one that is sealed")
)

// Bounds of an intent.
const (
	MaxFile  = 256 << 10 // bytes of the file
	MaxText  = 1 << 20   // bytes of the canonical text
	MaxItems = 1000
	MaxTask  = 2000 // bytes
	MaxLife  = 31 * 24 * time.Hour
	MinLife  = time.Second
)

// DigestContext is the digest context of intents.
const DigestContext = "pratique/intent/v1"

// A Kind is what an item is.
type Kind string

// The kinds of items that an intent can name.
const (
	Tool     Kind = "tool"
	Prompt   Kind = "prompt"
	Resource Kind = "resource" // named by its URI
	Template Kind = "template" // named by its URI template
)

// Kinds are all kinds, in the order in which items stand.
func Kinds() []Kind { return []Kind{Tool, Prompt, Resource, Template} }

// An Item is one version of one item of one upstream. It is comparable.
type Item struct {
	Origin string             `json:"origin"` // text form of the upstream's origin
	Kind   Kind               `json:"kind"`
	Name   string             `json:"name"`
	ID     credentials.ToolID `json:"id"`
	Digest credentials.Digest `json:"digest"` // of the version
}

func (i *Item) compare(o *Item) int {
	if c := strings.Compare(i.Origin, o.Origin); c != 0 {
		return c
	}
	if c := slices.Index(Kinds(), i.Kind) - slices.Index(Kinds(), o.Kind); c != 0 {
		return c
	}
	return strings.Compare(i.Name, o.Name)
}

func (i *Item) check() error {
	_, err := credentials.ParseToolID(string(i.ID))
	if err != nil || i.Origin == "" || i.Name == "" || !slices.Contains(Kinds(), i.Kind) || i.Digest.IsZero() {
		return fmt.Errorf("%w: an item", ErrText)
	}
	return nil
}

// form is the canonical text.
type form struct {
	V       int                 `json:"v"` // 1
	Task    string              `json:"task"`
	Agent   credentials.AgentID `json:"agent"`
	Launch  bool                `json:"launch,omitzero"` // the agent is a launch on stdio
	Items   []Item              `json:"items"`           // sorted
	Rules   jsontext.Value      `json:"rules"`           // a rule file in its canonical spelling
	Expires int64               `json:"expires"`         // seconds since the epoch
}

// An Intent is sealed or about to be. It is immutable; Seal and Read make it.
type Intent struct {
	form   form
	text   []byte
	digest credentials.Digest
	rules  *policy.Rules
}

// Read reads the canonical text of an intent, strictly.
func Read(text []byte) (*Intent, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrText, MaxText)
	}
	c, err := canon.JSON(text, canon.Limits{Bytes: MaxText})
	if err != nil || !bytes.Equal(c, text) {
		return nil, ErrText
	}
	var f form
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, ErrText
	}
	i, err := build(f)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(i.text, text) { // a second spelling of the same would have another digest
		return nil, ErrText
	}
	return i, nil
}

// build checks and spells an intent.
func build(f form) (*Intent, error) {
	if f.V != 1 || f.Expires <= 0 || f.Expires > credentials.MaxInt || len(f.Items) == 0 || len(f.Items) > MaxItems {
		return nil, ErrText
	}
	if _, err := credentials.ParseAgentID(string(f.Agent)); err != nil {
		return nil, fmt.Errorf("%w: agent", ErrText)
	}
	if what := badTask(f.Task); what != "" {
		return nil, fmt.Errorf("%w: task: %s", ErrText, what)
	}
	for n := range f.Items {
		if err := f.Items[n].check(); err != nil {
			return nil, err
		}
		if n > 0 && f.Items[n-1].compare(&f.Items[n]) >= 0 {
			return nil, fmt.Errorf("%w: items are sorted, and there once", ErrText)
		}
	}
	rules, err := policy.Load(f.Rules)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrText, err)
	}
	if rules.Watches() {
		return nil, fmt.Errorf("%w: a rule of an intent binds; there is no shadow", ErrText)
	}
	f.Rules = rules.Text()
	text, err := canon.Marshal(&f)
	if err != nil || len(text) > MaxText {
		return nil, ErrText
	}
	return &Intent{form: f, text: text, digest: canon.Digest(DigestContext, text), rules: rules}, nil
}

// badTask is what is wrong with a task; empty: nothing. A person reads it before
// signing, so all of it has to show.
func badTask(s string) string {
	switch {
	case s == "":
		return "it is missing"
	case len(s) > MaxTask:
		return "it is longer than 2000 bytes"
	case !utf8.ValidString(s) || strings.TrimSpace(s) != s || strings.IndexFunc(s, hidden) >= 0:
		return "it has blanks at an end or characters that do not show"
	}
	return ""
}

func hidden(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// Text is the canonical text, which Read reads. It is shared and must not be
// changed.
func (i *Intent) Text() []byte { return i.text }

// Digest names the intent: what an operator's signature covers.
func (i *Intent) Digest() credentials.Digest { return i.digest }

// Task is what it is for, in the operator's words.
func (i *Intent) Task() string { return i.form.Task }

// Agent is whose run it binds.
func (i *Intent) Agent() credentials.AgentID { return i.form.Agent }

// Launch tells whether the agent is a launch on stdio, behind which no credential
// stands.
func (i *Intent) Launch() bool { return i.form.Launch }

// Items are what it names, sorted. They are shared and must not be changed.
func (i *Intent) Items() []Item { return i.form.Items }

// Expires is when it ends.
func (i *Intent) Expires() time.Time { return time.Unix(i.form.Expires, 0).UTC() }

// Rules are its rules.
func (i *Intent) Rules() *policy.Rules { return i.rules }
