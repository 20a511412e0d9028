package warden

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/pratique-dev/pratique/quarantine"
)

// A cacheKey is what a verdict holds for (RULES.md 35): the texts with kinds and
// whole paths, the depth, the stages with the model that may be asked, which says
// of the origin what matters of it. What is judged together is kept together.
type cacheKey [sha256.Size]byte

func keyOf(name string, b *quarantine.Batch) cacheKey {
	buf := scratch.Get().(*[]byte)
	p := append((*buf)[:0], "pratique/verdict/v1\x00"...)
	p = append(part(p, name), byte(b.Depth))
	for i := range b.Specimens {
		s := &b.Specimens[i]
		form := byte(s.Form) << 2
		if s.Inner {
			form |= 1
		}
		if s.Name {
			form |= 2
		}
		p = part(part(append(part(p, string(s.Kind)), form), s.Path), s.Text)
	}
	k := cacheKey(sha256.Sum256(p))
	if *buf = p; cap(p) <= keptBuffer {
		scratch.Put(buf)
	}
	return k
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

func part(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// A kept is a verdict without what the batch itself says: who writes texts does
// not choose what is kept of them. The key has the paths in it, so that they are
// the same in each batch that finds it.
type kept struct {
	verdict quarantine.Verdict
	found   []keptFinding
}

type keptFinding struct {
	category quarantine.Category // one of our own words: see check
	verdict  quarantine.Verdict
	whole    bool // about the whole batch
	at       int
	span     quarantine.Span
}

// Bounds of what is kept, in bytes.
const (
	maxKept    = 16 << 20
	keptReport = 64 << 10
	sizeFound  = 48                      // of a keptFinding
	sizeKept   = 2 * (sha256.Size + 4*8) // of a key and a kept, in a map that is half empty
)

func (k *kept) size() int { return sizeKept + len(k.found)*sizeFound }

// A cache keeps whole verdicts; late, failed and partial ones never come here. It
// holds two generations of at most half its size each, so that what is in use
// stays.
type cache struct {
	mu       sync.Mutex // owns what follows
	half     int        // verdicts; 0: nothing is kept
	bytes    int        // of new
	new, old map[cacheKey]kept
}

func newCache(size int) *cache {
	switch {
	case size == 0:
		size = 4096
	case size < 0:
		return &cache{}
	}
	return &cache{half: max(1, size/2), new: map[cacheKey]kept{}}
}

// get gives the report on a batch of this key.
func (c *cache) get(k cacheKey, b *quarantine.Batch) (r quarantine.Report, ok bool) {
	c.mu.Lock()
	x, ok := c.new[k]
	if !ok {
		if x, ok = c.old[k]; ok {
			c.keep(k, x)
		}
	}
	c.mu.Unlock()
	r.Verdict = x.verdict
	if len(x.found) > 0 {
		r.Findings = make([]quarantine.Finding, len(x.found))
	}
	for i := range x.found {
		f := &x.found[i]
		r.Findings[i] = quarantine.Finding{Category: f.category, Verdict: f.verdict, At: f.at, Span: f.span}
		if !f.whole {
			r.Findings[i].Path = b.Specimens[f.at].Path
		}
	}
	return r, ok
}

func (c *cache) put(k cacheKey, r *quarantine.Report) {
	if c.half == 0 {
		return
	}
	x := kept{verdict: r.Verdict}
	if len(r.Findings) > 0 {
		x.found = make([]keptFinding, len(r.Findings))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		x.found[i] = keptFinding{f.Category, f.Verdict, f.Path == "", f.At, f.Span}
	}
	if x.size() > keptReport {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(k, x)
}

func (c *cache) keep(k cacheKey, x kept) {
	if _, ok := c.new[k]; ok {
		return
	}
	if len(c.new) >= c.half || c.bytes+x.size() > maxKept/2 {
		c.old, c.new, c.bytes = c.new, map[cacheKey]kept{}, 0
	}
	c.new[k] = x
	c.bytes += x.size()
}
