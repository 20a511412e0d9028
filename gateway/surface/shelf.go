package surface

import (
	"context"
	"crypto/sha256"
	"slices"
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
	partial  bool
	by       map[gate.Key][]quarantine.Finding // joined: what it lowered, and why
}

// A Shelf keeps verdicts for all keepers of a process. It holds two generations
// of at most half its size each, so that what is in use stays.
type Shelf struct {
	mu       sync.Mutex // owns the maps
	half     int
	cost     int // of new, in verdicts and findings: those who write items choose how many
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
	n := 1 + len(j.findings)
	for _, of := range j.by {
		n += len(of)
	}
	if n > s.half && n > 1 {
		return
	}
	if s.cost+n > s.half {
		s.old, s.new, s.cost = s.new, map[verdictKey]judgement{}, 0
	}
	if _, ok := s.new[k]; !ok {
		s.cost += n
	}
	s.new[k] = j
}

// keep stores what is sure: a late or failed inspection is asked for again.
func (s *Shelf) keep(k verdictKey, j judgement, engine string) {
	if j.verdict == quarantine.Missing || j.partial || engine != k.engine {
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
	out.Verdict, out.Findings, out.Partial = r.Verdict, r.Findings, r.Partial
	k.opt.Shelf.keep(key, judgement{verdict: r.Verdict, findings: r.Findings, partial: r.Partial}, r.Engine)
	return out
}

// judgeJoined has everything that would be shown inspected together, since what
// is harmless in each of two descriptions may not be in both: what is clear, and
// what an operator released. It gives the items that findings are about the worse
// verdict; what cannot be told to be of one item is held against all.
func (k *Keeper) judgeJoined(ctx context.Context, items []gate.Judged, b *gate.Baseline) []gate.Judged {
	shown := func(it *gate.Judged) bool {
		return it.Fault == gate.NoFault && (it.Verdict == quarantine.Clear || b.Released(&it.Item) != gate.NotReleased)
	}
	sum := sha256.New()
	sum.Write([]byte("pratique/joined/v2\x00"))
	for i := range items {
		if shown(&items[i]) {
			sum.Write(items[i].Digest[:])
		}
	}
	key := verdictKey{kind: "joined", engine: k.opt.Inspector.Engine()}
	sum.Sum(key.digest[:0])
	j, ok := k.opt.Shelf.get(key)
	if !ok {
		j = k.joinedVerdict(ctx, key, items, shown)
	}
	if j.verdict == quarantine.Clear {
		return items
	}
	out := append([]gate.Judged(nil), items...)
	for i := range out {
		if j.by == nil {
			out[i].Verdict, out[i].Partial = quarantine.Worse(out[i].Verdict, j.verdict), out[i].Partial || j.partial
			continue
		}
		for _, f := range j.by[out[i].Key] {
			out[i].Verdict, out[i].Partial = quarantine.Worse(out[i].Verdict, f.Verdict), out[i].Partial || j.partial
			out[i].Findings = append(slices.Clip(out[i].Findings), f)
		}
	}
	return out
}

// maxJoined bounds the paths and texts, in bytes, that are judged together.
const maxJoined = 64 << 20

// A part is an item's stretch of the specimens of a whole surface.
type part struct {
	key    gate.Key
	from   int // of its specimens
	prefix int // bytes of what stands before its paths
}

func (k *Keeper) joinedVerdict(ctx context.Context, key verdictKey, items []gate.Judged, shown func(*gate.Judged) bool) judgement {
	var set []quarantine.Specimen
	var parts []part // of each specimen
	room := maxJoined
	for i := range items {
		it := &items[i]
		if !shown(it) {
			continue
		}
		of, err := k.opt.Specimens(it.Item)
		if err != nil {
			continue // withheld by judge
		}
		before := string(it.Kind) + "[" + quarantine.ShortPath(it.Name) + "]." // a name may be as long as a list, and stands before each of its texts
		p := part{it.Key, len(set), len(before)}
		for _, s := range of {
			if room -= len(before) + len(s.Path) + len(s.Text); room < 0 {
				return judgement{verdict: quarantine.Suspect, partial: true}
			}
			s.Path = before + s.Path
			set, parts = append(set, s), append(parts, p)
		}
	}
	if len(set) == 0 {
		return judgement{verdict: quarantine.Clear}
	}
	r := k.opt.Inspector.Inspect(ctx, quarantine.Batch{Origin: k.opt.Base.Origin, Specimens: set})
	if ctx.Err() != nil {
		return judgement{}
	}
	j := judgement{verdict: r.Verdict, findings: r.Findings, partial: r.Partial}
	if r.Verdict != quarantine.Clear {
		j.by = attribute(r, set, parts)
	}
	k.opt.Shelf.keep(key, j, r.Engine)
	return j
}

// attribute says which items the findings are about, as if each had been found in
// its item alone; nil if one is about none that is known, or if the verdict is
// worse than any of them.
func attribute(r quarantine.Report, set []quarantine.Specimen, parts []part) map[gate.Key][]quarantine.Finding {
	by := map[gate.Key][]quarantine.Finding{}
	worst := quarantine.Clear
	for _, f := range r.Findings {
		if f.At < 0 || f.At >= len(set) || set[f.At].Path != f.Path {
			f.At = slices.IndexFunc(set, func(s quarantine.Specimen) bool { return s.Path == f.Path })
		}
		if f.At < 0 {
			return nil
		}
		p := parts[f.At]
		f.At, f.Path = f.At-p.from, f.Path[p.prefix:]
		by[p.key] = append(by[p.key], f)
		worst = quarantine.Worse(worst, f.Verdict)
	}
	if worst != r.Verdict {
		return nil
	}
	return by
}
