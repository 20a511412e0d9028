package surface

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A verdictKey is what a verdict holds for (RULES.md 35): the digest already
// tells kinds apart, and the engine names configuration and stages.
type verdictKey struct {
	digest credentials.Digest
	kind   gate.Kind // "joined": of a whole surface
	engine string
}

type judgement struct {
	verdict  quarantine.Verdict
	findings []quarantine.Finding
	by       map[gate.Key]quarantine.Verdict // joined: what it lowered
}

// A Shelf keeps verdicts for all keepers of a process. It holds two generations
// of at most half its size each, so that what is in use stays.
type Shelf struct {
	mu       sync.Mutex // owns the maps
	half     int
	new, old map[verdictKey]judgement
}

// NewShelf makes a shelf for so many verdicts; 0: 65,536.
func NewShelf(size int) *Shelf {
	orInt(&size, 65_536)
	return &Shelf{half: max(1, size/2), new: map[verdictKey]judgement{}}
}

func (s *Shelf) get(k verdictKey) (judgement, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j, ok := s.new[k]; ok {
		return j, true
	}
	j, ok := s.old[k]
	if ok {
		s.put(k, j)
	}
	return j, ok
}

func (s *Shelf) put(k verdictKey, j judgement) {
	if len(s.new) >= s.half {
		s.old, s.new = s.new, map[verdictKey]judgement{}
	}
	s.new[k] = j
}

// keep stores what is sure: a late or failed inspection is asked for again.
func (s *Shelf) keep(k verdictKey, j judgement, engine string) {
	if j.verdict == quarantine.Missing || engine != k.engine {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k, j)
}

// judge gives an item its verdict, from the shelf or by inspection.
func (k *Keeper) judge(ctx context.Context, it gate.Item) gate.Judged {
	out := gate.Judged{Item: it}
	if it.Fault == gate.FaultJSON {
		return out
	}
	key := verdictKey{it.Digest, it.Kind, k.opt.Inspector.Engine()}
	if j, ok := k.opt.Shelf.get(key); ok {
		out.Verdict, out.Findings = j.verdict, j.findings
		return out
	}
	set, err := k.opt.Specimens(it)
	if err != nil {
		if out.Fault == gate.NoFault {
			out.Fault = gate.FaultText
		}
		return out
	}
	r := k.opt.Inspector.Inspect(ctx, quarantine.Batch{Origin: k.opt.Base.Origin, Specimens: set})
	if ctx.Err() != nil {
		return out
	}
	out.Verdict, out.Findings = r.Verdict, r.Findings
	k.opt.Shelf.keep(key, judgement{verdict: r.Verdict, findings: r.Findings}, r.Engine)
	return out
}

// judgeJoined has everything that would be shown inspected together, since what
// is harmless in each of two descriptions may not be in both. It gives the items
// that findings are about the worse verdict; what cannot be told to be of one
// item is held against all.
func (k *Keeper) judgeJoined(ctx context.Context, items []gate.Judged) []gate.Judged {
	sum := sha256.New()
	sum.Write([]byte("pratique/joined/v1\x00"))
	for i := range items {
		sum.Write(items[i].Digest[:])
	}
	key := verdictKey{kind: "joined", engine: k.opt.Inspector.Engine()}
	sum.Sum(key.digest[:0])
	j, ok := k.opt.Shelf.get(key)
	if !ok {
		j = k.joined(ctx, key, items)
	}
	if j.verdict == quarantine.Clear {
		return items
	}
	out := append([]gate.Judged(nil), items...)
	for i := range out {
		v := j.verdict
		if j.by != nil {
			named := false
			if v, named = j.by[out[i].Key]; !named {
				continue
			}
		}
		out[i].Verdict = quarantine.Worse(out[i].Verdict, v)
	}
	return out
}

func (k *Keeper) joined(ctx context.Context, key verdictKey, items []gate.Judged) judgement {
	var set []quarantine.Specimen
	owner := map[string]gate.Key{}
	for i := range items {
		it := &items[i]
		if it.Fault != gate.NoFault || it.Verdict != quarantine.Clear {
			continue
		}
		part, err := k.opt.Specimens(it.Item)
		if err != nil {
			continue // withheld by judge
		}
		for _, s := range part {
			s.Path = string(it.Kind) + "[" + it.Name + "]." + s.Path
			owner[s.Path] = it.Key
			set = append(set, s)
		}
	}
	if len(set) == 0 {
		return judgement{verdict: quarantine.Clear}
	}
	r := k.opt.Inspector.Inspect(ctx, quarantine.Batch{Origin: k.opt.Base.Origin, Specimens: set})
	if ctx.Err() != nil {
		return judgement{}
	}
	j := judgement{verdict: r.Verdict, findings: r.Findings}
	if r.Verdict != quarantine.Clear {
		j.by = attribute(r, owner)
	}
	k.opt.Shelf.keep(key, j, r.Engine)
	return j
}

// attribute says which items the findings are about, nil if one is about none
// that is known, or if the verdict is worse than any of them.
func attribute(r quarantine.Report, owner map[string]gate.Key) map[gate.Key]quarantine.Verdict {
	by := map[gate.Key]quarantine.Verdict{}
	worst := quarantine.Clear
	for _, f := range r.Findings {
		k, ok := owner[f.Path]
		if !ok {
			k, ok = longest(f.Path, owner)
		}
		if !ok {
			return nil
		}
		if old, ok := by[k]; ok {
			by[k] = quarantine.Worse(old, f.Verdict)
		} else {
			by[k] = f.Verdict
		}
		worst = quarantine.Worse(worst, f.Verdict)
	}
	if worst != r.Verdict {
		return nil
	}
	return by
}

func longest(path string, owner map[string]gate.Key) (best gate.Key, ok bool) {
	n := 0
	for p, k := range owner {
		if len(p) > n && strings.HasPrefix(path, p) {
			best, n, ok = k, len(p), true
		}
	}
	return best, ok
}
