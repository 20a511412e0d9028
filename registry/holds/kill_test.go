package holds_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry/holds"
)

const childFolder, childNumber = "PRATIQUE_TEST_HOLDS", "PRATIQUE_TEST_HOLDS_N"

// TestMain becomes a process that holds and releases where a test asks for it.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		if err := child(dir, os.Getenv(childNumber)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childOptions are the same in parent and children: the operator's key lies beside
// the folder.
func childOptions(dir string) (holds.Options, *envelope.Signer, error) {
	key, err := keyring.LoadKeyFile(dir+".jwk", secret.Value{})
	if err != nil {
		return holds.Options{}, nil, err
	}
	sign, err := envelope.NewSigner(envelope.OperatorAct, key)
	return holds.Options{Key: bytes.Repeat([]byte{7}, holds.KeySize), Audience: "x", Count: 80,
		Operators: envelope.NewVerifier(envelope.KeysFunc(func(envelope.Type, credentials.KeyID) (envelope.Key, error) { return key.Key(), nil }))}, sign, err
}

// child holds, releases and condemns until it is killed, and says what was
// acknowledged.
func child(dir, number string) error {
	o, sign, err := childOptions(dir)
	if err != nil {
		return err
	}
	s, err := holds.Open(dir, o)
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := 0; ; i++ {
		content := number + "/" + strconv.Itoa(i)
		h, err := s.Put(ctx, hold(func(h *holds.Hold) { h.Tool = credentials.ToolID("tool_" + content) }), []byte(content))
		if err != nil {
			return err
		}
		fmt.Println("put", content)
		for n, op := range []string{holds.OpRelease, holds.OpCondemn, holds.OpRelease} {
			if n > i%4-1 {
				break
			}
			token, err := s.Sign(sign, op, h.Subject, false)
			if err != nil {
				return err
			}
			take := s.Release
			if op == holds.OpCondemn {
				take = s.Condemn
			}
			fmt.Println("before", op, content)
			if _, err := take(ctx, token); errors.Is(err, holds.ErrMissing) {
				break // the other process pushed it out meanwhile, as the bounds say
			} else if err != nil {
				return err
			}
			fmt.Println("after", op, content)
		}
	}
}

// TestKill9: processes that are killed at any moment leave a folder that reads
// whole: what was acknowledged stands, what was not is as before or as after.
func TestKill9(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "holds")
	if _, err := keyring.NewKeyFile(dir+".jwk", envelope.EdDSA, secret.Value{}, nil); err != nil {
		t.Fatal(err)
	}
	sure := map[string]string{} // content: the act that was acknowledged last
	doubt := map[string]string{}
	for round := range 6 {
		var outs [2]bytes.Buffer
		var cmds [2]*exec.Cmd
		for i := range cmds {
			cmds[i] = exec.Command(os.Args[0])
			cmds[i].Env = append(os.Environ(), childFolder+"="+dir, fmt.Sprintf("%s=%d-%d", childNumber, round, i))
			cmds[i].Stdout = &outs[i]
			if err := cmds[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(100*time.Millisecond + time.Duration(rand.IntN(200_000))*time.Microsecond)
		for i := range cmds {
			_ = cmds[i].Process.Kill()
			_ = cmds[i].Wait()
			for l := bufio.NewScanner(&outs[i]); l.Scan(); {
				w := strings.Fields(l.Text())
				switch {
				case w[0] == "error" || w[0] == "panic:":
					t.Fatalf("a child failed: %s", l.Text())
				case len(w) == 3 && w[0] == "before":
					doubt[w[2]] = w[1]
				case len(w) == 3 && w[0] == "after":
					sure[w[2]] = w[1]
					delete(doubt, w[2])
				}
			}
		}
		o, _, err := childOptions(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := holds.Open(dir, o)
		if err != nil || s.Err() != nil {
			t.Fatal(err, s.Err())
		}
		list, err := s.List()
		if err != nil || len(list) > 20 {
			t.Fatalf("%d holds: %v", len(list), err)
		}
		for _, h := range list {
			if _, err := s.Content(h.ID); err != nil {
				t.Error(err)
			}
		}
		for content, op := range sure {
			sub := hold().Subject
			sub.Tool, sub.Digest = credentials.ToolID("tool_"+content), holds.Digest([]byte(content))
			st, err := s.State(sub)
			if err != nil || st.Op != op && st.Op != doubt[content] {
				t.Errorf("%s: %q, acknowledged was %q", content, st.Op, op)
			}
		}
	}
	if len(sure) < 5 {
		t.Errorf("%d acts only", len(sure))
	}
}
