package writer_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

const site = "https://tools.example"

// checkpoints signs with one fixed key.
func checkpoints(t testing.TB) func() (*ledger.Signer, error) {
	t.Helper()
	seed := sha256.Sum256([]byte("checkpoint key of the writer's tests"))
	s, err := ledger.NewSigner("registry.example/log", ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	return func() (*ledger.Signer, error) { return s, nil }
}

func openLog(t testing.TB, dir string) *sqlite.Log {
	t.Helper()
	l, err := sqlite.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func openWriter(t testing.TB, l writer.Log) *writer.Writer {
	t.Helper()
	w, err := writer.Open(context.Background(), writer.Options{Store: l, Checkpoints: checkpoints(t), Policy: registry.PolicyOpen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

type party struct {
	key envelope.Key
}

func newParty(t testing.TB) party {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return party{k}
}

func item(t testing.TB, name, text string) registry.Item {
	t.Helper()
	c, d, err := canon.Metadata(fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text))
	if err != nil {
		t.Fatal(err)
	}
	return registry.Item{Name: name, Digest: d, Canonical: c}
}

func id() registry.CommandID {
	var b [16]byte
	rand.Read(b[:])
	return registry.CommandID(base64.RawURLEncoding.EncodeToString(b[:]))
}

func (p party) register(t testing.TB, origin string, items ...registry.Item) *registry.Register {
	c := &registry.Register{JWK: p.key.JWK(), Origin: origin, Items: items}
	c.ID, c.Caller = id(), registry.UnsafeLocal(p.key.ID)
	c.Req = sha256.Sum256([]byte(c.ID))
	for range items {
		c.IDs = append(c.IDs, credentials.ToolID("tool_"+ulid.Make().String()))
	}
	return c
}

func TestRegisterAndFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	l := openLog(t, dir)
	w := openWriter(t, l)
	other := openWriter(t, openLog(t, dir)) // another process, as far as the log can tell
	a, b := newParty(t), newParty(t)
	ctx := context.Background()

	c := a.register(t, site, item(t, "pay", "Pays."), item(t, "refund", "Pays back."))
	out, err := w.Do(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Events) != 3 { // the principal and two tools
		t.Fatalf("%d events", len(out.Events))
	}
	again, err := w.Do(ctx, c)
	if err != nil || !again.Replay || again.Index != out.Index || len(again.Events) != 3 {
		t.Fatalf("retry: %+v, %v", again, err)
	}
	v, err := other.Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.Named(site, "pay")
	if err != nil || x.Owner != a.key.ID {
		t.Fatalf("the other writer sees %+v, %v", x, err)
	}
	if _, err := other.Do(ctx, b.register(t, site, item(t, "pay", "Steals."))); !errors.Is(err, registry.ErrNameTaken) {
		t.Fatalf("second claimant: %v", err)
	}
	v, err = w.Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for c := range v.Contests(site) {
		if c.Claimant != b.key.ID || c.Holder != x.Row.Tool {
			t.Errorf("contest %+v", c)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d contests on record", n)
	}
}

func TestTwoWritersNeverShareAName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	ws := []*writer.Writer{openWriter(t, openLog(t, dir)), openWriter(t, openLog(t, dir)), openWriter(t, openLog(t, dir))}
	const names = 40
	won := make([][]int, names)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, w := range ws {
		p := newParty(t)
		wg.Go(func() {
			for n := range names {
				_, err := w.Do(context.Background(), p.register(t, site, item(t, fmt.Sprintf("tool-%d", n), "x")))
				switch {
				case err == nil:
					mu.Lock()
					won[n] = append(won[n], i)
					mu.Unlock()
				case !errors.Is(err, registry.ErrNameTaken):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for n, who := range won {
		if len(who) != 1 {
			t.Errorf("name %d was won by %v", n, who)
		}
	}
	for _, w := range ws {
		v, err := w.Barrier(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		live := 0
		for x := range v.AtOrigin(site, "") {
			if x.Live {
				live++
			}
		}
		if live != names {
			t.Errorf("%d live tools", live)
		}
	}
}
