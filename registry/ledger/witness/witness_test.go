package witness

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/ledger"
)

const origin = "registry.example.test/log"

func key(b byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = b
	return ed25519.NewKeyFromSeed(seed)
}

// history is a log in memory with its signer.
type history struct {
	entries [][]byte
	signer  *ledger.Signer
}

func newHistory(t testing.TB, tag string, n int) *history {
	t.Helper()
	s, err := ledger.NewSigner(origin, key(1))
	if err != nil {
		t.Fatal(err)
	}
	h := &history{signer: s}
	for i := range n {
		h.entries = append(h.entries, fmt.Appendf(nil, "%s %d", tag, i))
	}
	return h
}

// fork shares the first n entries and differs after them.
func (h *history) fork(n int) *history {
	f := &history{signer: h.signer, entries: append([][]byte{}, h.entries[:n]...)}
	for i := n; i < len(h.entries); i++ {
		f.entries = append(f.entries, fmt.Appendf(nil, "forked %d", i))
	}
	return f
}

func (h *history) Read(_ context.Context, from uint64, max int) ([][]byte, error) {
	return h.entries[from:min(len(h.entries), int(from)+max)], nil
}

func (h *history) head(n int) ledger.Head {
	var tree ledger.Tree
	for _, e := range h.entries[:n] {
		tree.AppendHash(ledger.LeafHash(e))
	}
	return tree.Head()
}

func (h *history) note(n int) []byte {
	raw, err := h.signer.Sign(h.head(n))
	if err != nil {
		panic(err)
	}
	return raw
}

func (h *history) tiles() *ledger.Tiles { return ledger.NewTiles(h, nil) }

func policy(t testing.TB, h *history) ledger.Policy {
	t.Helper()
	p, err := ledger.NewPolicy(h.signer.VerifierKeys()...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func cosigner(t testing.TB) *ledger.Cosigner {
	t.Helper()
	c, err := ledger.NewCosigner("witness.example.test", key(7), func() time.Time { return time.Unix(1e9, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func start(t testing.TB, s State, h *history) (*Witness, string) {
	t.Helper()
	w, err := New(t.Context(), cosigner(t), s, policy(t, h))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	return w, srv.URL
}

func openFolder(t testing.TB, dir string) *Folder {
	t.Helper()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAskWitness goes from nothing to a cosigned note that a quorum accepts.
func TestAskWitness(t *testing.T) {
	h := newHistory(t, "e", 900)
	dir := filepath.Join(t.TempDir(), "w")
	f := openFolder(t, dir)
	defer f.Close()
	_, url := start(t, f, h)
	p, err := policy(t, h).WithWitnesses(1, cosigner(t).VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	known := uint64(0)
	for _, n := range []int{0, 1, 1, 300, 900} {
		raw := h.note(n)
		lines, err := ledger.AskWitness(t.Context(), nil, url, raw, known, h.tiles())
		if err != nil {
			t.Fatalf("size %d: %v", n, err)
		}
		cosigned, err := p.AddCosignatures(raw, lines)
		if err != nil {
			t.Fatal(err)
		}
		if cp, err := p.Open(cosigned); err != nil || cp.Head != h.head(n) {
			t.Fatalf("size %d: %v", n, err)
		}
		if n != 300 {
			known = uint64(n) // after 300 the asker has forgotten, and is told
		}
	}
}

// TestRollbackAndFork: what the witness has cosigned stands, also after a
// restart.
func TestRollbackAndFork(t *testing.T) {
	h := newHistory(t, "e", 500)
	dir := filepath.Join(t.TempDir(), "w")
	f := openFolder(t, dir)
	_, url := start(t, f, h)
	if _, err := ledger.AskWitness(t.Context(), nil, url, h.note(400), 0, h.tiles()); err != nil {
		t.Fatal(err)
	}
	check := func(url string) {
		t.Helper()
		_, err := ledger.AskWitness(t.Context(), nil, url, h.note(399), 0, h.tiles())
		if ahead, ok := errors.AsType[*ledger.WitnessAheadError](err); !ok || ahead.Size != 400 || !errors.Is(err, ledger.ErrRollback) {
			t.Errorf("rollback: %v", err)
		}
		for _, n := range []int{400, 450} {
			for _, at := range []int{0, 399, 100} {
				evil := h.fork(at)
				for _, old := range []uint64{0, 400} {
					if _, err := ledger.AskWitness(t.Context(), nil, url, evil.note(n), old, evil.tiles()); !errors.Is(err, ledger.ErrFork) {
						t.Errorf("fork at %d, size %d, old %d: %v", at, n, old, err)
					}
				}
			}
		}
		if _, err := ledger.AskWitness(t.Context(), nil, url, h.note(400), 400, h.tiles()); err != nil {
			t.Errorf("the same again: %v", err)
		}
	}
	check(url)
	if _, err := OpenFolder(dir); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("second witness on the folder: %v", err)
	}
	f.Close()
	f = openFolder(t, dir)
	defer f.Close()
	_, url = start(t, f, h)
	check(url)
}

func TestDamagedStateStopsTheStart(t *testing.T) {
	h := newHistory(t, "e", 5)
	f := openFolder(t, filepath.Join(t.TempDir(), "w"))
	defer f.Close()
	if err := f.Save(t.Context(), origin, h.note(5)); err != nil {
		t.Fatal(err)
	}
	path := f.path(origin)
	good, _ := os.ReadFile(path)
	for name, bad := range map[string][]byte{"empty": {}, "cut": good[:20], "foreign": bytes.Replace(good, []byte("registry"), []byte("somebody"), 1)} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(t.Context(), cosigner(t), f, policy(t, h)); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	w, url := start(t, f, h)
	if err := os.Chmod(path, 0o644); err != nil { // damaged while it runs
		t.Fatal(err)
	}
	if _, _, err := w.add(t.Context(), []byte("old 5\n\n"+string(h.note(5)))); !errors.Is(err, errState) {
		t.Errorf("loose state: %v", err)
	}
	if res := post(t, url, "old 5\n\n"+string(h.note(5))); res.StatusCode != 500 {
		t.Errorf("loose state: %d", res.StatusCode)
	}
}

func post(t testing.TB, url, body string) *http.Response {
	t.Helper()
	res, err := http.Post(url+"/add-checkpoint", "", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	res.Body = io.NopCloser(bytes.NewReader(data))
	return res
}

// TestStatuses is the table of c2sp.org/tlog-witness.
func TestStatuses(t *testing.T) {
	h := newHistory(t, "e", 20)
	f := openFolder(t, filepath.Join(t.TempDir(), "w"))
	defer f.Close()
	w, url := start(t, f, h)
	if res := post(t, url, "old 0\n\n"+string(h.note(10))); res.StatusCode != 200 {
		t.Fatalf("first: %d", res.StatusCode)
	}
	other, _ := ledger.NewSigner("other.example", key(1))
	foreign, _ := other.Sign(h.head(10))
	bad, _ := ledger.NewSigner(origin, key(9))
	forged, _ := bad.Sign(h.head(11))
	wrong, _ := h.signer.Sign(h.fork(0).head(10))
	line := strings.Repeat("A", 43) + "=\n"
	for name, tc := range map[string]struct {
		body   string
		status int
		answer string
	}{
		"unknown log":         {"old 0\n\n" + string(foreign), 404, ""},
		"unknown key":         {"old 10\n\n" + string(forged), 403, ""},
		"old beyond new":      {"old 11\n\n" + string(h.note(10)), 400, ""},
		"old unknown":         {"old 0\n\n" + string(h.note(12)), 409, "10\n"},
		"smaller":             {"old 5\n\n" + string(h.note(9)), 409, "10\n"},
		"same size, new root": {"old 10\n\n" + string(wrong), 409, "10\n"},
		"no proof":            {"old 10\n\n" + string(h.note(12)), 422, ""},
		"wrong proof":         {"old 10\n" + line + "\n" + string(h.note(12)), 422, ""},
		"proof for the same":  {"old 10\n" + line + "\n" + string(h.note(10)), 422, ""},
		"64 lines":            {"old 10\n" + strings.Repeat(line, 64) + "\n" + string(h.note(12)), 400, ""},
		"leading zero":        {"old 010\n\n" + string(h.note(10)), 400, ""},
		"negative":            {"old -1\n\n" + string(h.note(10)), 400, ""},
		"no old":              {string(h.note(10)), 400, ""},
		"no note":             {"old 10\n\n", 400, ""},
		"empty":               {"", 400, ""},
		"short hash":          {"old 10\nAAAA\n\n" + string(h.note(12)), 400, ""},
		"carriage return":     {"old 10\n" + strings.TrimSuffix(line, "\n") + "\r\n\n" + string(h.note(12)), 400, ""},
		"too long":            {strings.Repeat("x", maxBody+1), 413, ""},
	} {
		res := post(t, url, tc.body)
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != tc.status || tc.status == 409 && (string(body) != tc.answer || res.Header.Get("Content-Type") != "text/x.tlog.size") {
			t.Errorf("%s: %d %q, want %d", name, res.StatusCode, body, tc.status)
		}
	}
	for path, want := range map[string]int{"GET /add-checkpoint": 405, "GET /key": 200, "POST /key": 404, "GET /": 404} {
		method, p, _ := strings.Cut(path, " ")
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, httptest.NewRequest(method, p, nil))
		if rec.Code != want {
			t.Errorf("%s: %d", path, rec.Code)
		}
	}
}

// ask submits as AskWitness does, without HTTP.
func ask(ctx context.Context, w *Witness, h *history, n int) (string, error) {
	old := uint64(0)
	for range 3 {
		proof, err := h.tiles().ConsistencyProof(ctx, min(old, uint64(n)), uint64(n))
		if err != nil {
			return "", err
		}
		lines, size, err := w.add(ctx, request(old, proof, h.note(n)))
		if !errors.Is(err, errConflict) || size > uint64(n) {
			return lines, err
		}
		old = size
	}
	return "", errConflict
}

func request(old uint64, proof []ledger.Hash, note []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", old)
	for _, h := range proof {
		fmt.Fprintf(&b, "%s\n", base64.StdEncoding.EncodeToString(h[:]))
	}
	fmt.Fprintf(&b, "\n%s", note)
	return b.Bytes()
}

func FuzzRequest(f *testing.F) {
	h := newHistory(f, "e", 20)
	f.Add(request(0, nil, h.note(3)))
	f.Add(request(3, []ledger.Hash{{1}, {2}}, h.note(12)))
	f.Fuzz(func(t *testing.T, body []byte) {
		old, proof, raw, err := ledger.ParseWitnessRequest(body)
		if err == nil && !bytes.Equal(request(old, proof, raw), body) {
			t.Error("re-encoding differs")
		}
	})
}
