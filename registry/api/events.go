package api

import (
	"strconv"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// maxEventBytes bounds the entries of one page.
const maxEventBytes = 1 << 20

func (s *Server) listEvents(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	from, err := number(q, "from", 0)
	if err != nil {
		return nil, err
	}
	limit, err := pageSize(q)
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	list := registry.EventList{Size: v.Head.Size, Events: []registry.EventView{}}
	if from >= v.Head.Size {
		return ok(list)
	}
	entries, err := s.opt.Log.Read(c.ctx, from, int(min(uint64(limit), v.Head.Size-from)))
	if err != nil {
		return nil, err
	}
	size := 0
	for i, raw := range entries {
		if size += len(raw); size > maxEventBytes && i > 0 {
			break
		}
		e, err := eventView(from+uint64(i), raw)
		if err != nil {
			return nil, err
		}
		list.Events = append(list.Events, e)
	}
	if next := from + uint64(len(list.Events)); next < v.Head.Size {
		list.Next = next
	}
	return ok(list)
}

func (s *Server) showEvent(c *call) (*answer, error) {
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	v, err := s.opt.Record.View()
	if err != nil {
		return nil, err
	}
	if index >= v.Head.Size {
		return nil, registry.ErrNotFound
	}
	raw, err := s.entry(c, index)
	if err != nil {
		return nil, err
	}
	e, err := eventView(index, raw)
	if err != nil {
		return nil, err
	}
	return ok(e)
}

// proveEvent proves an entry to be in the log of a published checkpoint: the
// newest, or the one of the size asked for.
func (s *Server) proveEvent(c *call) (*answer, error) {
	index, err := c.index()
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	size, err := number(q, "size", 0)
	if err != nil {
		return nil, err
	}
	note, err := s.opt.Log.LatestNote(c.ctx)
	if size > 0 {
		note, err = s.opt.Log.Note(c.ctx, size)
	}
	if err != nil {
		return nil, err
	}
	if index >= note.Size {
		return nil, registry.ErrNotFound
	}
	raw, err := s.entry(c, index)
	if err != nil {
		return nil, err
	}
	path, err := s.opt.Prover.InclusionProof(c.ctx, index, note.Size)
	if err != nil {
		return nil, err
	}
	p := registry.ProofView{Index: index, Size: note.Size, Leaf: credentials.Digest(ledger.LeafHash(raw)),
		Path: make([]credentials.Digest, len(path)), Checkpoint: string(note.Text)}
	for i, h := range path {
		p.Path[i] = credentials.Digest(h)
	}
	return ok(p)
}

func (c *call) index() (uint64, error) {
	n, err := strconv.ParseUint(c.vars[0], 10, 53)
	if err != nil || strconv.FormatUint(n, 10) != c.vars[0] {
		return 0, errIndex
	}
	return n, nil
}

func (s *Server) entry(c *call, index uint64) ([]byte, error) {
	entries, err := s.opt.Log.Read(c.ctx, index, 1)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 {
		return nil, registry.ErrNotFound
	}
	return entries[0], nil
}

func (s *Server) event(c *call, index uint64) (registry.Event, error) {
	raw, err := s.entry(c, index)
	if err != nil {
		return registry.Event{}, err
	}
	return registry.ParseEvent(raw)
}

func eventView(index uint64, raw []byte) (registry.EventView, error) {
	e, err := registry.ParseEvent(raw)
	if err != nil {
		return registry.EventView{}, err
	}
	return registry.EventView{Index: index, Leaf: credentials.Digest(ledger.LeafHash(raw)), Entry: raw, Event: e}, nil
}
