// Package api serves the registry over HTTP: JSON under /v1, the log under
// /ledger, the key set and the discovery documents under /.well-known, and the
// description of all of it at /openapi.json.
//
// A request that changes something takes one path (admit): the cheap bounds,
// then the proof of possession, then the handle, then one command to the
// writer, then the answer. Cryptography happens outside the writer; what the
// writer decides, it decides on the head of the log, whatever was admitted
// here. Errors have one mapping (errors.go) from what went wrong to status and
// code; what is not in it shows nothing.
//
// Limits of this design. Rates are kept per process and address: behind a
// proxy all callers share the proxy's. The index from metadata digests to tools
// is in memory and bounded (Limits.Digests). A stream that falls behind is cut
// and resumes by its last event id, which loses nothing.
package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// Record is the one way to change and to read the record: *writer.Writer.
type Record interface {
	Do(ctx context.Context, cmd registry.Command) (registry.Outcome, error)
	View() (*writer.Snapshot, error)
	Changed() <-chan struct{}
	Barrier(ctx context.Context) (*writer.Snapshot, error)
}

// Log reads what the record was folded from: any engine of registry/store.
type Log interface {
	Read(ctx context.Context, from uint64, max int) ([][]byte, error)
	Content(ctx context.Context, digest [32]byte) ([]byte, error)
	Note(ctx context.Context, size uint64) (store.Note, error)
	LatestNote(ctx context.Context) (store.Note, error)
}

// Prover proves entries to be in the log: *ledger.Tiles.
type Prover interface {
	InclusionProof(ctx context.Context, index, size uint64) ([]ledger.Hash, error)
}

// Signer signs tokens with the active key of the type's role: *keyring.Ring.
type Signer interface {
	SignToken(typ envelope.Type, claims any) (string, error)
	// Epoch changes whenever any key's state does.
	Epoch() uint64
}

// Keys administers the service's signing keys and publishes them. Rotate and
// Revoke have been authorised when they are called; they record what they did
// in the log. by names the operator, for the reason on record.
type Keys interface {
	Document(ctx context.Context, now time.Time) ([]byte, error)
	// Lowered is a list of lowered labels that a recent document named.
	Lowered(digest credentials.Digest) (labels.Lowered, error)
	List(ctx context.Context) (registry.KeyList, error)
	Rotate(ctx context.Context, by credentials.PrincipalID, req registry.RotateRequest) (registry.KeyChangeResponse, error)
	Revoke(ctx context.Context, by credentials.PrincipalID, kid credentials.KeyID, reason string) (registry.KeyChangeResponse, error)
}

// Proofs checks proofs of possession: *proof.Checker.
type Proofs interface {
	Check(token string, r proof.Request) (proof.Confirmed, error)
	// Nonces makes what the next proof of a key has to carry.
	Nonces() *proof.Nonces
}

// Fetcher is the one bounded fetcher: *fetch.Fetcher.
type Fetcher interface {
	Get(ctx context.Context, rawURL string, types ...string) (*fetch.Response, error)
}

// Options are the settings of a Server. Those of the first block are required.
type Options struct {
	// ExternalURL is the registry's name for everybody: scheme, host and port,
	// no path. It is the issuer and the audience of what is signed and the base
	// that proofs are held against; no header ever changes it.
	ExternalURL string
	Record      Record
	Log         Log
	Prover      Prover
	Signer      Signer
	Verifier    envelope.Verifier // of handles, by the key ring
	Keys        Keys
	Proofs      Proofs

	// Hosts are the values of Host that are answered, beside the external URL's.
	Hosts []string
	// CORSOrigins are web origins whose pages may call, beside those whose
	// topology was read. Never with credentials, never operators' paths.
	CORSOrigins []string
	// Runs are the agents' runs, which stand on the same folder; nil: none do.
	Runs Runs
	// Ledger serves /ledger/; nil: not served.
	Ledger http.Handler
	// Fetcher reads topologies; nil: none is read.
	Fetcher Fetcher
	// Policy is what the writer decides by, told to clients in the discovery
	// document.
	Policy registry.RegistrationPolicy

	// HandleLife is how long a handle lives (default 1 h), LabelLife a label
	// (default 24 h). Both at most 24 h, and at most what the key ring's timing
	// covers for the role: a key stays in the key set as long as what it signed.
	HandleLife time.Duration
	LabelLife  time.Duration

	Limits Limits
	// Observe is told of every request when it has been answered, with the route
	// pattern. Nil: nobody.
	Observe func(route, method string, status int, took time.Duration)

	Now    func() time.Time // nil: time.Now
	Rand   io.Reader        // nil: crypto/rand
	Logger *slog.Logger     // nil: silence
}

// A Server answers for one registry.
type Server struct {
	opt     Options
	log     *slog.Logger
	base    *url.URL
	hosts   map[string]bool
	origins map[string]bool
	routes  *routes
	handles *registry.Handles
	rates   *rates
	slots   chan struct{}
	crowd   crowd // requests by address
	bytes   *budget
	signed  *labelCache
	digests *digestIndex
	streams *hub
}

// New is a server with these options.
func New(opt Options) (*Server, error) {
	if opt.Record == nil || opt.Log == nil || opt.Prover == nil || opt.Signer == nil || opt.Verifier == nil ||
		opt.Keys == nil || opt.Proofs == nil {
		return nil, errors.New("api: Record, Log, Prover, Signer, Verifier, Keys and Proofs are required")
	}
	base, err := externalURL(opt.ExternalURL)
	if err != nil {
		return nil, err
	}
	if opt.HandleLife, err = life("HandleLife", opt.HandleLife, time.Hour, credentials.MaxHandleLife); err != nil {
		return nil, err
	}
	if opt.LabelLife, err = life("LabelLife", opt.LabelLife, credentials.MaxLabelLife, credentials.MaxLabelLife); err != nil {
		return nil, err
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Rand == nil {
		opt.Rand = rand.Reader
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	opt.Limits = opt.Limits.orDefault()
	s := &Server{opt: opt, log: opt.Logger, base: base, hosts: map[string]bool{hostOf(base): true}, origins: map[string]bool{}}
	for _, h := range opt.Hosts {
		s.hosts[strings.ToLower(h)] = true
	}
	for _, o := range opt.CORSOrigins {
		p, err := origin.Parse(o)
		if err != nil || p.Kind() != origin.Web {
			return nil, fmt.Errorf("api: CORS origin %q is no web origin", o)
		}
		s.origins[p.String()] = true
	}
	s.routes = newRoutes()
	rules := registry.HandleRules{Issuer: opt.ExternalURL, Audience: opt.ExternalURL}
	s.handles = registry.NewHandles(opt.Verifier, rules, opt.Signer.Epoch, opt.Now)
	s.rates = newRates(opt.Limits, opt.Now)
	s.slots = make(chan struct{}, opt.Limits.Requests)
	s.crowd.most = max(1, opt.Limits.Requests/2)
	s.bytes = newBudget(opt.Limits.BodyBytes)
	s.signed = newLabelCache(opt.Limits.Labels)
	s.digests = &digestIndex{limit: opt.Limits.Digests}
	s.streams = newHub(s)
	return s, nil
}

// externalURL takes only the one text form, since it is compared byte by byte
// in every token.
func externalURL(raw string) (*url.URL, error) {
	o, err := origin.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("api: external URL: %w", err)
	}
	if o.Kind() != origin.Web || o.String() != raw {
		return nil, fmt.Errorf("api: external URL must be written %q", o.String())
	}
	return url.Parse(raw)
}

func hostOf(u *url.URL) string { return strings.ToLower(u.Host) }

func life(name string, d, dflt, most time.Duration) (time.Duration, error) {
	if d == 0 {
		d = dflt
	}
	if d < time.Minute || d > most {
		return 0, fmt.Errorf("api: %s is from one minute to %v", name, most)
	}
	return d, nil
}

// Handler answers all paths of the API.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// HTTPServer is an http.Server for the handler with the bounds that the
// handler itself cannot set. The caller listens and shuts it down, after
// Shutdown here.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       s.opt.Limits.ReadTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    s.opt.Limits.HeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// Shutdown ends all streams, so that http.Server.Shutdown does not wait for
// them, and waits until they have ended or ctx does.
func (s *Server) Shutdown(ctx context.Context) error { return s.streams.shutdown(ctx) }
