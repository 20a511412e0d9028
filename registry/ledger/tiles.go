package ledger

import (
	"container/list"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
)

// TilesOptions bound the memory of Tiles. The zero value takes the defaults.
type TilesOptions struct {
	// LeafTiles is how many tiles of leaf hashes are kept, 16 KiB each;
	// 0 means 1,024 (16 MiB: the newest and busiest 262,144 entries).
	LeafTiles int
	// UpperTiles is how many tiles above are kept; 0 means 1,024. One stands
	// for 65,536 entries, so that this covers 67 million without reading any
	// entry twice.
	UpperTiles int
}

// Tiles gives the hash tiles and entry bundles of c2sp.org/tlog-tiles, and
// proofs, straight from the log table. What a log holds never changes, so
// tiles are computed once and kept, within bounds; a tile at the right edge
// grows in place. Nothing is persisted: after a start the first proof reads
// all leaf hashes once, or Warm does. Safe for concurrent use.
//
// Tiles never knows how long the log is: callers ask within a size for which a
// checkpoint is published.
type Tiles struct {
	src   Reader
	mu    sync.Mutex // guards both lists and the index
	lists [2]lru     // leaf tiles, tiles above
	index map[tileID]*list.Element
}

type tileID struct {
	level int
	n     uint64
}

type lru struct {
	order *list.List // of *tile, the most recently used in front
	max   int
}

// tile is a growing prefix of a tile's hashes. Its lock is a channel so that
// a waiter can give up; locks are taken from upper level to lower only.
type tile struct {
	id     tileID
	lock   chan struct{}
	hashes []Hash // guarded by lock; only ever appended to
	// inner[j] for j = 1..255 is the node above inner[2j] and inner[2j+1],
	// where 256+i stands for hashes[i]. A node is set once, when all below it
	// is there, so whoever was given those hashes may read it without the lock.
	inner *[TileWidth]Hash
}

// NewTiles reads from src, through its LeafReader if it has one.
func NewTiles(src Reader, opt *TilesOptions) *Tiles {
	var o TilesOptions
	if opt != nil {
		o = *opt
	}
	if o.LeafTiles <= 0 {
		o.LeafTiles = 1024
	}
	if o.UpperTiles <= 0 {
		o.UpperTiles = 1024
	}
	return &Tiles{
		src:   src,
		lists: [2]lru{{list.New(), o.LeafTiles}, {list.New(), o.UpperTiles}},
		index: make(map[tileID]*list.Element),
	}
}

// Tile returns the bytes of a hash tile of the given width, 32 per hash.
func (t *Tiles) Tile(ctx context.Context, level int, index uint64, width int) ([]byte, error) {
	if level < 0 || level > 7 || index > maxTileIndex || width < 1 || width > TileWidth {
		return nil, ErrPath
	}
	hashes, _, err := t.load(ctx, tileID{level, index}, width)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, width*len(Hash{}))
	for _, h := range hashes[:width] {
		out = append(out, h[:]...)
	}
	return out, nil
}

// Bundle returns the bytes of an entry bundle: width entries, each behind its
// length as 16-bit big-endian number.
func (t *Tiles) Bundle(ctx context.Context, index uint64, width int) ([]byte, error) {
	if index > maxTileIndex || width < 1 || width > TileWidth {
		return nil, ErrPath
	}
	entries, err := readEntries(ctx, t.src, index*TileWidth, width)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, e := range entries {
		n += 2 + len(e)
	}
	out := make([]byte, 0, n)
	for i, e := range entries {
		if len(e) > MaxEntry {
			return nil, fmt.Errorf("%w: entry %d", ErrEntrySize, index*TileWidth+uint64(i))
		}
		out = binary.BigEndian.AppendUint16(out, uint16(len(e)))
		out = append(out, e...)
	}
	return out, nil
}

// Warm computes what proofs in a log of that size need, so that the first
// caller does not wait for it: it reads every leaf hash once.
func (t *Tiles) Warm(ctx context.Context, size uint64) error {
	_, err := t.Root(ctx, size)
	return err
}

// load returns at least width hashes of a tile and the inner nodes that are
// complete with them. What it returns is not to be changed.
func (t *Tiles) load(ctx context.Context, id tileID, width int) ([]Hash, *[TileWidth]Hash, error) {
	c := t.get(id)
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if have := len(c.hashes); have < width {
		more, err := t.compute(ctx, id, have, width)
		if err != nil {
			return nil, nil, err
		}
		for _, h := range more {
			c.push(h)
		}
	}
	return c.hashes, c.inner, nil
}

// compute gives the hashes [have, want) of a tile from the level below.
func (t *Tiles) compute(ctx context.Context, id tileID, have, want int) ([]Hash, error) {
	first := id.n*TileWidth + uint64(have)
	if id.level == 0 {
		return readLeaves(ctx, t.src, first, want-have)
	}
	out := make([]Hash, 0, want-have)
	for i := range uint64(want - have) {
		_, inner, err := t.load(ctx, tileID{id.level - 1, first + i}, TileWidth)
		if err != nil {
			return nil, err
		}
		out = append(out, inner[1])
	}
	return out, nil
}

// push appends a hash and completes the nodes above it.
func (c *tile) push(h Hash) {
	c.hashes = append(c.hashes, h)
	for j := TileWidth + len(c.hashes) - 1; j > 1 && j%2 == 1; j /= 2 {
		c.inner[j/2] = nodeHash(c.node(j-1), c.node(j))
	}
}

// node is the node j of a tile as inner counts them.
func (c *tile) node(j int) *Hash {
	if j >= TileWidth {
		return &c.hashes[j-TileWidth]
	}
	return &c.inner[j]
}

// get returns the kept tile, or a new one in place of the least recently used.
// A tile that is dropped while somebody fills it is merely filled for nobody.
func (t *Tiles) get(id tileID) *tile {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.lists[min(id.level, 1)]
	if e, ok := t.index[id]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*tile)
	}
	if l.order.Len() >= l.max {
		old := l.order.Remove(l.order.Back()).(*tile)
		delete(t.index, old.id)
	}
	c := &tile{id: id, lock: make(chan struct{}, 1), inner: new([TileWidth]Hash)}
	t.index[id] = l.order.PushFront(c)
	return c
}
