package upstream

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A body is the body of an HTTP answer, as it was before it was compressed.
type body struct {
	r      io.Reader // what the server meant
	raw    io.Closer
	m      *meter
	length int64 // as declared; -1: not known
}

// body opens an answer's body. Nothing is held of what is decompressed beyond the
// bounds that hold for everything else.
func (e *Endpoint) body(resp *http.Response) (*body, error) {
	b := &body{r: resp.Body, raw: resp.Body, length: resp.ContentLength}
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip", "x-gzip":
		b.r, b.length = &unzip{from: resp.Body}, -1
	default:
		return nil, ErrProtocol
	}
	b.m = &meter{r: b.r, budget: &e.budget}
	b.r = b.m
	return b, nil
}

func (b *body) close() {
	b.m.next()
	_ = b.raw.Close()
}

func (b *body) events(lim mcp.Limits) *mcp.EventReader { return mcp.NewEventReader(b.r, lim) }

// all is the whole body; ErrTooLarge if it is longer than the bound.
func (b *body) all(most int) ([]byte, error) {
	if b.length > int64(most) {
		return nil, ErrTooLarge
	}
	// One more than the length lets the end be seen without growing. What is
	// declared is not believed beyond what a stream may hold anyway.
	buf := make([]byte, 0, min(max(b.length+1, 512), free))
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := b.r.Read(buf[len(buf):min(cap(buf), most+1)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > most:
			return nil, ErrTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		}
	}
}

// unzip reads gzip, whose head it waits for when it is first read.
type unzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (u *unzip) Read(p []byte) (int, error) {
	if u.z == nil {
		z, err := gzip.NewReader(u.from)
		if err != nil {
			return 0, err
		}
		u.z = z
	}
	return u.z.Read(p)
}
