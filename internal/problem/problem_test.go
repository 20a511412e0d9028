package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/problem"
)

func Example() {
	rec := httptest.NewRecorder()
	stale := problem.New(http.StatusPreconditionFailed, "stale_base", "the tool has changed since")
	stale.Current = "sha-256:now"
	stale.WithDetail("version %d is current", 7).Write(rec)

	err := problem.Read(rec.Result())
	fmt.Println(err)
	fmt.Println(errors.Is(err, &problem.Problem{Code: "stale_base"}), err.Current)
	// Output:
	// the tool has changed since: version 7 is current (412 stale_base)
	// true sha-256:now
}

func TestWriteReadRoundTrip(t *testing.T) {
	p := &problem.Problem{
		Type: problem.TypeBase + "c", Title: "t", Status: 429, Detail: "d", Instance: "req_1", Code: "c",
		Field: "/tools/3/name", Nonce: "n", Earliest: time.Unix(1000, 0).UTC(), RetryAfter: 9, Current: "x", Remedy: "wait",
	}
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Length", "3")
	p.Write(rec)
	resp := rec.Result()
	for h, want := range map[string]string{
		"Content-Type": problem.ContentType, "Cache-Control": "no-store", "Retry-After": "9",
		"Dpop-Nonce": "n", "X-Content-Type-Options": "nosniff", "Content-Length": "",
	} {
		if got := resp.Header.Get(h); got != want {
			t.Errorf("%s = %q, want %q", h, got, want)
		}
	}
	if got := problem.Read(resp); *got != *p {
		t.Errorf("read %+v, want %+v", got, p)
	}
}

// The member set is closed: a new one is a decision, not an accident.
func TestMembersAreClosed(t *testing.T) {
	p := problem.New(400, "c", "t")
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"https://pratique.dev/problems/c","title":"t","status":400,"code":"c"}`; string(b) != want {
		t.Errorf("got %s, want %s", b, want)
	}
}

func TestReadNeverTrustsTheBody(t *testing.T) {
	tests := []struct{ name, ct, body, code string }{
		{"html", "text/html", "<h1>proxy</h1>", problem.CodeUnexpected},
		{"json, not a problem", "application/json", `{"code":"c"}`, problem.CodeUnexpected},
		{"no code", problem.ContentType, `{"title":"x"}`, problem.CodeUnexpected},
		{"duplicate member", problem.ContentType, `{"code":"a","code":"b"}`, problem.CodeUnexpected},
		{"folded case", problem.ContentType, `{"Code":"a"}`, problem.CodeUnexpected},
		{"empty", problem.ContentType, ``, problem.CodeUnexpected},
		{"trailing", problem.ContentType, `{"code":"a"} {}`, problem.CodeUnexpected},
		{"huge", problem.ContentType, `{"code":"a","detail":"` + strings.Repeat("a", 70<<10) + `"}`, problem.CodeUnexpected},
		{"unknown member", problem.ContentType + "; charset=utf-8", `{"code":"a","later":1}`, "a"},
		{"status lies", problem.ContentType, `{"code":"a","status":200}`, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := problem.Read(&http.Response{
				StatusCode: 502, Header: http.Header{"Content-Type": {tt.ct}},
				Body: io.NopCloser(strings.NewReader(tt.body)),
			})
			if got.Code != tt.code || got.Status != 502 {
				t.Errorf("got %+v, want code %s and status 502", got, tt.code)
			}
		})
	}
}

func TestErrorCannotDrawOnATerminal(t *testing.T) {
	p := problem.New(400, "c", "red \x1b[31m\u202e")
	if s := p.WithDetail("%s", strings.Repeat("a", 5000)).Error(); strings.ContainsAny(s, "\x1b\u202e") || len(s) > 700 {
		t.Errorf("error text is %q", s)
	}
}

func TestWriteOfANonErrorStatusIs500(t *testing.T) {
	rec := httptest.NewRecorder()
	(&problem.Problem{Code: "c", Earliest: time.Unix(1<<40, 0)}).Write(rec)
	if got := problem.Read(rec.Result()); got.Status != 500 || got.Type != "about:blank" || got.Code != "c" {
		t.Errorf("got %+v", got)
	}
}
