package ledger

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// served starts a server for a log and returns its base URL.
func served(t testing.TB, src Reader, board *Board, keys []string) *httptest.Server {
	h := NewHandler(NewTiles(src, nil), board, func() []string { return keys })
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func TestHandler(t *testing.T) {
	s := testSigner(t, 1)
	m, tree := filled(t, 70_000, s)
	board := &Board{}
	srv := served(t, m, board, []string{"k1", "k2"})
	get := func(method, path string) (*http.Response, string) {
		req, err := http.NewRequest(method, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res, string(b)
	}
	if res, _ := get("GET", "/ledger/checkpoint"); res.StatusCode != 404 {
		t.Errorf("before the first checkpoint: %d", res.StatusCode)
	}
	if res, _ := get("GET", "/ledger/tile/0/000"); res.StatusCode != 404 {
		t.Errorf("tile before the first checkpoint: %d", res.StatusCode)
	}
	// Published is less than what the table holds.
	small := treeOf(m, 69_999)
	raw, _ := s.Sign(small.Head())
	if err := board.Publish(raw); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		method, path string
		status       int
		kind, cache  string
		length       int
	}{
		{"GET", "checkpoint", 200, "text/plain; charset=utf-8", cacheNone, len(raw)},
		{"HEAD", "checkpoint", 200, "text/plain; charset=utf-8", cacheNone, 0},
		{"GET", "key", 200, "text/plain; charset=utf-8", cacheNone, 6},
		{"GET", "tile/0/000", 200, "application/octet-stream", cacheFull, 8192},
		{"GET", "tile/0/272", 200, "application/octet-stream", cacheFull, 8192},
		{"GET", "tile/0/273.p/111", 200, "application/octet-stream", cachePartial, 32 * 111},
		{"GET", "tile/0/273.p/7", 200, "application/octet-stream", cachePartial, 32 * 7},
		{"GET", "tile/1/000", 200, "application/octet-stream", cacheFull, 8192},
		{"GET", "tile/1/001.p/17", 200, "application/octet-stream", cachePartial, 32 * 17},
		{"GET", "tile/2/000.p/1", 200, "application/octet-stream", cachePartial, 32},
		{"GET", "tile/entries/000", 200, "application/octet-stream", cacheFull, -1},
		{"GET", "tile/entries/273.p/111", 200, "application/octet-stream", cachePartial, -1},
		{"GET", "tile/0/273.p/112", 404, "", cacheNone, -1}, // in the table, not published
		{"GET", "tile/entries/273.p/112", 404, "", cacheNone, -1},
		{"GET", "tile/0/273", 404, "", cacheNone, -1},
		{"GET", "tile/1/001.p/18", 404, "", cacheNone, -1},
		{"GET", "tile/2/000.p/2", 404, "", cacheNone, -1},
		{"GET", "tile/3/000.p/1", 404, "", cacheNone, -1},
		{"GET", "tile/63/000.p/1", 404, "", cacheNone, -1},
		{"GET", "tile/0/x036/x028/x797/x018/963/967", 400, "", cacheNone, -1},
		{"GET", "tile/0/000.p/256", 400, "", cacheNone, -1},
		{"GET", "tile/0/%30%30%30", 404, "", cacheNone, -1}, // one spelling each
		{"GET", "tile%2F0/000", 404, "", cacheNone, -1},
		{"GET", "", 404, "", cacheNone, -1},
		{"GET", "tile/", 400, "", cacheNone, -1},
		{"GET", "other", 404, "", cacheNone, -1},
		{"POST", "checkpoint", 405, "", cacheNone, -1},
	} {
		res, body := get(tc.method, "/ledger/"+tc.path)
		if res.StatusCode != tc.status || tc.status == 200 && res.Header.Get("Content-Type") != tc.kind ||
			res.Header.Get("Cache-Control") != tc.cache || tc.length >= 0 && len(body) != tc.length {
			t.Errorf("%s %s: %d %v, %d bytes", tc.method, tc.path, res.StatusCode, res.Header, len(body))
		}
		if tc.status != 200 && tc.path != "" && strings.Contains(body, tc.path) {
			t.Errorf("%s: the answer repeats the path", tc.path)
		}
	}
	raw, _ = s.Sign(tree.Head())
	if err := board.Publish(raw); err != nil {
		t.Fatal(err)
	}
	if res, body := get("GET", "/ledger/tile/0/273.p/112"); res.StatusCode != 200 || len(body) != 32*112 {
		t.Errorf("after publishing: %d", res.StatusCode)
	}
}

func TestHandlerStoreFails(t *testing.T) {
	s := testSigner(t, 1)
	board := &Board{}
	raw, _ := s.Sign(testHead(5))
	if err := board.Publish(raw); err != nil {
		t.Fatal(err)
	}
	srv := served(t, failing{errors.New("secret detail")}, board, nil)
	for _, p := range []string{"tile/0/000.p/5", "tile/entries/000.p/5"} {
		res, err := http.Get(srv.URL + "/ledger/" + p)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 503 || strings.Contains(string(body), "secret") {
			t.Errorf("%s: %d %s", p, res.StatusCode, body)
		}
	}
}

func TestBoard(t *testing.T) {
	s := testSigner(t, 1)
	var b Board
	if _, _, ok := b.Latest(); ok {
		t.Error("the zero Board has a checkpoint")
	}
	n5, _ := s.Sign(testHead(5))
	n6, _ := s.Sign(testHead(6))
	other, _ := s.Sign(Head{6, Hash{1}})
	both, _ := testSigner(t, 2, 1).Sign(testHead(6))
	o, _ := NewSigner("other.example", testKey(1))
	foreign, _ := o.Sign(testHead(7))
	for i, step := range []struct {
		raw  []byte
		want error
	}{{n5, nil}, {n5, nil}, {n6, nil}, {n5, ErrRollback}, {other, ErrFork}, {both, nil}, {foreign, ErrFork}, {[]byte("x"), ErrNote}} {
		if err := b.Publish(step.raw); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
	}
	if raw, h, ok := b.Latest(); !ok || h != testHead(6) || !bytes.Equal(raw, both) {
		t.Errorf("latest %s", raw)
	}
}

func BenchmarkServeTile(b *testing.B) {
	b.ReportAllocs()
	s := testSigner(b, 1)
	m, _ := filled(b, 100_000, s)
	board := &Board{}
	if err := board.Publish(m.notes[0].note); err != nil {
		b.Fatal(err)
	}
	h := NewHandler(NewTiles(m, nil), board, s.VerifierKeys)
	for i := uint64(0); b.Loop(); i++ {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", Prefix+TileRef{Index: i % 390, Width: TileWidth}.String(), nil))
		if w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}
