package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// ClientOptions change a Client; nil and the zero value are the defaults.
type ClientOptions struct {
	// HTTP is used without its redirects and cookies; nil means a client of
	// our own with a timeout of 30 s per request.
	HTTP *http.Client
	// Tiles is how many verified tiles are kept, 8 KiB each; 0 means 256.
	Tiles int
}

// Client reads a served log (c2sp.org/tlog-tiles) and believes nothing that a
// checkpoint opened under its policy does not cover. Safe for concurrent use.
type Client struct {
	base   string
	hc     *http.Client
	policy Policy
	max    int

	mu   sync.Mutex
	kept map[tlog.Tile][]byte // verified tiles
}

// NewClient reads the log under base, for example
// "https://registry.example/ledger".
func NewClient(base string, policy Policy, opt *ClientOptions) (*Client, error) {
	b, err := baseURL(base)
	if err != nil {
		return nil, err
	}
	c := &Client{base: b, policy: policy, max: 256, kept: make(map[tlog.Tile][]byte)}
	var hc *http.Client
	if opt != nil {
		hc = opt.HTTP
		if opt.Tiles > 0 {
			c.max = opt.Tiles
		}
	}
	c.hc = strict(hc)
	return c, nil
}

// Checkpoint fetches the newest checkpoint and opens it under the policy. That
// it is consistent with earlier ones is a Follower's business.
func (c *Client) Checkpoint(ctx context.Context) (Checkpoint, error) {
	raw, err := get(ctx, c.hc, c.base+"/checkpoint", MaxNote)
	if errors.Is(err, ErrNotServed) {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrNoCheckpoint, err)
	} else if err != nil {
		return Checkpoint{}, err
	}
	return c.policy.Open(raw)
}

// Consistency verifies from tiles that old is a prefix of cp. ErrFork says
// that it is not; ErrRollback that cp is the smaller one.
func (c *Client) Consistency(ctx context.Context, old, cp Checkpoint) error {
	switch {
	case old.Origin != cp.Origin:
		return fmt.Errorf("%w: two origins", ErrFork)
	case cp.Size < old.Size:
		return fmt.Errorf("%w: from %d to %d", ErrRollback, old.Size, cp.Size)
	}
	var p []Hash
	if old.Size > 0 && old.Size < cp.Size {
		q, err := tlog.ProveTree(int64(cp.Size), int64(old.Size), c.at(ctx, cp))
		if err != nil {
			return proofError(err)
		}
		p = plain(q)
	}
	if err := VerifyConsistency(old.Head, cp.Head, p); err != nil {
		return fmt.Errorf("%w: %w", ErrFork, err)
	}
	return nil
}

// InclusionProof fetches the proof that the entry at index is in cp; its
// hashes are verified against cp.
func (c *Client) InclusionProof(ctx context.Context, index uint64, cp Checkpoint) ([]Hash, error) {
	if index >= cp.Size {
		return nil, fmt.Errorf("%w: entry %d of %d", ErrRange, index, cp.Size)
	}
	p, err := tlog.ProveRecord(int64(cp.Size), int64(index), c.at(ctx, cp))
	if err != nil {
		return nil, proofError(err)
	}
	return plain(p), nil
}

// Inclusion verifies that cp holds exactly this entry at index.
func (c *Client) Inclusion(ctx context.Context, index uint64, entry []byte, cp Checkpoint) error {
	p, err := c.InclusionProof(ctx, index, cp)
	if err != nil {
		return err
	}
	return VerifyInclusion(cp.Head, index, LeafHash(entry), p)
}

// Entries fetches at most max entries from index from on, verified against cp.
// It fetches whole bundles (up to 16 MiB) and may return fewer than max, but
// none only at the end of cp.
func (c *Client) Entries(ctx context.Context, from uint64, max int, cp Checkpoint) ([][]byte, error) {
	if from >= cp.Size || max <= 0 {
		return nil, nil
	}
	ref := TileRef{Entries: true, Index: from / TileWidth}
	ref.Width = ref.available(cp.Size)
	bundle, err := c.bundle(ctx, ref)
	if err != nil {
		return nil, err
	}
	first := int(from % TileWidth)
	bundle = bundle[first:min(len(bundle), first+max)]
	indexes := make([]int64, len(bundle))
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(0, int64(from)+int64(i))
	}
	hashes, err := c.at(ctx, cp).ReadHashes(indexes)
	if err != nil {
		return nil, proofError(err)
	}
	for i, e := range bundle {
		if LeafHash(e) != Hash(hashes[i]) {
			return nil, fmt.Errorf("%w: entry %d is not what the tiles say", ErrProof, from+uint64(i))
		}
	}
	return bundle, nil
}

// bundle fetches and splits an entry bundle; nothing in it is verified.
func (c *Client) bundle(ctx context.Context, ref TileRef) ([][]byte, error) {
	data, err := c.fetch(ctx, ref, TileWidth*(2+MaxEntry))
	if err != nil {
		return nil, err
	}
	entries, err := splitBundle(data)
	if err != nil || len(entries) < ref.Width {
		return nil, fmt.Errorf("%w: %s is not an entry bundle of that width", ErrAnswer, ref)
	}
	return entries[:ref.Width], nil
}

// splitBundle reads an entry bundle of at most 256 entries.
func splitBundle(b []byte) ([][]byte, error) {
	var out [][]byte
	for len(b) > 0 {
		if len(b) < 2 || len(out) == TileWidth {
			return nil, ErrAnswer
		}
		n := 2 + int(binary.BigEndian.Uint16(b))
		if len(b) < n {
			return nil, ErrAnswer
		}
		out = append(out, b[2:n:n])
		b = b[n:]
	}
	return out, nil
}

// fetch gets a tile or bundle; where a partial one is not served any more, the
// full one that replaced it.
func (c *Client) fetch(ctx context.Context, ref TileRef, limit int64) ([]byte, error) {
	data, err := get(ctx, c.hc, c.base+"/"+ref.String(), limit)
	if errors.Is(err, ErrNotServed) && ref.Width < TileWidth {
		full := ref
		full.Width = TileWidth
		if data, ferr := get(ctx, c.hc, c.base+"/"+full.String(), limit); ferr == nil {
			return data, nil
		}
	}
	return data, err
}

// at reads tree nodes from tiles, verified against cp.
func (c *Client) at(ctx context.Context, cp Checkpoint) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: int64(cp.Size), Hash: tlog.Hash(cp.Root)}, &tileFetcher{ctx, c})
}

// tileFetcher is a tlog.TileReader over a Client.
type tileFetcher struct {
	ctx context.Context // tlog's interface has no place for it
	c   *Client
}

// Height implements tlog.TileReader.
func (f *tileFetcher) Height() int { return tileHeight }

// ReadTiles implements tlog.TileReader.
func (f *tileFetcher) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(tiles))
	for i, t := range tiles {
		f.c.mu.Lock()
		out[i] = f.c.kept[t]
		f.c.mu.Unlock()
		if out[i] != nil {
			continue
		}
		data, err := f.c.rawTile(f.ctx, TileRef{Level: t.L, Index: uint64(t.N), Width: t.W})
		if err != nil {
			return nil, fetchError{err}
		}
		out[i] = data
	}
	return out, nil
}

// SaveTiles implements tlog.TileReader: it is called with verified tiles only.
func (f *tileFetcher) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	for i, t := range tiles {
		for k := range f.c.kept { // any will do: what is dropped is fetched again
			if len(f.c.kept) < f.c.max {
				break
			}
			delete(f.c.kept, k)
		}
		f.c.kept[t] = data[i]
	}
}

// rawTile fetches a tile of exactly that width; nothing in it is verified.
func (c *Client) rawTile(ctx context.Context, ref TileRef) ([]byte, error) {
	data, err := c.fetch(ctx, ref, TileWidth*tlog.HashSize)
	if err != nil {
		return nil, err
	}
	if len(data)%tlog.HashSize != 0 || len(data) < ref.Width*tlog.HashSize {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrAnswer, ref, len(data))
	}
	return data[:ref.Width*tlog.HashSize], nil
}

// fetchError marks errors of fetching, as opposed to what tlog finds wrong.
type fetchError struct{ error }

func (e fetchError) Unwrap() error { return e.error }

// proofError says ErrProof unless a fetch failed.
func proofError(err error) error {
	if f, ok := errors.AsType[fetchError](err); ok {
		return f.error
	}
	return fmt.Errorf("%w: %v", ErrProof, err)
}
