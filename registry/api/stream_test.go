package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
)

// A follower reads the stream.
type follower struct {
	t      *testing.T
	lines  *bufio.Scanner
	cancel context.CancelFunc
	resp   *http.Response
	lastID string
}

func (r *rig) follow(t *testing.T, lastID string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	q, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/labels/stream", nil)
	must(t, err)
	if lastID != "" {
		q.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := r.client.Do(q)
	must(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream: %d", resp.StatusCode)
	}
	return &follower{t: t, lines: bufio.NewScanner(resp.Body), cancel: cancel, resp: resp}
}

// next is the next event; ok is false at the end of the stream.
func (f *follower) next() (kind string, c registry.LabelChange, ok bool) {
	f.t.Helper()
	for f.lines.Scan() {
		switch line := f.lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			kind = line[7:]
		case strings.HasPrefix(line, "id: "):
			f.lastID = line[4:]
		case strings.HasPrefix(line, "data: "):
			must(f.t, json.Unmarshal([]byte(line[6:]), &c))
		case line == "" && kind != "":
			return kind, c, true
		}
	}
	return "", c, false
}

func TestStream(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	f := r.follow(t, "")
	h := r.register(alice, "a", "b").Tools
	h2 := into[registry.HandleView](t, r.send(overwrite(alice, h[0], "next")), 200)
	into[registry.ToolView](t, r.send(revoke(alice, h2)), 200)
	var got []registry.LabelChange
	for range 4 {
		_, c, ok := f.next()
		if !ok {
			t.Fatal("stream ended")
		}
		got = append(got, c)
	}
	if got[0].Tool != h[0].ID || got[1].Tool != h[1].ID || got[2].Tool != h[0].ID || got[3].Status != "revoked" || got[3].Tier != "red" || got[2].Seq >= got[3].Seq {
		t.Errorf("changes: %+v", got)
	}

	// Everything since an id, in a condemned principal's fan-out too.
	resumed := r.follow(t, "0")
	enrol := operatorActs(r, h[1])["enrol"]
	enrol.by = r.operator
	into[registry.PrincipalView](t, r.send(enrol), 200)
	for _, x := range []*follower{resumed, f} {
		n := 4
		if x == f {
			n = 0
		}
		for range n {
			x.next()
		}
		_, c, ok := x.next()
		if !ok || c.Tool != h[1].ID || c.Seq != r.head()-1 {
			t.Errorf("fan-out: %+v", c)
		}
	}

	// The id of another log: begin anew.
	x := r.follow(t, "99999")
	if kind, _, ok := x.next(); !ok || kind != "reset" {
		t.Errorf("beyond the end: %q", kind)
	}
	r.send(req{method: "GET", path: "/v1/labels/stream", header: http.Header{"Last-Event-Id": {"x"}}}).want(t, 400, "bad_parameter")

	// Shutdown ends all.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, r.server.Shutdown(ctx))
	for _, x := range []*follower{f, resumed} {
		if _, _, ok := x.next(); ok {
			t.Error("a stream goes on after shutdown")
		}
	}
	r.send(req{method: "GET", path: "/v1/labels/stream"}).want(t, 503, "overload")
}

func TestStreamsAreBounded(t *testing.T) {
	r := newRig(t, func(s *settings) { s.api.Limits = api.Limits{Streams: 4} })
	a := r.follow(t, "")
	r.follow(t, "")
	r.send(req{method: "GET", path: "/v1/labels/stream"}).want(t, 429, "too_many") // one address has half
	a.cancel()
	for range 2000 { // the server learns of it in its own time
		if out := r.tryStream(); out == 200 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a stream that ended keeps its place")
}

func (r *rig) tryStream() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/labels/stream", nil)
	must(r.t, err)
	resp, err := r.client.Do(q)
	must(r.t, err)
	resp.Body.Close()
	return resp.StatusCode
}

// TestSlowStreamIsCutAndResumes: a subscriber that does not keep up is cut off
// and loses nothing when it comes back.
func TestSlowStreamIsCutAndResumes(t *testing.T) {
	r := newRig(t, func(s *settings) { s.api.Limits = api.Limits{StreamQueue: 1} })
	alice := newParty(t)
	f := r.follow(t, "")
	first := r.register(alice, "first").Tools[0]
	if _, c, ok := f.next(); !ok || c.Tool != first.ID {
		t.Fatalf("first: %+v", c)
	}
	want := map[string]bool{}
	for _, h := range r.register(alice, names(300, "t")...).Tools {
		want[string(h.ID)] = true
	}
	for tries := 0; len(want) > 0 && tries < 400; tries++ {
		_, c, ok := f.next()
		if !ok {
			f = r.follow(t, f.lastID)
			continue
		}
		delete(want, string(c.Tool))
	}
	if len(want) > 0 {
		t.Errorf("%d changes were lost", len(want))
	}
}
