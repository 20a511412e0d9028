package policy

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// layersForm is what Text makes where there is more than one rule file.
type layersForm struct {
	Layers layersText `json:"layers"`
}

type layersText struct {
	Organisation jsontext.Value `json:"organisation,omitzero"`
	Origin       jsontext.Value `json:"origin,omitzero"`
	Intent       *sealedForm    `json:"intent,omitzero"`
}

type sealedForm struct {
	Rules   jsontext.Value      `json:"rules,omitzero"`
	Items   []itemForm          `json:"items"`
	Expires string              `json:"expires"`
	Digest  credentials.Digest  `json:"digest"`
	Agent   credentials.AgentID `json:"agent,omitzero"`
}

type itemForm struct {
	Origin string             `json:"origin"`
	Kind   string             `json:"kind"`
	Name   string             `json:"name"`
	ID     credentials.ToolID `json:"id,omitzero"`
	Digest credentials.Digest `json:"digest"`
}

// maxLayersBytes bounds a Text: three rule files and the items of an intent.
const maxLayersBytes = 4*MaxRulesBytes + 1<<20

// Text is all layers of a policy in one canonical spelling that Read takes: what replay
// keeps (RULES.md 29). Of an organisation alone it is the text of its rules. Of a
// policy that neither Layers nor Of made it is nil.
func Text(p Policy) []byte {
	l, ok := p.(*layered)
	if !ok {
		return nil
	}
	if g := l.given; g.Organisation != nil && g.Origin == nil && g.Intent == nil {
		return g.Organisation.Text()
	}
	return l.text()
}

func (p *layered) text() []byte {
	var t layersText
	if r := p.given.Organisation; r != nil {
		t.Organisation = r.text
	}
	if r := p.given.Origin; r != nil {
		t.Origin = r.text
	}
	if s := p.given.Intent; s != nil {
		t.Intent = s.form()
	}
	b, err := canon.Marshal(layersForm{t})
	if err != nil {
		return nil
	}
	return b
}

func (s *Sealed) form() *sealedForm {
	f := &sealedForm{Items: []itemForm{}, Expires: s.Expires.UTC().Format(time.RFC3339Nano), Digest: s.Digest, Agent: s.Agent}
	if s.Rules != nil {
		f.Rules = s.Rules.text
	}
	for _, it := range s.Items {
		f.Items = append(f.Items, itemForm(it))
	}
	slices.SortFunc(f.Items, func(a, b itemForm) int {
		return bytes.Compare([]byte(a.Origin+"\x00"+a.Kind+"\x00"+a.Name+"\x00"+string(a.ID)+a.Digest.String()), []byte(b.Origin+"\x00"+b.Kind+"\x00"+b.Name+"\x00"+string(b.ID)+b.Digest.String()))
	})
	return f
}

// Read makes the policy of a Text; its digest is the same. A rule file is the policy
// that Of makes of it. The error is ErrRules.
func Read(text []byte) (Policy, error) {
	if !bytes.HasPrefix(text, []byte(`{"layers":`)) {
		r, err := Load(text)
		if err != nil {
			return nil, err
		}
		return Of(r), nil
	}
	if len(text) > maxLayersBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrRules, maxLayersBytes)
	}
	var f layersForm
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: not the layers of a policy", ErrRules)
	}
	var l Layers
	var err error
	if l.Organisation, err = loadPart(f.Layers.Organisation); err != nil {
		return nil, err
	}
	if l.Origin, err = loadPart(f.Layers.Origin); err != nil {
		return nil, err
	}
	if l.Intent, err = f.Layers.Intent.sealed(); err != nil {
		return nil, err
	}
	return l.Policy(), nil
}

func loadPart(text jsontext.Value) (*Rules, error) {
	if text == nil {
		return nil, nil
	}
	return Load(text)
}

func (f *sealedForm) sealed() (*Sealed, error) {
	if f == nil {
		return nil, nil
	}
	rules, err := loadPart(f.Rules)
	if err != nil {
		return nil, err
	}
	expires, err := time.Parse(time.RFC3339Nano, f.Expires)
	if err != nil {
		return nil, fmt.Errorf("%w: an intent without an end", ErrRules)
	}
	s := &Sealed{Rules: rules, Expires: expires, Digest: f.Digest, Agent: f.Agent}
	for _, it := range f.Items {
		s.Items = append(s.Items, SealedItem(it))
	}
	return s, nil
}
