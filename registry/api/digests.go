package api

import (
	"context"
	"slices"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// digestIndex finds tools by the digest of their metadata. It is filled from a
// view at the first look-up and follows the log from then on, when it is asked:
// nothing runs in between. It is a hint: whoever asks holds each tool's row
// against the digest. Past its bound it answers nobody, rather than with some
// of the tools.
type digestIndex struct {
	limit int

	mu    sync.Mutex // owns what follows
	built bool
	size  uint64 // entries of the log that it has seen
	n     int
	one   map[digestKey]credentials.ToolID
	more  map[digestKey][]credentials.ToolID // those after the first
}

// digestKey is half of a digest: enough to find, not to prove.
type digestKey [16]byte

func keyOf(d credentials.Digest) digestKey { return digestKey(d[:16]) }

// rebuildAfter is how many entries may be missed before a walk over the view
// is cheaper than reading them.
const rebuildAfter = 50_000

func (x *digestIndex) find(ctx context.Context, log Log, v *writer.Snapshot, d credentials.Digest) ([]credentials.ToolID, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.follow(ctx, log, v); err != nil {
		return nil, err
	}
	k := keyOf(d)
	first, ok := x.one[k]
	if !ok {
		return nil, nil
	}
	ids := append([]credentials.ToolID{first}, x.more[k]...)
	slices.Sort(ids)
	return ids, nil
}

func (x *digestIndex) follow(ctx context.Context, log Log, v *writer.Snapshot) error {
	if !x.built || v.Head.Size > x.size+rebuildAfter {
		x.one, x.more, x.n = map[digestKey]credentials.ToolID{}, map[digestKey][]credentials.ToolID{}, 0
		for t := range v.Tools("") {
			x.add(t.Digest, t.Row.Tool)
		}
		x.built, x.size = true, v.Head.Size
	}
	for x.size < v.Head.Size {
		entries, err := log.Read(ctx, x.size, int(min(v.Head.Size-x.size, 1000)))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return registry.ErrStaleView
		}
		for _, raw := range entries {
			if err := x.apply(raw); err != nil {
				return err
			}
		}
	}
	if x.n > x.limit {
		return errOverload
	}
	return nil
}

func (x *digestIndex) apply(raw []byte) error {
	e, err := registry.ParseEvent(raw)
	if err != nil {
		return err
	}
	if e.Type == registry.ToolRegistered || e.Type == registry.ToolOverwritten {
		var d registry.ToolData
		if err := e.Decode(&d); err != nil {
			return err
		}
		if !d.Base.IsZero() {
			x.remove(d.Base, d.ID)
		}
		x.add(d.Mdg, d.ID)
	}
	x.size++
	return nil
}

func (x *digestIndex) add(d credentials.Digest, id credentials.ToolID) {
	x.n++
	if x.n > x.limit {
		return
	}
	k := keyOf(d)
	if _, ok := x.one[k]; ok {
		x.more[k] = append(x.more[k], id)
		return
	}
	x.one[k] = id
}

func (x *digestIndex) remove(d credentials.Digest, id credentials.ToolID) {
	k := keyOf(d)
	rest := x.more[k]
	switch i := slices.Index(rest, id); {
	case i >= 0:
		rest = slices.Delete(rest, i, i+1)
	case x.one[k] == id && len(rest) > 0:
		x.one[k], rest = rest[0], rest[1:]
	case x.one[k] == id:
		delete(x.one, k)
	default:
		return
	}
	x.n--
	if len(rest) == 0 {
		delete(x.more, k)
		return
	}
	x.more[k] = rest
}
