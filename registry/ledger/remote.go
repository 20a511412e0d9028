package ledger

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"
)

// Auditor lets Verify walk a served log as it stood at cp: each entry against
// the leaf hash in its tile, all of them against cp. A bundle that is not
// served is reported as missing entries. The server shows only its newest
// checkpoint: give Verify the ones that you know as Outside.
func (c *Client) Auditor(cp Checkpoint) Auditor { return remote{c, cp} }

type remote struct {
	c  *Client
	cp Checkpoint
}

// AuditEntries visits one bundle, since the next call costs no more than the
// next round here would.
func (r remote) AuditEntries(ctx context.Context, from uint64, max int, visit func(uint64, []byte, Hash, bool) error) error {
	for ; from < r.cp.Size; from = (from/TileWidth + 1) * TileWidth {
		ref := TileRef{Index: from / TileWidth}
		ref.Width = ref.available(r.cp.Size)
		tile, err := r.c.rawTile(ctx, ref)
		if err != nil {
			return err
		}
		ref.Entries = true
		bundle, err := r.c.bundle(ctx, ref)
		if errors.Is(err, ErrNotServed) || errors.Is(err, ErrAnswer) {
			continue // a gap, which Verify reports
		} else if err != nil {
			return err
		}
		for i := int(from % TileWidth); i < len(bundle) && max > 0; i++ {
			max--
			leaf := Hash(tile[i*tlog.HashSize:])
			if err := visit(ref.Index*TileWidth+uint64(i), bundle[i], leaf, leaf == LeafHash(bundle[i])); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

func (r remote) AuditNotes(_ context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error {
	if from > 0 || max < 1 {
		return nil
	}
	return visit(0, r.cp.Size, r.cp.Note, true)
}

func (r remote) AuditHead(context.Context) (uint64, Hash, uint64, bool, error) {
	return r.cp.Size, r.cp.Root, 1, true, nil
}
