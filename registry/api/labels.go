package api

import (
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// maxSameDigest is how many tools one look-up by digest answers with, oldest
// first.
const maxSameDigest = 100

func (s *Server) showLabel(c *call) (*answer, error) {
	id, err := credentials.ParseToolID(c.vars[0])
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err // a stale view vouches for nothing: no label at all
	}
	t, err := v.Tool(id)
	if err != nil {
		return nil, err
	}
	l, err := s.label(t, c.now)
	if err != nil {
		return nil, err
	}
	return ok(l)
}

func (s *Server) findLabels(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	d, err := credentials.ParseDigest(q.Get("digest"))
	if err != nil {
		return nil, at("digest", err)
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	ids, err := s.digests.find(c.ctx, s.opt.Log, v, d)
	if err != nil {
		return nil, err
	}
	list := registry.LabelList{Labels: []registry.LabelView{}}
	for _, id := range ids {
		t, err := v.Tool(id)
		if err != nil || t.Digest != d {
			continue // the index may be ahead of this view, never wrong about it
		}
		l, err := s.label(t, c.now)
		if err != nil {
			return nil, err
		}
		if list.Labels = append(list.Labels, l); len(list.Labels) == maxSameDigest {
			break
		}
	}
	return ok(list)
}

// listLowered serves the lists that statements of freshness name, and without
// a digest the present one.
func (s *Server) listLowered(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	var list labels.Lowered
	if text := q.Get("digest"); text != "" {
		d, err := credentials.ParseDigest(text)
		if err != nil {
			return nil, at("digest", err)
		}
		if list, err = s.opt.Keys.Lowered(d); err != nil {
			return nil, err
		}
	} else {
		v, err := s.opt.Record.View()
		if err != nil {
			return nil, err
		}
		list = v.Lowered(c.now.Truncate(time.Minute)) // as statements of freshness name it
	}
	return c.cached(list.JSON(), "application/json", "no-cache"), nil
}

// tierOf is what a label says: the cell of the table, or Red for what is gone
// or withheld.
func tierOf(t *registry.Tool, now time.Time) labels.Tier {
	if t.Withheld {
		return labels.Red
	}
	return t.Tier(now)
}

// label is the signed statement about a tool as this view has it. It is signed
// at first read and kept until the tool's row moves, a key changes or half its
// life is over.
func (s *Server) label(t *registry.Tool, now time.Time) (registry.LabelView, error) {
	k := labelKey{seq: t.Seq, index: t.Index, epoch: s.opt.Signer.Epoch(), tier: tierOf(t, now), standing: t.StandingAt(now), content: t.ContentAt(now)}
	if l, ok := s.signed.get(t.Row.Tool, k, now); ok {
		return l, nil
	}
	st, err := s.statement(t, k, now)
	if err != nil {
		return registry.LabelView{}, err
	}
	tok, err := s.opt.Signer.SignToken(envelope.Label, st)
	if err != nil {
		return registry.LabelView{}, err
	}
	l := registry.LabelView{
		Tool: st.Sub, Label: tok, Tier: st.Tier.String(), Standing: st.Standing.String(), Content: st.Content.String(),
		Origin: t.Origin, Name: t.Name, Owner: t.Owner.Principal(), Generation: st.Gen, Version: st.Ver, Digest: st.Mdg,
		Seq: st.Seq, Expires: seconds(st.Exp),
	}
	life := time.Unix(st.Exp, 0).Sub(now)
	s.signed.put(t.Row.Tool, cachedLabel{key: k, until: now.Add(life / 2), view: l})
	return l, nil
}

// statement is never good for longer than what it rests on: what a topology
// attested ends with the topology, and what is consistent when it was not seen for
// long.
func (s *Server) statement(t *registry.Tool, k labelKey, now time.Time) (*labels.Statement, error) {
	org, err := origin.Parse(t.Origin)
	if err != nil {
		return nil, err
	}
	life := s.opt.LabelLife
	if k.standing == labels.Attested && t.Attested != 0 {
		life = min(life, time.Unix(t.Attested, 0).Sub(now))
	}
	if k.content == labels.Consistent {
		life = min(life, time.Unix(t.Until, 0).Sub(now))
	}
	st := &labels.Statement{
		Registered: credentials.NewRegistered(s.opt.ExternalURL, s.newToken(), now, life),
		Sub:        t.Row.Tool, Mdg: t.Digest, Gen: t.Gen, Ver: t.Ver, Own: t.Owner, Org: org, Name: t.Name, Prv: t.Level,
		Tier: k.tier, Standing: k.standing, Content: k.content, Seq: t.Seq,
	}
	if err := st.Check(); err != nil {
		return nil, err
	}
	return st, st.CheckTime(now, labels.MaxLabelLife)
}

func seconds(s int64) time.Time { return time.Unix(s, 0).UTC() }

// labelKey is all that a signed label depends on beside the tool's id. Index
// rises with every event of the tool, seq with every one that moves its label.
type labelKey struct {
	seq, index, epoch uint64
	tier              labels.Tier
	standing          labels.Standing
	content           labels.Content
}

type cachedLabel struct {
	key   labelKey
	until time.Time
	view  registry.LabelView
}

const labelShards = 16

// labelCache keeps signed labels, bounded: the oldest goes first.
type labelCache struct{ shard [labelShards]labelShard }

type labelShard struct {
	mu   sync.Mutex // owns what follows
	m    map[credentials.ToolID]cachedLabel
	ring []credentials.ToolID
	next int
}

func newLabelCache(size int) *labelCache {
	c := &labelCache{}
	for i := range c.shard {
		c.shard[i].m = map[credentials.ToolID]cachedLabel{}
		c.shard[i].ring = make([]credentials.ToolID, 0, max(1, size/labelShards))
	}
	return c
}

func (c *labelCache) of(id credentials.ToolID) *labelShard {
	return &c.shard[id[len(id)-1]%labelShards]
}

func (c *labelCache) get(id credentials.ToolID, k labelKey, now time.Time) (registry.LabelView, bool) {
	s := c.of(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.m[id]
	if !ok || x.key != k || !now.Before(x.until) {
		return registry.LabelView{}, false
	}
	return x.view, true
}

func (c *labelCache) put(id credentials.ToolID, x cachedLabel) {
	s := c.of(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.m[id]; !ok {
		if len(s.ring) < cap(s.ring) {
			s.ring = append(s.ring, id)
		} else {
			delete(s.m, s.ring[s.next])
			s.ring[s.next] = id
			s.next = (s.next + 1) % len(s.ring)
		}
	}
	s.m[id] = x
}
