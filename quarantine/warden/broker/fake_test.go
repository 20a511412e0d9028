package broker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden"
)

// TestMain has a proxy in the environment that leads nowhere; this program is also
// the inspector's child, and the command that some tests configure.
func TestMain(m *testing.M) {
	warden.Hook()
	if len(os.Args) > 2 && os.Args[1] == "judge" {
		judgeMain(os.Args[2], os.Args[3:])
		return
	}
	for _, k := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "OPENAI_BASE_URL"} {
		os.Setenv(k, "http://127.0.0.1:1")
	}
	os.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	os.Exit(m.Run())
}

// A request as a fake reads it.
type request struct {
	*http.Request
	raw  []byte
	body struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
}

var (
	theMark = regexp.MustCompile(`every space is written as (_[a-z2-7]+_)`)
	heads   = regexp.MustCompile(`\n[0-9]+ [a-z]+ `)
	spaces  = regexp.MustCompile(`\s+`)
)

// data is the text of a request without its marks and line numbers.
func (r *request) data() string {
	if len(r.body.Messages) != 2 {
		return ""
	}
	m := theMark.FindStringSubmatch(r.body.Messages[0].Content)
	if m == nil {
		return ""
	}
	s := heads.ReplaceAllString(r.body.Messages[1].Content, " ")
	return spaces.ReplaceAllString(strings.ReplaceAll(s, m[1], " "), " ")
}

func (r *request) canary() string {
	_, after, _ := strings.Cut(r.body.Messages[0].Content, "\nThe word ")
	canary, _, _ := strings.Cut(after, " ")
	return canary
}

// isProbe tells whether a request is one of ours, and its right answer. A fake may
// know; a model cannot.
func (r *request) isProbe() (verdict string, ok bool) {
	d := r.data()
	for _, s := range []string{"The ferry to", "Opening hours", "The function returns", "Rain is expected", "Version 2.4", "The meeting of", "Soak the beans", "The museum's"} {
		ok = ok || strings.Contains(d, s)
	}
	for _, s := range []string{"saved passwords", "id_rsa", "collect.example", "delete all files"} {
		if strings.Contains(d, s) {
			return "injection", ok
		}
	}
	return "benign", ok
}

func said(text string) []byte {
	q, _ := jsontext.AppendQuote(nil, text)
	return fmt.Appendf(nil, `{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, q)
}

func verdict(v string) string { return `{"v":1,"verdict":"` + v + `","categories":[],"spans":[]}` }

func answer(w http.ResponseWriter, v string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(said(verdict(v)))
}

// A fake is an endpoint on loopback that answers probes rightly, unless probe is
// set, and everything else by other.
type fake struct {
	*httptest.Server
	other, probe func(w http.ResponseWriter, r *request)

	mu       sync.Mutex
	requests []*request // without probes
	probes   int
}

func newFake(t *testing.T, other func(w http.ResponseWriter, r *request)) *fake {
	f := &fake{other: other}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.close)
	return f
}

func (f *fake) close() {
	f.CloseClientConnections()
	f.Close()
}

func (f *fake) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := &request{Request: hr}
	r.raw, _ = io.ReadAll(hr.Body)
	_ = json.Unmarshal(r.raw, &r.body)
	right, probe := r.isProbe()
	f.mu.Lock()
	other, mine := f.other, f.probe
	if probe {
		f.probes++
	} else {
		f.requests = append(f.requests, r)
	}
	f.mu.Unlock()
	switch {
	case probe && mine != nil:
		mine(w, r)
	case probe:
		answer(w, right)
	default:
		other(w, r)
	}
}

func (f *fake) counts() (requests, probes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests), f.probes
}

// never is randomness that brings no probe along.
type never struct{}

func (never) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0xf0 + byte(i%7)
	}
	return len(b), nil
}

// log collects what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const home = "https://tools.example/mcp"

func batch(texts ...string) quarantine.Batch {
	b := quarantine.Batch{Origin: home}
	for i, s := range texts {
		b.Specimens = append(b.Specimens, quarantine.Specimen{Path: fmt.Sprintf("content[%d].text", i), Kind: quarantine.KindResult, Text: s})
	}
	return b
}

var whole = []byte(`{"v":1,"pieces":[[0,0,24]]}`)

const words = "some words of some text."

func newBroker(t *testing.T, cfg Config, opt *Options) *Broker {
	t.Helper()
	if opt == nil {
		opt = &Options{Random: never{}}
	}
	b, err := New(cfg, opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (f *fake) broker(t *testing.T) *Broker {
	return newBroker(t, Config{URL: f.URL + "/v1", Name: "judge"}, nil)
}

func keyFile(t *testing.T, key string) string {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// judged is what the judge of the inspector makes of a text by way of the broker.
func judged(b *Broker, text string) quarantine.Report {
	bt := batch(text)
	j := opinion.New(func(ctx context.Context, q []byte) ([]byte, error) { return b.Ask(ctx, bt, q) }, opinion.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return j.Judge(ctx, bt, func(int) bool { return true })
}
