package warden

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
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

// A cache keeps whole verdicts; late, failed and partial ones never come here. It
// holds two generations of at most half its size each, so that what is in use
// stays.
type cache struct {
	mu       sync.Mutex // owns the maps
	half     int        // 0: nothing is kept
	new, old map[cacheKey]quarantine.Report
}

func newCache(size int) *cache {
	switch {
	case size == 0:
		size = 4096
	case size < 0:
		return &cache{}
	}
	return &cache{half: max(1, size/2), new: map[cacheKey]quarantine.Report{}}
}

// get gives a report whose findings nobody shares.
func (c *cache) get(k cacheKey) (quarantine.Report, bool) {
	c.mu.Lock()
	r, ok := c.new[k]
	if !ok {
		if r, ok = c.old[k]; ok {
			c.keep(k, r)
		}
	}
	c.mu.Unlock()
	r.Findings = slices.Clone(r.Findings)
	return r, ok
}

func (c *cache) put(k cacheKey, r quarantine.Report) {
	r.Findings = slices.Clone(r.Findings)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(k, r)
}

func (c *cache) keep(k cacheKey, r quarantine.Report) {
	if c.half == 0 {
		return
	}
	if len(c.new) >= c.half {
		c.old, c.new = c.new, map[cacheKey]quarantine.Report{}
	}
	c.new[k] = r
}
