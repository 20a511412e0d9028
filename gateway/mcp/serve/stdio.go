package serve

import (
	"context"
	"io"

	"github.com/pratique-dev/pratique/gateway"
)

// ServeStdio serves the one agent that started this process, one frame a line,
// until it closes its end, or ctx ends: then no new requests are taken, and those
// that are open are cancelled. The goroutine that reads in ends when in does.
func ServeStdio(ctx context.Context, gw *gateway.Gateway, in io.Reader, out io.Writer, opt Options) error {
	return serveStdio(ctx, real{gw}, in, out, opt)
}

func serveStdio(ctx context.Context, gw backend, in io.Reader, out io.Writer, opt Options) error {
	return gateway.ErrClosed
}
