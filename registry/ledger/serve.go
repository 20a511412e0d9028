package ledger

import (
	"net/http"
	"strconv"
	"strings"
)

// Prefix is where a Handler expects its resources.
const Prefix = "/ledger/"

// maxBuilds bounds how many tiles and bundles are built at once: a bundle can
// take 16 MiB.
const maxBuilds = 8

// Cache headers. Everything under tile/ never changes; a partial tile is asked
// for by few and soon replaced by the full one, so caches need not keep it.
const (
	cacheNone    = "no-cache"
	cacheFull    = "public, max-age=31536000, immutable"
	cachePartial = "public, max-age=600"
)

// Handler serves one log as c2sp.org/tlog-tiles under Prefix: checkpoint,
// tile/<L>/<N>, tile/entries/<N>, and at key the verifier keys, one per line,
// the active one first. It shows nothing beyond the posted checkpoint.
type Handler struct {
	tiles  *Tiles
	board  *Board
	keys   func() []string
	builds chan struct{}
}

// NewHandler serves what tiles gives up to what board posts; keys lists the
// log's verifier keys of the moment (Signer.VerifierKeys).
func NewHandler(tiles *Tiles, board *Board, keys func() []string) *Handler {
	return &Handler{tiles: tiles, board: board, keys: keys, builds: make(chan struct{}, maxBuilds)}
}

// ServeHTTP answers GET and HEAD; everything unknown is 404 without a body
// that repeats it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", cacheNone)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed)
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, Prefix)
	if !ok || r.URL.RawPath != "" { // no resource needs escaping: one spelling each
		fail(w, http.StatusNotFound)
		return
	}
	switch {
	case path == "checkpoint":
		raw, _, ok := h.board.Latest()
		if !ok {
			fail(w, http.StatusNotFound)
			return
		}
		send(w, "text/plain; charset=utf-8", raw)
	case path == "key":
		send(w, "text/plain; charset=utf-8", []byte(strings.Join(h.keys(), "\n")+"\n"))
	case strings.HasPrefix(path, "tile/"):
		h.serveTile(w, r, path)
	default:
		fail(w, http.StatusNotFound)
	}
}

func (h *Handler) serveTile(w http.ResponseWriter, r *http.Request, path string) {
	ref, err := ParseTilePath(path)
	if err != nil {
		fail(w, http.StatusBadRequest)
		return
	}
	_, head, _ := h.board.Latest()
	if ref.Width > ref.available(head.Size) {
		fail(w, http.StatusNotFound)
		return
	}
	select {
	case h.builds <- struct{}{}:
		defer func() { <-h.builds }()
	case <-r.Context().Done():
		return
	}
	var data []byte
	if ref.Entries {
		data, err = h.tiles.Bundle(r.Context(), ref.Index, ref.Width)
	} else {
		data, err = h.tiles.Tile(r.Context(), ref.Level, ref.Index, ref.Width)
	}
	if err != nil { // the store failed, or is shorter than the checkpoint
		fail(w, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Cache-Control", cachePartial)
	if ref.Width == TileWidth {
		w.Header().Set("Cache-Control", cacheFull)
	}
	send(w, "application/octet-stream", data)
}

func send(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.Write(data) // net/http drops the body of an answer to HEAD
}

func fail(w http.ResponseWriter, status int) {
	http.Error(w, http.StatusText(status), status)
}
