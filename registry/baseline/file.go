package baseline

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
)

// Bounds of one baseline. What does not fit is not recorded, hence not shown.
const (
	MaxItems   = 10_000   // accepted ones
	MaxPending = 10_000   // waiting ones
	MaxItem    = 4 << 20  // bytes of one item
	MaxBytes   = 64 << 20 // of all accepted and waiting items
	MaxFound   = 32       // findings that are kept of a waiting one

	maxFoundPath = 512 // bytes
)

// A file is a line with the format, a line with the seal, and the document. The
// seal is a signature of the node over the document, or a plain sum where the
// store has no keys.
const format = "pratique-surface/1\n"

var sealContext = []byte("pratique/surface/v1\x00")

// A document is what a file holds.
type document struct {
	Origin   string                        `json:"origin"`
	Revision uint64                        `json:"revision"`
	Seen     int64                         `json:"seen,omitzero"`
	Launch   *Pinned                       `json:"launch,omitzero"`
	Next     *Launch                       `json:"next,omitzero"`
	Items    []*Accepted                   `json:"items"`
	Pending  []*Pending                    `json:"pending"`
	Spent    map[credentials.TokenID]int64 `json:"spent,omitzero"`

	Condemned []*Condemned `json:"condemned,omitzero"`
}

func (s *Store) encode(b *Baseline) ([]byte, error) {
	total := 0
	for _, a := range b.accepted {
		total += len(a.Raw)
	}
	for _, p := range b.pending {
		total += len(p.Raw)
		for _, f := range p.Found {
			total += len(f.Path)
		}
	}
	if total > MaxBytes {
		return nil, ErrLimit
	}
	body, err := json.Marshal(&document{
		b.origin, b.revision, b.seen, b.launch, b.next, b.Items(), b.Waiting(), b.spent, b.Condemnations(),
	}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	seal, err := s.seal(body)
	if err != nil {
		return nil, fmt.Errorf("baseline: sealing: %w", err)
	}
	out := append([]byte(format), seal...)
	return append(append(out, '\n'), body...), nil
}

func (s *Store) seal(body []byte) (string, error) {
	sum := sha256.Sum256(append(slices.Clone(sealContext), body...))
	if s.opt.Sign == nil {
		return "sum:" + base64.RawURLEncoding.EncodeToString(sum[:]), nil
	}
	sig, err := s.opt.Sign(append(slices.Clone(sealContext), sum[:]...))
	return "sig:" + base64.RawURLEncoding.EncodeToString(sig), err
}

// unseal checks a seal. A store with keys takes no plain sum.
func (s *Store) unseal(seal, body []byte) bool {
	sum := sha256.Sum256(append(slices.Clone(sealContext), body...))
	if s.opt.Verify == nil {
		return string(seal) == "sum:"+base64.RawURLEncoding.EncodeToString(sum[:])
	}
	text, ok := bytes.CutPrefix(seal, []byte("sig:"))
	if !ok {
		return false
	}
	sig, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	return err == nil && s.opt.Verify(append(slices.Clone(sealContext), sum[:]...), sig) == nil
}

func split(data []byte) (seal, body []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(format))
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(rest, []byte{'\n'})
}

func parseDocument(body []byte) (*document, error) {
	var doc document
	// Only the form is in question: bounds were kept when it was written, and the
	// seal says by whom.
	err := json.Unmarshal(body, &doc, json.RejectUnknownMembers(true))
	return &doc, err
}

// originOf reads whose file it says it is. Get checks the seal.
func originOf(data []byte) (string, error) {
	_, body, ok := split(data)
	if !ok {
		return "", errors.New("not of this format")
	}
	doc, err := parseDocument(body)
	if err != nil {
		return "", errors.New("not a document of this format")
	}
	return doc.Origin, nil
}

// decode reads a file; no file is the empty baseline.
func (s *Store) decode(origin string, p *place, data []byte) (*Baseline, error) {
	if data == nil {
		return &Baseline{origin: origin}, nil
	}
	seal, body, ok := split(data)
	if !ok {
		return nil, fmt.Errorf("%w: not of this format", ErrDamaged)
	}
	if !s.unseal(seal, body) {
		return nil, fmt.Errorf("%w: the seal does not fit", ErrDamaged)
	}
	doc, err := parseDocument(body)
	if err != nil {
		return nil, fmt.Errorf("%w: not a document of this format", ErrDamaged)
	}
	if doc.Origin != origin || doc.Revision == 0 {
		return nil, fmt.Errorf("%w: it is another upstream's", ErrDamaged)
	}
	b := &Baseline{origin: origin, revision: doc.Revision, seen: doc.Seen, launch: doc.Launch, next: doc.Next,
		accepted: map[Key]*Accepted{}, pending: map[Key]*Pending{}, spent: doc.Spent, condemned: map[version]*Condemned{}}
	if err := b.fill(doc); err != nil {
		return nil, err
	}
	s.verifyActs(p, b)
	return b, nil
}

// fill takes the items over, each well-formed and once.
func (b *Baseline) fill(doc *document) error {
	for _, a := range doc.Items {
		_, badID := credentials.ParseToolID(string(a.ID))
		if badID != nil || !a.Kind.Known() || b.accepted[a.Key] != nil || a.Gen == 0 || a.Ver == 0 || a.Digest.IsZero() {
			return fmt.Errorf("%w: an accepted item is not well-formed", ErrDamaged)
		}
		b.accepted[a.Key] = a
	}
	for _, w := range doc.Pending {
		if !w.Kind.Known() || b.pending[w.Key] != nil || w.Digest.IsZero() {
			return fmt.Errorf("%w: a waiting item is not well-formed", ErrDamaged)
		}
		b.pending[w.Key] = w
	}
	for _, c := range doc.Condemned {
		if !c.Kind.Known() || b.Condemned(c.Key, c.Digest) != nil || c.Digest.IsZero() {
			return fmt.Errorf("%w: a condemned item is not well-formed", ErrDamaged)
		}
		b.condemned[version{c.Key, c.Digest}] = c
	}
	return nil
}

// A verified is an act whose signature was checked.
type verified struct {
	act Act
	key credentials.KeyID
	ok  bool
}

// verifyActs marks what an operator is said to have accepted and did not.
// Signatures that were checked before are remembered.
func (s *Store) verifyActs(p *place, b *Baseline) {
	acts, signers := map[string]verified{}, map[credentials.KeyID]string{}
	var doubted []string
	check := func(token string) verified {
		v, ok := p.acts[token]
		if !ok || !v.ok {
			v = s.openAct(token)
		}
		acts[token] = v
		if v.ok {
			signers[v.key] = token
		} else if len(doubted) < maxDoubted {
			doubted = append(doubted, token)
		}
		return v
	}
	for _, a := range b.accepted {
		if a.By == ByOperator {
			v := check(a.Act)
			a.Broken = !v.ok || v.act.Origin != b.origin || v.act.Kind != a.Kind || v.act.Name != a.Name ||
				v.act.Digest != a.Digest || v.act.CheckTime(time.UnixMilli(a.At), ActLife) != nil || !v.act.made(a)
		}
	}
	if l := b.launch; l != nil && l.By == ByOperator {
		v := check(l.Act)
		l.Broken = !v.ok || v.act.Op != OpAcceptLaunch || v.act.Origin != b.origin ||
			v.act.Digest != l.Launch.Digest() || v.act.CheckTime(time.UnixMilli(l.At), ActLife) != nil
	}
	p.acts, p.signers, p.doubted, p.asked = acts, signers, doubted, time.Now()
}

// signedEvery is how long an operator's key that was revoked may still be taken for
// one's by whoever has read the file before; of acts that do not verify so many are
// tried again.
const (
	signedEvery = time.Second
	maxDoubted  = 8
)

// signed tells whether those whose acts are in the file are operators as they were
// when it was read. If not, all of it is judged again.
func (s *Store) signed(p *place, now time.Time) bool {
	if len(p.signers)+len(p.doubted) == 0 || now.Sub(p.asked) < signedEvery {
		return true
	}
	p.asked = now
	same := true
	for _, token := range p.signers {
		same = same && s.openAct(token).ok
	}
	for _, token := range p.doubted {
		same = same && !s.openAct(token).ok
	}
	if !same {
		p.acts = nil
	}
	return same
}

// made tells whether the act makes an item accepted the way that it is.
func (act *Act) made(a *Accepted) bool {
	if a.Released == "" {
		return act.Op == OpAcceptItem
	}
	return act.Op == OpRelease && act.Found == a.Released && act.Gen == a.Gen && act.Ver == a.Ver
}

// clone copies a baseline for change. Items are shared: they are replaced,
// never changed.
func (b *Baseline) clone() Baseline {
	c := *b
	c.accepted, c.pending, c.spent, c.condemned = maps.Clone(b.accepted), maps.Clone(b.pending), maps.Clone(b.spent), maps.Clone(b.condemned)
	if c.accepted == nil {
		c.accepted = map[Key]*Accepted{}
	}
	if c.pending == nil {
		c.pending = map[Key]*Pending{}
	}
	if c.spent == nil {
		c.spent = map[credentials.TokenID]int64{}
	}
	if c.condemned == nil {
		c.condemned = map[version]*Condemned{}
	}
	return c
}
