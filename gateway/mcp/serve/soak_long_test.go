//go:build long

package serve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// 10,000 calls of eight agents that reconnect, cancel, leave in the middle and
// change eras: each that is waited for is answered, and nothing is left behind,
// no goroutine and no file.
func TestSoak(t *testing.T) {
	before, files := runtime.NumGoroutine(), openFiles()
	t.Run("calls", func(t *testing.T) {
		up, done := endpointUpstream(t, false)
		r := rigOf(t, real{realGateway(t, up)}, Options{})
		var answered, left atomic.Int64
		var all sync.WaitGroup
		for agent := range 8 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(agent), 7))
				for range 25 {
					hs := r.initialize([]mcp.Revision{mcp.Rev20241105, mcp.Rev20250326, mcp.Rev20250618, mcp.Rev20251125}[random.IntN(4)])
					r.post(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`, hs)
					for i := range 50 {
						if random.IntN(10) == 0 {
							ctx, cancel := context.WithCancel(context.Background())
							go cancel()
							if res, err := r.client.Do(r.request(ctx, "POST", "/mcp/"+alice, callOf(fmt.Sprint(i), "ping_tool"), hs)); err == nil {
								res.Body.Close()
							}
							r.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+fmt.Sprint(i)+`}}`, hs)
							left.Add(1)
							continue
						}
						if _, text := r.post(callOf(fmt.Sprint(1000+i), "ping_tool"), hs); !strings.Contains(text, "pong") {
							t.Errorf("no answer: %s", text)
							return
						}
						answered.Add(1)
					}
					if random.IntN(4) > 0 { // else the session is left behind
						r.do("DELETE", "/mcp/"+alice, "", hs)
					}
				}
			})
		}
		all.Wait()
		if n := int64(done.of("ping_tool")); n < answered.Load() || n > answered.Load()+left.Load() {
			t.Errorf("executed %d, answered %d, left %d", n, answered.Load(), left.Load())
		}
	})
	deadline := time.After(20 * time.Second)
	for runtime.NumGoroutine() > before+2 || openFiles() > files+2 {
		select {
		case <-deadline:
			buf := make([]byte, 1<<20)
			t.Fatalf("left: %d goroutines (%d before), %d files (%d before)\n%s", runtime.NumGoroutine(), before, openFiles(), files, buf[:runtime.Stack(buf, true)])
		default:
			runtime.Gosched()
		}
	}
}

func openFiles() int {
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not Linux
	}
	return len(es)
}
