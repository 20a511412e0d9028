package serve

import (
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

func or[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

func (o Options) filled() Options {
	if o.Path == "" {
		o.Path = "/mcp"
	}
	if o.Name == "" {
		o.Name = "stdio"
	}
	if len(o.Hosts) == 0 {
		o.Hosts = []string{"localhost", "127.0.0.1", "[::1]"}
	}
	o.Path = strings.TrimSuffix(o.Path, "/")
	o.Limits.fill()
	return o
}

func (o *Options) random() io.Reader {
	if o.Random == nil {
		return rand.Reader
	}
	return o.Random
}

func (l *Limits) fill() {
	or(&l.Frame, mcp.DefaultBytes)
	or(&l.Batch, 64)
	or(&l.Open, 256)
	or(&l.Requests, 512)
	or(&l.Bodies, 256<<20)
	or(&l.Queue, 1024)
	or(&l.Queued, 4<<20)
	or(&l.Replay, 4<<20)
	or(&l.Body, 30*time.Second)
	or(&l.Write, 30*time.Second)
	or(&l.Question, 10*time.Minute)
	or(&l.Idle, 30*time.Minute)
	or(&l.Patience, time.Second)
	or(&l.KeepAlive, 25*time.Second)
	or(&l.Grace, 5*time.Second)
}

func (l *Limits) wire() mcp.Limits { return mcp.Limits{Bytes: l.Frame, Batch: l.Batch} }
