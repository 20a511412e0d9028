package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

// Look finds an entry by name, by table and never by parsing. The entry comes
// with every error that is about it, for the record; agents get nothing of it.
func (s *Surface) Look(kind Kind, name string) (Entry, error) {
	i, ok := s.index[Key{kind, name}]
	if !ok {
		if !s.Complete() {
			return Entry{}, ErrIncomplete
		}
		return Entry{}, ErrNotShown
	}
	e := s.entries[i]
	err := s.towards(&e)
	if s.in.UnsafeWatch && e.State != policy.NotShown && e.State != policy.Incomplete {
		return e, nil
	}
	return e, err
}

// towards says where the entry stands for this agent.
func (s *Surface) towards(e *Entry) error {
	e.State = policy.NotShown
	if s.in.Shown == nil {
		return ErrNotShown
	}
	d, ok, err := s.in.Shown.Shown(e.Key)
	switch {
	case err != nil:
		return err
	case e.Listed == policy.Incomplete:
		e.State = policy.Incomplete
	case !ok:
	case d != e.Digest && e.Listed == policy.Cleared:
		e.State = policy.Changed
	default:
		e.State = e.Listed
	}
	return stateErr(e.State)
}

// ErrUnlisted is an ErrNotShown of an agent that was listed nothing of the kind yet:
// once it has listed, the same call may go through.
var ErrUnlisted = fmt.Errorf("%w, which has listed nothing of the kind yet", ErrNotShown)

// maxUnlisted is how many items Unlisted asks for: each may be a look at a file,
// and a call of an unknown name must not cost more the larger the surface is.
const maxUnlisted = 16

// Unlisted tells whether this agent was listed nothing of the kind although there
// is something to list: whatever it names, it has to list first, and may then try
// again. It is the same for every name, and so tells nothing of any.
func (s *Surface) Unlisted(kind Kind) bool {
	some := 0
	for i := range s.entries {
		if some == maxUnlisted {
			break
		}
		e := &s.entries[i]
		if e.Kind != kind || e.Listed != policy.Cleared {
			continue
		}
		if s.in.Shown == nil {
			return true
		}
		if _, ok, err := s.in.Shown.Shown(e.Key); ok || err != nil {
			return false
		}
		some++
	}
	return some > 0 && s.Complete()
}

// Cleared finds an item as Look does, for what may be used once it is cleared,
// whether or not this agent has listed it: a template, which opens URIs, and what
// a completion is about (RULES.md 4). What the agent was shown as something else is
// changed.
func (s *Surface) Cleared(kind Kind, name string) (Entry, error) {
	e, err := s.Look(kind, name)
	if err == ErrNotShown && e.Kind != "" && e.Listed == policy.Cleared {
		e.State, err = policy.Cleared, nil
	}
	return e, err
}

// Readable finds what opens a URI: the resource that is listed under it, the
// upstream's own link in a result, or a cleared template that gives it
// (RULES.md 4). A listed resource goes first, so that what is withheld is not read
// by another way.
func (s *Surface) Readable(uri string) (Entry, error) {
	listed, err := s.Look(Resource, uri)
	if err == nil || err == ErrIncomplete || listed.Kind != "" && (listed.Listed != policy.Cleared || listed.State != policy.NotShown) {
		return listed, err
	}
	if s.in.Linked != nil && s.in.Linked(uri) {
		return s.link(uri), nil
	}
	var first Entry // that gives it and must not be used, for the record
	why := ErrNotShown
	for _, b := range s.templates {
		if !b.t.Match(uri) {
			continue
		}
		e, err := s.Cleared(Template, s.entries[b.i].Name)
		if err == nil {
			return e, nil
		}
		if first.Kind == "" {
			first, why = e, err
		}
	}
	return first, why
}

// link is the entry of a URI that nobody listed: its digest is over the URI, its
// content nothing that was inspected but the address.
func (s *Surface) link(uri string) Entry {
	e := Entry{State: policy.Cleared, Listed: policy.Cleared, Standing: s.in.Standing, Content: labels.Inspected, Effect: labels.Read, Link: true}
	e.Key = Key{Resource, uri}
	e.Verdict = quarantine.Clear
	e.Digest = canon.Digest("pratique/item/link/v1", []byte(uri))
	return e
}

// Pass is the permission to call an item once with exactly these params. The
// entry must be cleared in this very surface under the digest that the agent was
// shown, and the params must name it.
func (s *Surface) Pass(e Entry, method string, params []byte) (Pass, error) {
	epoch := s.in.Epoch.at(e.Kind)
	now, err := s.named(e, method, params)
	if err != nil {
		return Pass{}, err
	}
	if now.Digest != e.Digest || now.Tool != e.Tool || now.Gen != e.Gen {
		return Pass{}, ErrChanged
	}
	if !s.Complete() {
		return Pass{}, ErrIncomplete
	}
	if !s.in.UnsafeWatch && now.State != policy.Cleared {
		return Pass{}, stateErr(now.State)
	}
	return Pass{&pass{method: method, params: sha256.Sum256(params), item: now.Digest, epoch: epoch}}, nil
}

// Still is nil if the entry is on this surface as it was, cleared, whatever the
// agent was shown since.
func (s *Surface) Still(e Entry) error {
	i, ok := s.index[e.Key]
	switch {
	case !s.Complete():
		return ErrIncomplete
	case !ok:
		return ErrNotShown
	}
	now := &s.entries[i]
	if now.Digest != e.Digest || now.Tool != e.Tool || now.Gen != e.Gen {
		return ErrChanged
	}
	return stateErr(now.Listed)
}

// named finds the entry again by what the params say, so that no call is judged
// under one name and made under another.
func (s *Surface) named(e Entry, method string, params []byte) (Entry, error) {
	var p struct {
		Name *string `json:"name"`
		URI  *string `json:"uri"`
		Ref  *struct {
			Type string `json:"type"`
			Name string `json:"name"`
			URI  string `json:"uri"`
		} `json:"ref"`
		Notifications jsontext.Value `json:"notifications"`
	}
	if json.Unmarshal(params, &p) != nil {
		return Entry{}, ErrOtherItem
	}
	if method == "subscriptions/listen" {
		p.URI = onlySubscription(p.Notifications)
	}
	key := Key{}
	switch {
	case method == "tools/call" && p.Name != nil:
		key = Key{Tool, *p.Name}
	case method == "prompts/get" && p.Name != nil:
		key = Key{Prompt, *p.Name}
	case method == "completion/complete" && p.Ref != nil && p.Ref.Type == "ref/prompt":
		key = Key{Prompt, p.Ref.Name}
	case method == "completion/complete" && p.Ref != nil && p.Ref.Type == "ref/resource":
		if key = (Key{Template, p.Ref.URI}); e.Kind == Resource {
			key.Kind = Resource
		}
	case p.URI != nil && readsURI(method):
		now, err := s.Readable(*p.URI)
		if err == nil && now.Key != e.Key {
			return now, ErrOtherItem
		}
		return now, err
	}
	if key != e.Key || key.Kind == "" {
		return Entry{}, ErrOtherItem
	}
	if method == "completion/complete" {
		return s.Cleared(key.Kind, key.Name)
	}
	return s.Look(key.Kind, key.Name)
}

func readsURI(method string) bool {
	switch method {
	case "resources/read", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen":
		return true
	}
	return false
}

// onlySubscription is the one resource that a listen asks for; nil where it asks
// for more or for something else.
func onlySubscription(raw jsontext.Value) *string {
	var n struct {
		Resources []string `json:"resourceSubscriptions"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &n, json.RejectUnknownMembers(true)) != nil || len(n.Resources) != 1 {
		return nil
	}
	return &n.Resources[0]
}

var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// PassLevel is the permission for one logging/setLevel with exactly these params.
// It is about no item; the surface has to be complete.
func (s *Surface) PassLevel(params []byte) (Pass, error) {
	epoch := s.in.Epoch.at("")
	var p struct {
		Level string         `json:"level"`
		Meta  jsontext.Value `json:"_meta"`
	}
	if json.Unmarshal(params, &p, json.RejectUnknownMembers(true)) != nil || !slices.Contains(levels, p.Level) {
		return Pass{}, ErrOtherItem
	}
	if !s.Complete() {
		return Pass{}, ErrIncomplete
	}
	return Pass{&pass{method: "logging/setLevel", params: sha256.Sum256(params), epoch: epoch}}, nil
}
