package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

// OfflineOptions say what VerifyOffline compares. Nil and the zero value take
// the key set's own root for the trusted one, which Report.Pinned shows.
type OfflineOptions struct {
	Roots  []credentials.KeyID // pinned root keys; none: whatever root the document names
	Issuer string              // "": the document's
	// MaxStale is how old the key set may be for a label above Red; 0 means
	// DefaultMaxStale. A file kept for later needs more.
	MaxStale time.Duration
	Lowered  []byte // list of lowered labels, as /v1/labels/lowered serves it; nil: not checked

	// What the label must be of, beside the metadata. Empty: not compared.
	Tool   credentials.ToolID
	Origin string

	Now func() time.Time // default time.Now
}

// A Report is what an offline verification found. It is made only for a label
// that is good.
type Report struct {
	Verified labels.Verified
	Issuer   string
	Root     credentials.KeyID // that the key list was verified by
	Pinned   bool              // Root is, or follows from, one that was pinned
	Version  uint64            // of the key list
	Kid      credentials.KeyID // that signed the label
	Age      time.Duration     // of the key set's statement of freshness
	MaxStale time.Duration     // that Age was held against
	// LoweredChecked says that the label is not among those lowered since. It is
	// false where the list was not given and is not known to be empty.
	LoweredChecked bool
}

// VerifyOffline verifies a label against the metadata that it should be of, by a
// key-set document, with no network at all. label is the text of a label file,
// metadata the tool object, document the body of /.well-known/jwks.json.
//
// Without a network nobody can say what happened since: Age says how long ago
// that is, and a key set older than MaxStale verifies no label above Red
// (keyset.ErrStale, whose *keyset.StaleError has the age).
func VerifyOffline(label string, metadata, document []byte, opt *OfflineOptions) (Report, error) {
	var o OfflineOptions
	if opt != nil {
		o = *opt
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxStale <= 0 {
		o.MaxStale = DefaultMaxStale
	}
	now := o.Now()
	tok, err := envelope.ParseToken(label)
	if err != nil {
		return Report{}, fmt.Errorf("label: %w", err)
	}
	view, pinned, err := o.open(document, now)
	if err != nil {
		return Report{}, fmt.Errorf("key set: %w", err)
	}
	r := Report{Issuer: view.Pins().Iss, Root: view.Pins().Root, Pinned: pinned, Version: view.Pins().Ver,
		Age: view.Age(now), MaxStale: o.MaxStale}
	shown, checked, err := o.shown(view, metadata)
	if err != nil {
		return Report{}, err
	}
	r.LoweredChecked = checked
	v, err := view.Verifier(now)
	if err != nil {
		return Report{}, err
	}
	if r.Verified, err = labels.Verify(v, tok, shown, now); err != nil {
		return Report{}, fmt.Errorf("label: %w", err)
	}
	if u, err := envelope.Precheck(tok, envelope.Label); err == nil {
		r.Kid = u.KeyID
	}
	return r, nil
}

// open opens the document by a pinned root, else by its own.
func (o *OfflineOptions) open(doc []byte, now time.Time) (v *keyset.View, pinned bool, err error) {
	roots := o.Roots
	if len(roots) == 0 {
		first, err := keyset.FirstUse(doc)
		if err != nil {
			return nil, false, err
		}
		roots = []credentials.KeyID{first.Root}
	}
	var errs []error
	for _, r := range roots {
		v, err := keyset.Open(doc, keyset.Pins{Iss: o.Issuer, Root: r}, now, o.MaxStale)
		if err == nil {
			return v, len(o.Roots) > 0, nil
		}
		errs = append(errs, err)
	}
	return nil, false, errors.Join(errs...)
}

// shown is what the label is held against; checked says that the list of
// lowered labels is part of it.
func (o *OfflineOptions) shown(view *keyset.View, metadata []byte) (w labels.Shown, checked bool, err error) {
	f := view.Freshness()
	w = labels.Shown{
		Issuer: view.Pins().Iss, Metadata: metadata, Tool: o.Tool, AnyTool: o.Tool == "", AnyOrigin: o.Origin == "",
		Fresh: labels.Freshness{At: time.Unix(f.Iat, 0).Add(credentials.Backdate), MaxStale: o.MaxStale},
	}
	if o.Origin != "" {
		if w.Origin, err = origin.Parse(o.Origin); err != nil {
			return w, false, err
		}
	}
	switch {
	case o.Lowered != nil:
		if w.Fresh.Lowered, err = labels.ParseLowered(o.Lowered); err != nil {
			return w, false, err
		}
		w.Fresh.Digest = f.Lowered
		return w, !f.Lowered.IsZero(), nil
	case f.Lowered == (labels.Lowered{}).Digest():
		return w, true, nil
	}
	return w, false, nil
}
