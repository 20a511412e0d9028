package node

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// Options are what a program hands to a node, beside its configuration.
type Options struct {
	Logger  *slog.Logger     // nil: silence
	Now     func() time.Time // nil: time.Now
	Rand    io.Reader        // nil: crypto/rand
	Version string           // shown at /readyz?verbose
	// ScryptWork is the base-2 logarithm of scrypt's cost when keys are made under
	// a passphrase; zero is age's default. Less is for tests.
	ScryptWork int
	// Offline opens the folder for an act of the command line: nothing is
	// listened on, no operator key is made.
	Offline bool
	// Quiet listens on nothing: for a gateway whose agent is on stdio. The folder
	// is made where it is missing; one that is there keeps its issuer.
	Quiet bool
	// AnchorEvery is how often the registry's log says where the decision log of
	// this process stands. Zero is 10 s; less is never, for tests.
	AnchorEvery time.Duration
	// Inspector judges what is registered. Nil: nobody does, and its content stays
	// uninspected until an operator releases it.
	Inspector quarantine.Inspector
	// Checks are further lines of /readyz, about what the program has beside the
	// node.
	Checks []func() Check
}

// A Node is an open data folder.
type Node struct {
	cfg      Config
	opt      Options
	log      *slog.Logger
	external string
	listener net.Listener
	admin    net.Listener

	store  *sqlite.Log
	ring   *keyring.Ring
	record *writer.Writer
	keys   *Keys
	tiles  *ledger.Tiles
	board  *ledger.Board
	copies *ledger.Copies
	ckpt   *checkpointSigner
	fetch  *fetch.Fetcher

	mounts   []Mount
	decided  decided
	held     sync.Once // opens runs
	runs     *runs.Store
	runsErr  error
	accounts accounts
	operator string // file of the operator's key, where it exists
	ready    chan struct{}
	metrics  *metrics
	close    sync.Once
	snapped  uint64 // size at the newest snapshot; the keeper's
}

// Open opens the data folder and makes what is missing on the first start:
// the folder, the key ring, an operator's key. It refuses a log that is shorter
// than, or contradicts, a checkpoint kept outside the store.
func Open(ctx context.Context, cfg Config, opt Options) (_ *Node, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	n := closed(cfg, opt)
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if err := durable.MkdirPrivate(n.cfg.Data); err != nil {
		return nil, err
	}
	unlock, err := n.lockFirstStart()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := n.listen(); err != nil {
		return nil, err
	}
	pass, err := n.passphrase()
	if err != nil {
		return nil, err
	}
	if err := n.openKeys(pass); err != nil {
		return nil, err
	}
	if err := n.openLog(ctx); err != nil {
		return nil, err
	}
	if err := n.openRecord(ctx); err != nil {
		return nil, err
	}
	if err := n.openFetcher(); err != nil {
		return nil, err
	}
	if opt.Offline {
		return n, nil
	}
	if err := n.checkAnchors(ctx); err != nil {
		return nil, err
	}
	if !opt.Quiet {
		n.metrics = newMetrics(n)
	}
	return n, n.firstOperator(ctx, pass)
}

// closed is a node of which nothing is open yet.
func closed(cfg Config, opt Options) *Node {
	n := &Node{cfg: cfg.WithDefaults(), opt: opt, log: opt.Logger, ready: make(chan struct{}), board: &ledger.Board{}}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	if n.opt.Now == nil {
		n.opt.Now = time.Now
	}
	if n.opt.Rand == nil {
		n.opt.Rand = rand.Reader
	}
	return n
}

// listen takes the addresses first: with port 0 the external URL follows from
// it, and what is signed names that URL.
func (n *Node) listen() (err error) {
	n.external = n.cfg.External
	if n.opt.Offline || n.opt.Quiet {
		if n.external == "" {
			n.external = "http://" + n.cfg.Listen
		}
		return nil
	}
	if n.listener, err = net.Listen("tcp", n.cfg.Listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if n.cfg.Admin != "off" {
		if n.admin, err = net.Listen("tcp", n.cfg.Admin); err != nil {
			return fmt.Errorf("listen for administration: %w", err)
		}
	}
	if n.external == "" {
		n.external = "http://" + n.listener.Addr().String()
	}
	return nil
}

func (n *Node) passphrase() (secret.Value, error) {
	if n.cfg.Passphrase == "" {
		return secret.Value{}, nil
	}
	return keyring.ReadPassphraseFile(n.cfg.Passphrase)
}

func (n *Node) openKeys(pass secret.Value) error {
	algs := map[keyring.Role]envelope.Alg{}
	for r, a := range n.cfg.Keys.Algorithms {
		algs[keyring.Role(r)] = envelope.Alg(a)
	}
	o := keyring.Options{
		Create: true, Issuer: n.external, Passphrase: pass, Timing: n.cfg.timing(), Algs: algs,
		WorkFactor: n.opt.ScryptWork, Now: n.opt.Now, Rand: n.opt.Rand,
	}
	if n.opt.Offline {
		o.Issuer = "" // an act on the folder does not rename the registry
	}
	// A log without its keys is damage, not a first start: new keys would
	// disown every label and checkpoint that exists.
	if _, err := os.Stat(n.cfg.path(logFolder)); err == nil {
		o.Create = false
		if n.opt.Quiet {
			o.Issuer = "" // what it is called is for whoever serves it to say
		}
	} else if n.opt.Offline {
		return fmt.Errorf("%w: %s", store.ErrNotFound, n.cfg.path(logFolder))
	}
	ring, err := keyring.Open(n.cfg.path(keysFolder), o)
	if err != nil {
		return err
	}
	n.ring = ring
	return nil
}

func (n *Node) openLog(ctx context.Context) error {
	l, err := sqlite.Open(ctx, n.cfg.path(logFolder), &sqlite.Options{Now: n.opt.Now, Existing: n.opt.Offline})
	if err != nil {
		return err
	}
	n.store = l
	if r, ok := l.Recovered(); ok {
		n.log.Warn("the end of the log was torn by a crash and has been repaired", "kind", r.Kind, "bytes", r.Bytes, "size", r.Head.Size)
	}
	name, err := logOrigin(ctx, l, n.ring)
	if err != nil {
		return err
	}
	n.ckpt = &checkpointSigner{ring: n.ring, origin: name}
	n.tiles = ledger.NewTiles(l, nil)
	files, urls := n.cfg.copies()
	n.copies = &ledger.Copies{Files: files, URLs: urls}
	return n.checkKnown(ctx, name)
}

// logOrigin is the name of the log: that of its checkpoints, or a new one.
func logOrigin(ctx context.Context, l *sqlite.Log, ring *keyring.Ring) (string, error) {
	note, err := l.LatestNote(ctx)
	if err == nil {
		name, _, err := ledger.ParseUnverified(note.Text)
		return name, err
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	_, key, err := ring.Signer(credentials.RoleCheckpoint)
	if err != nil {
		return "", err
	}
	return "pratique-registry/" + string(key.ID), nil
}

// checkKnown stops the start on a log that is older than what is known of it
// elsewhere (RULES.md 28).
func (n *Node) checkKnown(ctx context.Context, name string) error {
	policy, err := ledgerPolicy(n.ring, name)
	if err != nil {
		return err
	}
	known, err := n.copies.Known(ctx, policy)
	if err != nil {
		return err
	}
	h, err := n.store.Head(ctx)
	if err != nil {
		return err
	}
	return ledger.CheckKnown(ctx, n.tiles, ledger.Head(h), known...)
}

func (n *Node) openRecord(ctx context.Context) error {
	k := &Keys{ring: n.ring, log: n.store, now: n.opt.Now, rand: n.opt.Rand}
	k.lists.dir = n.cfg.path(loweredFolder)
	snap := snapshotKeys{n.ring}
	w, err := writer.Open(ctx, writer.Options{
		Store: n.store, Checkpoints: n.ckpt.current, Before: k.before,
		Snapshot: &writer.Snapshots{Path: n.cfg.path(snapshotFile), Sign: snap.sign, Verify: snap.verify},
		Policy:   n.cfg.policy(n.external), Quotas: n.cfg.quotas(),
		Now: n.opt.Now, Rand: n.opt.Rand, Logger: n.log,
	})
	if err != nil {
		return err
	}
	n.record, k.record, n.keys = w, w, k
	if _, err := k.catchUp(ctx, ""); err != nil {
		return fmt.Errorf("recording the keys in the log: %w", err)
	}
	return nil
}

func (n *Node) openFetcher() error {
	o := &fetch.Options{}
	for _, p := range n.cfg.Fetch.AllowPrivate {
		o.AllowPrivate = append(o.AllowPrivate, netip.MustParsePrefix(p)) // Check has parsed it
	}
	if f := n.cfg.Fetch.Roots; f != "" {
		pem, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("%w: fetch.roots: %w", ErrConfig, err)
		}
		o.RootCAs = x509.NewCertPool()
		if !o.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%w: fetch.roots: no certificate in %s", ErrConfig, f)
		}
	}
	n.fetch = fetch.New(o)
	return nil
}

// firstOperator makes the operator's key on the first start. It is never made
// again: where the file was moved away, the log says that operators exist.
func (n *Node) firstOperator(ctx context.Context, pass secret.Value) error {
	view, err := n.record.Barrier(ctx)
	if err != nil {
		return err
	}
	path := n.cfg.path(operatorKeyFile)
	key, err := keyring.LoadKeyFile(path, pass)
	switch {
	case err == nil:
		n.operator = path
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("operator's key: %w", err)
	case view.HasOperator():
		return nil
	default:
		if key, err = keyring.NewKeyFile(path, envelope.EdDSA, pass, n.opt.Rand); err != nil {
			return fmt.Errorf("operator's key: %w", err)
		}
		n.operator = path
	}
	if view.IsOperator(key.Key().ID) {
		return nil
	}
	if view.HasOperator() {
		return nil // a key of this name that no operator act made one of theirs
	}
	return n.EnrolOperator(ctx, key.Key())
}

// EnrolOperator makes a key an operator's. Only whoever has the data folder
// can: there is no such request.
func (n *Node) EnrolOperator(ctx context.Context, key envelope.Key) error {
	cmd := &registry.EnrolOperator{JWK: key.JWK()}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
	cmd.Req = sumOf(cmd.ID)
	_, err := n.record.Do(ctx, cmd)
	if errors.Is(err, registry.ErrExists) {
		return nil
	}
	return err
}

// Close stops the writer, keeps a snapshot, leaves the newest checkpoint in
// its copies and closes the log.
func (n *Node) Close() error {
	var err error
	n.close.Do(func() {
		if n.listener != nil {
			n.listener.Close() // the HTTP server has closed it already where there was one
		}
		if n.admin != nil {
			n.admin.Close()
		}
		if n.record != nil {
			err = errors.Join(err, n.closeRuns(), n.closeObserved(), n.closeDecisions())
			if !n.opt.Offline && n.record.Fresh() == nil {
				err = errors.Join(err, n.record.SaveSnapshot())
			}
			err = errors.Join(err, n.record.Close(), n.copyNewest())
		}
		if n.store != nil {
			err = errors.Join(err, n.store.Close())
		}
	})
	return err
}

func (n *Node) copyNewest() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	note, err := n.store.LatestNote(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	err = n.copies.Publish(ctx, note.Text)
	if errors.Is(err, ledger.ErrRollback) { // another process was further on
		return nil
	}
	return err
}
