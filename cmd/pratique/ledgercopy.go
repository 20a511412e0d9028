package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/ledger/witness"
	"github.com/pratique-dev/pratique/registry/node"
)

// publishOutput says which checkpoint is where now.
type publishOutput struct {
	Size   uint64   `json:"size" doc:"entries that the checkpoint covers"`
	Root   string   `json:"root"`
	Places []string `json:"places"`
}

func (o publishOutput) show(w io.Writer) {
	fmt.Fprintf(w, "checkpoint of %d entries is at %s\n", o.Size, strings.Join(o.Places, ", "))
}

func publishLedger(c *call) (any, error) {
	which, err := c.exactlyOne("data", "registry")
	if err != nil {
		return nil, err
	}
	if which == "registry" {
		s, err := c.openServed()
		if err != nil {
			return nil, err
		}
		out, err := c.copyTo(s.cp.Note)
		if err == nil {
			err = s.remember(c)
		}
		return out, err
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		note, err := n.Store().LatestNote(c)
		if err != nil {
			return nil, err
		}
		return c.copyTo(note.Text)
	})
}

// copyTo copies a checkpoint that was verified to the places of --to. A place
// that holds a newer one keeps it.
func (c *call) copyTo(note []byte) (any, error) {
	_, h, err := ledger.ParseUnverified(note)
	if err != nil {
		return nil, err
	}
	copies := &ledger.Copies{HTTP: c.httpClient()}
	for _, p := range c.strs("to") {
		if strings.HasPrefix(p, "https://") || strings.HasPrefix(p, "http://") {
			copies.URLs = append(copies.URLs, p)
		} else {
			copies.Files = append(copies.Files, p)
		}
	}
	if err := copies.Publish(c, note); err != nil {
		return nil, err
	}
	return publishOutput{h.Size, rootText(h.Root), c.strs("to")}, nil
}

func witnessVerb() verb {
	return verb{
		name: "witness", usage: "run a witness that cosigns what provably extends what it cosigned before",
		about: "Run it on another machine than the registry. Its key and its memory are in one folder and belong together: a witness that has forgotten would cosign a second history.",
		flags: []*option{
			{name: "state", arg: "DIR", usage: "folder of its key and memory, made at the first start", required: true},
			{name: "name", arg: "NAME", usage: "name that its cosignatures carry, such as witness.example/w1", required: true},
			{name: "log", arg: "VKEY", usage: "verifier key of a log, as pratique up prints it; several of one log while its key is rotated", kind: many, required: true},
			{name: "listen", arg: "ADDR", usage: "address", def: "127.0.0.1:7421"},
		},
		out: witnessOutput{}, run: runWitness,
	}
}

// witnessOutput is printed once, when the witness answers.
type witnessOutput struct {
	Witness string `json:"witness" doc:"base URL of its API (C2SP tlog-witness)"`
	Key     string `json:"key" doc:"its verifier key, for ledger.witnesses of the registry"`
	State   string `json:"state"`
}

func (o witnessOutput) show(w io.Writer) {
	pairs(w, "witness", o.Witness, "key", o.Key, "state", o.State)
	fmt.Fprintln(w, "ready; stop with Ctrl-C")
}

func runWitness(c *call) (any, error) {
	byLog := map[string][]string{}
	for _, v := range c.strs("log") {
		name, _, _ := strings.Cut(v, "+")
		byLog[name] = append(byLog[name], v)
	}
	var policies []ledger.Policy
	for _, vkeys := range byLog {
		p, err := ledger.NewPolicy(vkeys...)
		if err != nil {
			return nil, usagef("--log: %v", err)
		}
		policies = append(policies, p)
	}
	dir := c.str("state")
	if err := makeParents(dir); err != nil {
		return nil, err
	}
	folder, err := witness.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	key, err := witnessKey(filepath.Join(dir, "witness.jwk"))
	if err != nil {
		return nil, err
	}
	cosigner, err := ledger.NewCosigner(c.str("name"), key, c.now)
	if err != nil {
		return nil, usagef("--name: %v", err)
	}
	w, err := witness.New(c, cosigner, folder, policies...)
	if err != nil {
		return nil, err
	}
	return nil, c.serveWitness(w, cosigner.VerifierKey())
}

func witnessKey(path string) (*keyring.Private, error) {
	k, err := keyring.LoadKeyFile(path, secret.Value{})
	if errors.Is(err, fs.ErrNotExist) {
		return keyring.NewKeyFile(path, envelope.EdDSA, secret.Value{}, rand.Reader)
	}
	return k, err
}

func (c *call) serveWitness(h http.Handler, vkey string) error {
	l, err := net.Listen("tcp", c.str("listen"))
	if err != nil {
		return &coded{exitConflict, err}
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	if err := c.show(witnessOutput{"http://" + l.Addr().String(), vkey, c.str("state")}); err != nil {
		return errors.Join(err, srv.Close())
	}
	select {
	case err := <-served:
		return err
	case <-c.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(c), 5*time.Second)
	defer cancel()
	return srv.Shutdown(end)
}
