package writer_test

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// The test binary runs itself as other processes on one folder.
const (
	childMode = "PRATIQUE_WRITER_CHILD" // flood: 8 writers; some: 4 writers; pace: 50 commands a second
	childDir  = "PRATIQUE_WRITER_DIR"
	childName = "PRATIQUE_WRITER_NAME"
	childArg  = "PRATIQUE_WRITER_COUNT" // commands of each writer; 0 is for ever
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := child(mode); err != nil {
			fmt.Println("ERR", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child registers tools and prints "ack INDEX COMMAND MICROSECONDS" for each
// command that was acknowledged.
func child(mode string) error {
	count := 0
	fmt.Sscan(os.Getenv(childArg), &count)
	l, err := sqlite.Open(ctx, os.Getenv(childDir), nil)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := ledger.NewSigner("registry.example/log", logKey)
	if err != nil {
		return err
	}
	w, err := writer.Open(ctx, writer.Options{Store: l, Policy: registry.PolicyOpen, Checkpoints: func() (*ledger.Signer, error) { return s, nil }})
	if err != nil {
		return err
	}
	defer w.Close()
	_, private, _ := ed25519.GenerateKey(rand.Reader)
	k, err := envelope.NewKey(private.Public())
	if err != nil {
		return err
	}
	p := party{private, k}
	fmt.Println("ready")
	if mode == "pace" {
		bufio.NewReader(os.Stdin).ReadString('\n') // all start together
	}
	var out sync.Mutex
	var wg sync.WaitGroup
	writers := map[string]int{"flood": 8, "some": 4, "pace": 1}[mode]
	errs := make(chan error, writers)
	for n := range writers {
		wg.Go(func() {
			next := time.Now()
			for i := 0; count == 0 || i < count; i++ {
				name := fmt.Sprintf("%s-%d-%d", os.Getenv(childName), n, i)
				c := p.register(fmt.Sprintf("https://o%d.example", i/1000), registry.Item{Name: name, Digest: credentials.Digest(sha256.Sum256([]byte(name))), Canonical: []byte(name)})
				began := time.Now()
				o, err := w.Do(ctx, c)
				if err != nil {
					errs <- err
					return
				}
				out.Lock()
				fmt.Println("ack", o.Index, c.ID, time.Since(began).Microseconds())
				out.Unlock()
				if mode == "pace" { // a slow command does not slow the rate asked for
					next = next.Add(20 * time.Millisecond)
					time.Sleep(time.Until(next))
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// process is a running child.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	err bytes.Buffer
}

func startChild(t testing.TB, mode, dir, name string, count int) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir, childName+"="+name, fmt.Sprintf("%s=%d", childArg, count))
	p.cmd.Stderr = &p.err
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.out = bufio.NewScanner(out)
	if !p.out.Scan() || p.out.Text() != "ready" {
		t.Fatalf("child says %q %s", p.out.Text(), p.err.String())
	}
	return p
}

func (p *process) kill() { p.cmd.Process.Kill() }

// acks hands each acknowledgement to each, until the child ends or each says
// stop.
func (p *process) acks(each func(index uint64, id registry.CommandID, took time.Duration) bool) {
	for p.out.Scan() {
		var at uint64
		var id string
		var us int64
		if strings.HasPrefix(p.out.Text(), "ERR") {
			p.t.Errorf("child: %s", p.out.Text())
			continue
		}
		if k, _ := fmt.Sscanf(p.out.Text(), "ack %d %s %d", &at, &id, &us); k != 3 {
			continue // cut short by the kill
		}
		if !each(at, registry.CommandID(id), time.Duration(us)*time.Microsecond) {
			return
		}
	}
}
