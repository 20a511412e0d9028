package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

// Tries is how often each attack is tried.
const Tries = 20

// leastTools is how many tools the story needs: each part plays on tools of its
// own.
const leastTools = 5 * Tries

// site is the origin that the tools are registered at.
const site = "https://tools.example"

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// readTools reads an MCP tools/list result or an array of tools.
func readTools(path string) ([]jsontext.Value, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []jsontext.Value
	if jsontext.Value(raw).Kind() == '{' {
		var o struct {
			Tools []jsontext.Value `json:"tools"`
		}
		err = json.Unmarshal(raw, &o)
		list = o.Tools
	} else {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no list of tools: %w", path, err)
	}
	if len(list) < leastTools {
		return nil, fmt.Errorf("%s lists %d tools; the story needs %d", path, len(list), leastTools)
	}
	return list, nil
}

// A clock is real time and what the story has put it forward by: keys retire
// after a day.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// A story is a running registry with everybody in it.
type story struct {
	clock    clock
	node     *node.Node
	owner    *client.Actor
	operator *client.Actor
	thief    *client.Actor
	thiefKey *keyring.Private
	wire     *wire // the owner's way to the registry, which somebody sits on
	tools    []client.Handle
	names    []string        // of tools
	mine     []client.Handle // the thief's own tools
	foreign  []client.Handle // handles that a twin of the registry issued to the thief
	stop     []func() error
}

// Tell tells the whole story in a folder of its own.
func Tell(ctx context.Context, dir string, tools []jsontext.Value) (r Report, err error) {
	s := &story{}
	defer func() {
		for _, stop := range s.stop {
			err = errors.Join(err, stop())
		}
	}()
	if err := s.begin(ctx, dir, tools, &r); err != nil {
		return r, err
	}
	for _, a := range attacks {
		if a.before != nil {
			if err := a.before(ctx, s); err != nil {
				return r, fmt.Errorf("before %s: %w", a.name, err)
			}
		}
		row, err := s.try(ctx, a)
		if err != nil {
			return r, err
		}
		r.Rows = append(r.Rows, row)
	}
	if r.Untouched, err = s.untouched(ctx); err != nil {
		return r, err
	}
	rep, err := node.VerifyLedger(ctx, node.Config{Data: filepath.Join(dir, "data")}, node.Options{Now: s.clock.now}, nil)
	r.LogGood = err == nil && !rep.Tampered() && !rep.Torn()
	return r, err
}

// begin starts the registries, makes the keys, and registers the tools in one
// request.
func (s *story) begin(ctx context.Context, dir string, tools []jsontext.Value, r *Report) error {
	data := filepath.Join(dir, "data")
	var err error
	if s.node, err = s.start(ctx, data); err != nil {
		return err
	}
	if err := s.people(); err != nil {
		return err
	}
	if s.tools, err = register(ctx, s.owner, site, tools); err != nil {
		return err
	}
	r.Registered, r.Requests = len(s.tools), 1
	for _, t := range tools {
		var n struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(t, &n); err != nil {
			return err
		}
		s.names = append(s.names, n.Name)
	}
	if s.mine, err = register(ctx, s.thief, "https://thief.example", tools[:Tries]); err != nil {
		return err
	}
	return s.startTwin(ctx, data, filepath.Join(dir, "twin"), tools[:Tries])
}

func (s *story) start(ctx context.Context, data string) (*node.Node, error) {
	n, err := node.Open(ctx, node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}, node.Options{Now: s.clock.now})
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- n.Serve(run) }()
	select {
	case <-n.Ready():
	case err := <-served:
		cancel()
		return nil, errors.Join(err, n.Close())
	}
	s.stop = append(s.stop, func() error {
		cancel()
		return errors.Join(<-served, n.Close())
	})
	return n, nil
}

// startTwin starts another registry whose signing keys are a copy of the first
// one's: what it issues is signed well, and is for another audience. No real
// operator would do that; it leaves the audience as the only thing that differs.
func (s *story) startTwin(ctx context.Context, data, twin string, tools []jsontext.Value) error {
	if err := copyKeys(filepath.Join(data, "keys"), twin); err != nil {
		return err
	}
	n, err := s.start(ctx, twin)
	if err != nil {
		return err
	}
	there, err := s.actor(n.URL(), s.thiefKey, nil)
	if err != nil {
		return err
	}
	s.foreign, err = register(ctx, there, site, tools)
	return err
}

// copyKeys copies a key ring into a new data folder.
func copyKeys(from, data string) error {
	to := filepath.Join(data, "keys")
	if err := errors.Join(os.Mkdir(data, 0o700), os.Mkdir(to, 0o700)); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// people makes the keys of everybody; the operator's was made at the start.
func (s *story) people() error {
	operator, err := keyring.LoadKeyFile(s.node.OperatorKeyFile(), secret.Value{})
	if err != nil {
		return err
	}
	owner, err := keyring.NewPrivate(envelope.EdDSA, rand.Reader)
	if err != nil {
		return err
	}
	if s.thiefKey, err = keyring.NewPrivate(envelope.EdDSA, rand.Reader); err != nil {
		return err
	}
	s.wire = &wire{}
	url := s.node.URL()
	var errs [3]error
	s.operator, errs[0] = s.actor(url, operator, nil)
	s.owner, errs[1] = s.actor(url, owner, s.wire)
	s.thief, errs[2] = s.actor(url, s.thiefKey, nil)
	return errors.Join(errs[:]...)
}

func (s *story) actor(url string, key *keyring.Private, way http.RoundTripper) (*client.Actor, error) {
	c, err := client.New(url, &client.Options{Network: client.Network{Now: s.clock.now, Transport: way}})
	if err != nil {
		return nil, err
	}
	s.stop = append([]func() error{func() error { c.Close(); return nil }}, s.stop...)
	return c.As(key)
}

// register registers tools and gives their handles.
func register(ctx context.Context, a *client.Actor, origin string, tools []jsontext.Value) ([]client.Handle, error) {
	res, err := a.Register(ctx, registry.RegisterRequest{Origin: origin, Tools: tools})
	if err != nil {
		return nil, fmt.Errorf("registering at %s: %w", origin, err)
	}
	var out []client.Handle
	for _, v := range res.Tools {
		h, err := client.ParseHandle(v.Handle)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// untouched reports whether the tools that were attacked are still what their
// owner registered.
func (s *story) untouched(ctx context.Context) (bool, error) {
	for _, h := range s.tools[:Tries] {
		v, err := s.owner.Client().Tool(ctx, h.Tool)
		if err != nil {
			return false, err
		}
		if v.Digest != h.Base || v.Owner != s.owner.ID() || v.Status != "live" || v.Version != 1 {
			return false, nil
		}
	}
	return true, nil
}
