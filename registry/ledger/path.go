package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// TileWidth is how many hashes a full tile, and entries a full bundle, hold.
const TileWidth = 256

// tileHeight is the number of tree levels that one tile spans.
const tileHeight = 8

// maxTileIndex bounds <N>: a log has fewer than 2^63 entries, so a tile index
// beyond 2^55 names nothing at any level.
const maxTileIndex = 1<<55 - 1

// ErrPath says that a path names no resource of c2sp.org/tlog-tiles.
var ErrPath = errors.New("ledger: not a tile path")

// TileRef names a tile or an entry bundle.
type TileRef struct {
	Entries bool   // an entry bundle; Level is then 0
	Level   int    // 0 to 63
	Index   uint64 // <N>
	Width   int    // 1 to 256; 256 is the full tile
}

// ParseTilePath reads "tile/<L>/<N>[.p/<W>]" or "tile/entries/<N>[.p/<W>]".
// Each resource has exactly one spelling; any other is ErrPath.
func ParseTilePath(path string) (TileRef, error) {
	rest, ok := strings.CutPrefix(path, "tile/")
	if !ok {
		return TileRef{}, ErrPath
	}
	level, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return TileRef{}, ErrPath
	}
	ref := TileRef{Width: TileWidth}
	if level == "entries" {
		ref.Entries = true
	} else if n, ok := decimal(level, 63); ok {
		ref.Level = int(n)
	} else {
		return TileRef{}, ErrPath
	}
	index, width, partial := strings.Cut(rest, ".p/")
	if partial {
		w, ok := decimal(width, TileWidth-1)
		if !ok || w == 0 {
			return TileRef{}, ErrPath
		}
		ref.Width = int(w)
	}
	n, ok := parseIndex(index)
	if !ok {
		return TileRef{}, ErrPath
	}
	ref.Index = n
	return ref, nil
}

// String is the path of the resource, the inverse of ParseTilePath.
func (r TileRef) String() string {
	dir := "entries"
	if !r.Entries {
		dir = strconv.Itoa(r.Level)
	}
	p := fmt.Sprintf("%03d", r.Index%1000)
	for n := r.Index / 1000; n > 0; n /= 1000 {
		p = fmt.Sprintf("x%03d/%s", n%1000, p)
	}
	if r.Width < TileWidth {
		p += ".p/" + strconv.Itoa(r.Width)
	}
	return "tile/" + dir + "/" + p
}

// parseIndex reads "x001/x234/067".
func parseIndex(s string) (uint64, bool) {
	groups := strings.Split(s, "/")
	if len(groups) > 7 || len(groups) > 1 && groups[0] == "x000" {
		return 0, false
	}
	var n uint64
	for i, g := range groups {
		if i < len(groups)-1 {
			if !strings.HasPrefix(g, "x") {
				return 0, false
			}
			g = g[1:]
		}
		if len(g) != 3 || strings.Trim(g, "0123456789") != "" {
			return 0, false
		}
		d, _ := strconv.Atoi(g)
		n = n*1000 + uint64(d)
		if n > maxTileIndex {
			return 0, false
		}
	}
	return n, true
}

// decimal reads a number without sign or leading zeroes, at most max.
func decimal(s string, max uint64) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && n <= max && strconv.FormatUint(n, 10) == s
}

// available is how many hashes of the tile (or entries of the bundle) exist in
// a log of that size: 0 to 256.
func (r TileRef) available(size uint64) int {
	shift := tileHeight * r.Level
	if shift >= 64 {
		return 0
	}
	have, first := size>>shift, r.Index*TileWidth
	if have <= first {
		return 0
	}
	return int(min(have-first, TileWidth))
}
