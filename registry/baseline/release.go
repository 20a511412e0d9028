package baseline

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/quarantine"
)

// MaxCondemned bounds the condemnations of one upstream.
const MaxCondemned = 10_000

// Numbers are the generation and version under which a digest of an item is accepted
// if it is now.
func (b *Baseline) Numbers(k Key, digest credentials.Digest) (gen, ver uint64) {
	old := b.accepted[k]
	switch {
	case old == nil:
		return 1, 1
	case old.Gone:
		return old.Gen + 1, 1
	case old.Digest == digest && !old.Broken:
		return old.Gen, old.Ver
	}
	return old.Gen, old.Ver + 1
}

// held is what a release or a condemnation of a digest is about: what waits under
// the name, or what is accepted.
func (b *Baseline) held(k Key, digest credentials.Digest) (w *Pending, a *Accepted, err error) {
	w, a = b.pending[k], b.Accepted(k)
	if w == nil && a == nil {
		return nil, nil, ErrMissing
	}
	if w != nil && w.Digest != digest {
		w = nil
	}
	if a != nil && a.Digest != digest {
		a = nil
	}
	if w == nil && a == nil {
		return nil, nil, ErrStale
	}
	return w, a, nil
}

// SignRelease signs the release of a digest that is withheld or condemned.
func (s *Store) SignRelease(key *envelope.Signer, b *Baseline, k Key, digest credentials.Digest, loose bool) (string, error) {
	w, _, err := b.held(k, digest)
	if err != nil {
		return "", err
	}
	act := &Act{Op: OpRelease, Kind: k.Kind, Name: k.Name, Digest: digest, Was: (&Draft{Baseline: *b}).was(k), Found: quarantine.Clear.String(), Loose: loose}
	if w != nil {
		act.Found = w.Verdict
	}
	act.Gen, act.Ver = b.Numbers(k, digest)
	return s.sign(key, b, act)
}

// SignCondemn signs the condemnation of a digest that waits or is accepted.
func (s *Store) SignCondemn(key *envelope.Signer, b *Baseline, k Key, digest credentials.Digest, loose bool) (string, error) {
	if _, _, err := b.held(k, digest); err != nil {
		return "", err
	}
	gen, ver := b.Numbers(k, digest)
	return s.SignCondemnVersion(key, b, k, digest, gen, ver, loose)
}

// SignCondemnVersion signs the condemnation of a version that was accepted once:
// what it returned may still be read.
func (s *Store) SignCondemnVersion(key *envelope.Signer, b *Baseline, k Key, digest credentials.Digest, gen, ver uint64, loose bool) (string, error) {
	return s.sign(key, b, &Act{Op: OpCondemn, Kind: k.Kind, Name: k.Name, Digest: digest, Gen: gen, Ver: ver, Loose: loose})
}

// earlier tells whether a version may have been accepted once, before what is now.
func (b *Baseline) earlier(k Key, gen, ver uint64) bool {
	a := b.accepted[k]
	return a != nil && gen > 0 && ver > 0 && (gen < a.Gen || gen == a.Gen && ver < a.Ver)
}

// Release takes an operator's act: exactly this digest is shown from now on, as
// exactly this version, although its verdict is not clear; a condemnation of it
// ends. ErrStale: what waits, what it replaces, its version or its verdict is
// another than the act says; ErrNotHeld: it is neither withheld nor condemned;
// ErrOwn: its signer registered it.
func (d *Draft) Release(token string) (*Accepted, error) { return d.release(token, false) }

// Forgive takes a release of an accepted version of which nothing is withheld for its
// text, but something was observed: the act is checked and spent like any, and what
// was observed is for the caller to forgive.
func (d *Draft) Forgive(token string) (*Accepted, error) { return d.release(token, true) }

func (d *Draft) release(token string, conduct bool) (*Accepted, error) {
	act, key, loose, err := d.openBy(token, OpRelease)
	if err != nil {
		return nil, err
	}
	k := Key{act.Kind, act.Name}
	w, a, err := d.held(k, act.Digest)
	if err != nil {
		return nil, err
	}
	gen, ver := d.Numbers(k, act.Digest)
	found, raw := quarantine.Clear.String(), []byte(nil)
	if w != nil {
		found, raw = w.Verdict, w.Raw
	}
	condemned := d.Condemned(k, act.Digest) != nil
	switch {
	case act.Was != d.was(k) || act.Gen != gen || act.Ver != ver || act.Found != found:
		return nil, ErrStale
	case d.store.opt.Own != nil && d.store.opt.Own(d.origin, k, key):
		return nil, ErrOwn
	case !condemned && found == quarantine.Clear.String() && !(conduct && a != nil):
		return nil, ErrNotHeld
	}
	if w != nil { // what is only condemned was accepted before, and still is
		if a, err = d.put(&Accepted{Key: k, Digest: w.Digest, Raw: raw, By: ByOperator, Act: token, Loose: loose, Released: found}); err != nil {
			return nil, err
		}
	}
	delete(d.condemned, version{k, act.Digest})
	d.spend(act)
	return a, nil
}

// Condemn takes an operator's act: this digest is violated from now on, for every
// agent and process, whatever is accepted; so is a version that was accepted before
// what is now. Condemning again changes nothing. ErrMissing, ErrStale: there is no
// such item, or not of this digest or version.
func (d *Draft) Condemn(token string) (*Condemned, error) {
	act, key, loose, err := d.openBy(token, OpCondemn)
	if err != nil {
		return nil, err
	}
	k := Key{act.Kind, act.Name}
	_, _, err = d.held(k, act.Digest)
	gen, ver := d.Numbers(k, act.Digest)
	switch {
	case err != nil && !d.earlier(k, act.Gen, act.Ver):
		return nil, err
	case err == nil && (act.Gen != gen || act.Ver != ver):
		return nil, ErrStale
	}
	c := d.Condemned(k, act.Digest)
	if c == nil {
		if len(d.condemned) >= MaxCondemned {
			return nil, ErrLimit
		}
		c = &Condemned{Key: k, Digest: act.Digest, Gen: act.Gen, Ver: act.Ver, At: d.now.UnixMilli(), Act: token, By: key, Loose: loose}
		d.condemned[version{k, act.Digest}] = c
	}
	d.spend(act)
	return c, nil
}
