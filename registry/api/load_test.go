package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
)

// TestOneNameOneOwner: of many that register one name at once, one gets it.
func TestOneNameOneOwner(t *testing.T) {
	r := newRig(t)
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		p := newParty(t)
		wg.Go(func() {
			switch out := r.send(registration(p, "checkout")); {
			case out.status == 201:
				won.Add(1)
			case out.Code == "name_taken":
				lost.Add(1)
			default:
				t.Errorf("%d %s", out.status, out.Code)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 31 {
		t.Errorf("%d got the name, %d did not", won.Load(), lost.Load())
	}
}

// TestOneBaseOneOverwrite: of many overwrites of one version at once, one is
// done.
func TestOneBaseOneOverwrite(t *testing.T) {
	r := newRig(t)
	alice := newParty(t)
	h := r.register(alice, "a").Tools[0]
	var won atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			switch out := r.send(overwrite(alice, h, string(rune('a'+i)))); {
			case out.status == 200:
				won.Add(1)
			case out.Code != "stale_base":
				t.Errorf("%d %s", out.status, out.Code)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d overwrote one version", won.Load())
	}
}

// TestRequestsAreBounded: past the bound a request is turned away at once.
func TestRequestsAreBounded(t *testing.T) {
	r := newRig(t, func(s *settings) { s.api.Limits = api.Limits{Requests: 2} })
	entered, leave := make(chan struct{}), make(chan struct{})
	r.fetch = func(context.Context, string) (*fetch.Response, error) {
		close(entered)
		<-leave
		return nil, context.DeadlineExceeded
	}
	alice := newParty(t)
	r.send(req{method: "GET", path: "/v1/agents", op: proof.AgentList, by: alice}) // gets a nonce
	done := make(chan res)
	go func() { done <- r.send(readTopology(alice, site)) }()
	<-entered
	out := r.get("/v1/tools")
	out.want(t, 429, "too_many") // one address has half
	far := httptest.NewRecorder()
	q := httptest.NewRequest("GET", r.url+"/v1/tools", nil)
	q.RemoteAddr = "192.0.2.1:1"
	r.server.Handler().ServeHTTP(far, q)
	if far.Code != 200 {
		t.Errorf("another address: %d", far.Code)
	}
	if out.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(leave)
	(<-done).want(t, 503, "overload")
	into[registry.ToolList](t, r.get("/v1/tools"), 200)
}

func TestServerIsBounded(t *testing.T) {
	r := newRig(t)
	s := r.server.HTTPServer()
	if s.MaxHeaderBytes != 16<<10 || s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.IdleTimeout == 0 {
		t.Errorf("%+v", s)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := api.New(api.Options{ExternalURL: "https://reg.example"}); err == nil {
		t.Error("a server without a record")
	}
	r := newRig(t)
	good := r.options
	for name, f := range map[string]func(*api.Options){
		"a path":                func(o *api.Options) { o.ExternalURL = "https://reg.example/base" },
		"another spelling":      func(o *api.Options) { o.ExternalURL = "https://REG.example" },
		"plain http":            func(o *api.Options) { o.ExternalURL = "http://reg.example" },
		"none":                  func(o *api.Options) { o.ExternalURL = "" },
		"handles for a week":    func(o *api.Options) { o.HandleLife = 7 * 24 * 3600e9 },
		"CORS for all":          func(o *api.Options) { o.CORSOrigins = []string{"*"} },
		"CORS for an endpoint":  func(o *api.Options) { o.CORSOrigins = []string{"https://a.example/x"} },
		"labels for two days":   func(o *api.Options) { o.LabelLife = 48 * 3600e9 },
		"handles for a second":  func(o *api.Options) { o.HandleLife = 1e9 },
		"nobody to check proof": func(o *api.Options) { o.Proofs = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			f(&o)
			if _, err := api.New(o); err == nil {
				t.Error("taken")
			}
		})
	}
}

// FuzzHandler sends whatever: every refusal is a problem of a known code, and
// nothing is an internal error.
func FuzzHandler(f *testing.F) {
	for _, s := range [][5]string{
		{"GET", "/v1/tools?origin=https://tools.example&limit=1", "", "", ""},
		{"POST", "/v1/tools", "a.b.c", "", `{"origin":"https://tools.example","tools":[{"name":"a"}]}`},
		{"PUT", "/v1/tools/tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", "a.b.c", "DPoP a.b.c", `{"tool":{"name":"a"}}`},
		{"DELETE", "/v1/handles/0123456789abcdef", "a.b.c", "DPoP eyJ.eyJ.AAAA", ""},
		{"GET", "/v1/labels?digest=sha-256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "", "", ""},
		{"GET", "/v1/events/0/proof?size=1", "", "", ""},
		{"GET", "/ledger/tile/0/x001/002.p/3", "", "", ""},
		{"OPTIONS", "/v1/tools", "", "", ""},
		{"GET", "/v1/tools/../../x", "", "", ""},
	} {
		f.Add(s[0], s[1], s[2], s[3], []byte(s[4]))
	}
	r := newRig(f, func(s *settings) {
		s.plain = true
		s.api.Limits = api.Limits{PerAddress: 1e9, AddressBurst: 1 << 30, ReadsPerAddress: 1e9, ReadsBurst: 1 << 30}
	})
	r.register(newParty(f), "a")
	h := r.server.Handler()
	f.Fuzz(func(t *testing.T, method, path, proofText, auth string, body []byte) {
		q, err := http.NewRequest(method, r.url+path, bytes.NewReader(body))
		if err != nil || q.URL.Path == "/v1/labels/stream" || q.Host == "" {
			t.Skip()
		}
		q.RequestURI, q.RemoteAddr = path, "127.0.0.1:1"
		q.Header.Set("Content-Type", "application/json")
		if proofText != "" {
			q.Header.Set("DPoP", proofText)
		}
		if auth != "" {
			q.Header.Set("Authorization", auth)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		if w.Code == 500 {
			t.Fatalf("%s %q: %s", method, path, w.Body)
		}
		if w.Code >= 400 {
			var p problem.Problem
			text, _ := io.ReadAll(w.Body)
			if err := json.Unmarshal(text, &p); err != nil || p.Code == "" || p.Status != w.Code {
				t.Fatalf("%s %q: %d %s", method, path, w.Code, text)
			}
		}
	})
}
