package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// Shown is what was shown of one upstream: digests by kind and name. It is
// shared and never changed in place.
type Shown map[baseline.Kind]map[string]credentials.Digest

// with is s with the items of set, nil if it has them all.
func (s Shown) with(set map[baseline.Key]credentials.Digest) Shown {
	var out Shown
	for k, sum := range set {
		if have, ok := s[k.Kind][k.Name]; ok && have == sum {
			continue
		}
		if out == nil {
			out = s.clone()
		}
		if out[k.Kind] == nil {
			out[k.Kind] = map[string]credentials.Digest{}
		}
		out[k.Kind][k.Name] = sum
	}
	return out
}

func (s Shown) replaced(kind baseline.Kind, names map[string]credentials.Digest) Shown {
	if maps.Equal(s[kind], names) {
		return nil
	}
	out := s.clone()
	out[kind] = maps.Clone(names)
	return out
}

func (s Shown) without(keys []baseline.Key) Shown {
	var out Shown
	for _, k := range keys {
		if _, ok := s[k.Kind][k.Name]; !ok {
			continue
		}
		if out == nil {
			out = s.clone()
		}
		delete(out[k.Kind], k.Name)
	}
	return out
}

func (s Shown) clone() Shown {
	out := Shown{}
	for k, m := range s {
		out[k] = maps.Clone(m)
	}
	return out
}

func (s Shown) count() (n int) {
	for _, m := range s {
		n += len(m)
	}
	return n
}

// A document is what a file holds: the agent's newest run.
type document struct {
	Revision uint64              `json:"revision"`
	Run      string              `json:"run"`
	Agent    credentials.AgentID `json:"agent"`
	Profile  string              `json:"profile"`
	Began    int64               `json:"began"` // milliseconds since the epoch
	Ended    int64               `json:"ended,omitzero"`
	Reason   string              `json:"reason,omitzero"`
	Shown    map[string]Shown    `json:"shown,omitzero"` // by origin

	Sealed  credentials.Digest `json:"sealed,omitzero"`  // the intent that the credential was bound by when the run began, or what narrowed it
	Over    bool               `json:"over,omitzero"`    // that was for an earlier run
	Expired bool               `json:"expired,omitzero"` // it had ended once, whatever the clock says later

	Held     []Held           `json:"held,omitzero"`     // what it holds results of, and held; only ever added to
	Lost     map[string]int64 `json:"lost,omitzero"`     // origins that are away: since when, in milliseconds since the epoch
	Clears   []clearing       `json:"clears,omitzero"`   // by which withdrawn results left the context
	Overflow bool             `json:"overflow,omitzero"` // it held results of more sources than are remembered
}

func (d *document) withShown(origin string, s Shown) (*document, error) {
	n := *d
	n.Shown = maps.Clone(d.Shown)
	if n.Shown == nil {
		n.Shown = map[string]Shown{}
	}
	n.Shown[origin] = s
	total := 0
	for _, x := range n.Shown {
		total += x.count()
	}
	if total > MaxItems || len(n.Shown) > MaxOrigins {
		return nil, ErrLimit
	}
	return &n, nil
}

// A file is a line with the format, a line with the sum of the document, and the
// document.
const (
	format     = "pratique-run/1\n"
	sumContext = "pratique/run/v1\x00"
	runSuffix  = ".run"
	maxFile    = 64 << 20
)

func sumOf(body []byte) string {
	sum := sha256.Sum256(append([]byte(sumContext), body...))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func encode(d *document) ([]byte, error) {
	body, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return append([]byte(format+sumOf(body)+"\n"), body...), nil
}

func (h *holder) decode(data []byte) (*document, error) {
	if data == nil {
		if h.high > 0 {
			return nil, fmt.Errorf("%w: it vanished", ErrDamaged)
		}
		return nil, nil
	}
	rest, ok := bytes.CutPrefix(data, []byte(format))
	sum, body, cut := bytes.Cut(rest, []byte{'\n'})
	if !ok || !cut || string(sum) != sumOf(body) {
		return nil, ErrDamaged
	}
	var d document
	if err := json.Unmarshal(body, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: not a document of this format", ErrDamaged)
	}
	if d.Agent != h.agent || d.Run == "" || d.Revision == 0 || d.Revision < h.high {
		return nil, fmt.Errorf("%w: another agent's, or an older one", ErrDamaged)
	}
	h.high = d.Revision
	return &d, nil
}

// read is the newest document; nil, nil where there is none.
func (h *holder) read() (*document, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.load()
}

// load is read with the holder locked. An unchanged revision keeps the document
// that it had, so that what was handed out stays the same.
func (h *holder) load() (*document, error) {
	if h.tag != nil && h.tag.Fresh() {
		return h.doc, h.err
	}
	data, t, err := h.store.files.Read(h.file, maxFile)
	if err != nil {
		h.tag = nil
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	h.tag = t
	d, err := h.decode(data)
	if err == nil && d != nil && h.doc != nil && d.Revision == h.doc.Revision {
		d = h.doc
	}
	h.doc, h.err = d, err
	return d, err
}

// change writes the document that f makes of the present one; nil: as it was.
func (h *holder) change(ctx context.Context, f func(*document) (*document, error)) (*document, error) {
	unlock, err := h.store.files.Lock(ctx, h.file)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	defer unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tag = nil // under the lock the file decides, not its date
	d, err := h.load()
	if err != nil {
		return nil, err
	}
	next, err := f(d)
	if err != nil || next == nil {
		return d, err
	}
	return h.write(next)
}

// replace writes a document in the place of a damaged one.
func (h *holder) replace(ctx context.Context, f func() (*document, error)) (*document, error) {
	unlock, err := h.store.files.Lock(ctx, h.file)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	defer unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	d, err := f()
	if err != nil {
		return nil, err
	}
	return h.write(d)
}

func (h *holder) write(d *document) (*document, error) {
	d.Revision = h.high + 1
	data, err := encode(d)
	if err != nil {
		return nil, err
	}
	h.tag = nil
	if err := h.store.files.Write(h.file, data); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return h.load()
}
