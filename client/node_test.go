package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

const nodeSite = "https://tools.example"

// startNode opens and serves a node on loopback until the test ends.
func startNode(t *testing.T, cfg node.Config) *node.Node {
	t.Helper()
	n, stop := startStoppable(t, cfg)
	t.Cleanup(stop)
	return n
}

func startStoppable(t *testing.T, cfg node.Config) (*node.Node, func()) {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	n, err := node.Open(context.Background(), cfg, node.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	<-n.Ready()
	stopped := false
	return n, func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func nodeActor(t *testing.T, n *node.Node, keyFile string) *client.Actor {
	t.Helper()
	key, err := keyring.LoadKeyFile(keyFile, secret.Value{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(n.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a, err := c.As(key)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newNodeActor(t *testing.T, n *node.Node) *client.Actor {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.jwk")
	if _, err := keyring.NewKeyFile(path, "EdDSA", secret.Value{}, nil); err != nil {
		t.Fatal(err)
	}
	return nodeActor(t, n, path)
}

func nodeTool(name, text string) jsontext.Value {
	return jsontext.Value(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text))
}

func TestFirstStartRegisterAndRestart(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	ctx := context.Background()
	n, stop := startStoppable(t, node.Config{Data: data})
	if fi, err := os.Stat(n.OperatorKeyFile()); err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("operator's key: %v %v", fi, err)
	}
	owner, thief := newNodeActor(t, n), newNodeActor(t, n)
	res, err := owner.Register(ctx, registry.RegisterRequest{Origin: nodeSite, Tools: []jsontext.Value{nodeTool("pay", "Pays."), nodeTool("refund", "Pays back.")}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := client.ParseHandle(res.Tools[0].Handle)
	if err != nil {
		t.Fatal(err)
	}
	_, err = thief.Register(ctx, registry.RegisterRequest{Origin: nodeSite, Tools: []jsontext.Value{nodeTool("pay", "Steals.")}})
	if !errors.Is(err, registry.ErrNameTaken) {
		t.Errorf("second claimant: %v", err)
	}
	if _, err := thief.Overwrite(ctx, h, nodeTool("pay", "Steals.")); err == nil {
		t.Error("a stolen handle overwrote the tool")
	}
	h2, err := owner.Overwrite(ctx, h, nodeTool("pay", "Pays quickly."))
	if err != nil {
		t.Fatal(err)
	}
	if h2.Version != 2 {
		t.Errorf("version %d", h2.Version)
	}
	op := nodeActor(t, n, n.OperatorKeyFile())
	if _, err := op.RotateKeys(ctx, "", false); err != nil {
		t.Errorf("first rotation: %v", err)
	}
	resp, err := http.Get(n.AdminURL() + "/readyz?verbose")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("readyz: %v %v", resp, err)
	}
	if err == nil {
		resp.Body.Close()
	}
	stop()

	n = startNode(t, node.Config{Data: data})
	c, err := client.New(n.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Tool(ctx, res.Tools[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if x.Version != 2 || x.Owner != owner.ID() {
		t.Errorf("after the restart: %+v", x)
	}
}

// TestEventsHoldNoSecrets: the registry log is for everybody, so nothing in it
// may be of use to anybody (RULES.md 29): no handle, no agent's credential, no
// private key member.
func TestEventsHoldNoSecrets(t *testing.T) {
	ctx := context.Background()
	n := startNode(t, node.Config{Data: filepath.Join(t.TempDir(), "data")})
	owner, friend := newNodeActor(t, n), newNodeActor(t, n)
	res, err := owner.Register(ctx, registry.RegisterRequest{Origin: nodeSite, Tools: []jsontext.Value{nodeTool("pay", "Pays.")}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := client.ParseHandle(res.Tools[0].Handle)
	if err != nil {
		t.Fatal(err)
	}
	d, err := owner.Delegate(ctx, h, friend.JWK(), []credentials.Action{credentials.Overwrite}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	agent, err := nodeActor(t, n, n.OperatorKeyFile()).CreateAgent(ctx, "reader", "personal")
	if err != nil {
		t.Fatal(err)
	}
	view, err := n.Record().Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := n.Store().Read(ctx, 0, int(view.Head.Size))
	if err != nil || len(entries) < 5 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, secret := range []string{res.Tools[0].Handle, d.Handle, agent.Credential, `"d":`, `"k":`} {
		if secret == "" {
			t.Fatal("nothing to look for")
		}
		for i, e := range entries {
			if bytes.Contains(e, []byte(secret)) {
				t.Errorf("entry %d holds %.12q…", i, secret)
			}
		}
	}
}
