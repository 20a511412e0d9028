package serve

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const firstRead = 64 << 10

// body reads a request's body, bounded in bytes and time, and in the bytes that
// all bodies being read may hold together.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, int, error) {
	limit := int64(h.opt.Limits.Frame)
	if r.ContentLength > limit {
		return nil, http.StatusRequestEntityTooLarge, errLength
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(h.opt.Limits.Body)) // where it is not supported, the server's own holds
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()

	size := int64(firstRead)
	if r.ContentLength >= 0 && r.ContentLength < size {
		size = r.ContentLength
	}
	held := int64(0)
	defer func() { h.hold(-held) }()
	buf := make([]byte, 0, size+1) // one more, so that the end is seen without growing
	for {
		if grown := int64(cap(buf)) - held; grown != 0 {
			if !h.hold(grown) {
				return nil, http.StatusServiceUnavailable, errTooMany
			}
			held += grown
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, http.StatusRequestEntityTooLarge, errLength
		case errors.Is(err, io.EOF):
			return buf, 0, nil
		case err != nil:
			return nil, http.StatusBadRequest, errBody
		}
		if len(buf) == cap(buf) {
			next := make([]byte, len(buf), min(2*int64(cap(buf)), limit+1))
			copy(next, buf)
			buf = next
		}
	}
}

// hold counts bytes of bodies.
func (h *Handler) hold(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n > 0 && h.bodies+n > h.opt.Limits.Bodies {
		return false
	}
	h.bodies += n
	return true
}
