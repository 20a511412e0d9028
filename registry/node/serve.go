package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry/api"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// How often the node looks after itself.
const (
	tickEvery     = 5 * time.Second       // key ring: transitions that are due
	snapshotCheck = 10 * time.Second      // is a snapshot due
	snapshotAge   = 15 * time.Minute      // a snapshot at least this often, where there is anything new
	boardEvery    = 50 * time.Millisecond // newest checkpoint to the board
	copyRetry     = 5 * time.Second       // copies that failed
	graceful      = 10 * time.Second      // requests under way at the stop
)

// Bounds of the set of proofs seen, in all and per key.
const (
	replayTotal  = 1 << 20
	replayPerKey = 1 << 15
)

// Handler is the HTTP service of the node.
func (n *Node) handler() (*api.Server, error) {
	nonces, err := proof.NewNonces(n.record.ID(), &proof.NonceOptions{Rand: n.opt.Rand})
	if err != nil {
		return nil, err
	}
	checker, err := proof.NewChecker(n.external, nonces, proof.NewReplay(replayTotal, replayPerKey))
	if err != nil {
		return nil, err
	}
	keys := func() []string {
		k, err := n.LedgerKeys()
		if err != nil {
			return nil
		}
		return k
	}
	held, err := n.Runs()
	if err != nil {
		return nil, err
	}
	opt := api.Options{
		ExternalURL: n.external, Record: n.record, Log: n.store, Prover: n.tiles, Signer: n.ring,
		Verifier: envelope.NewVerifier(n.ring), Keys: n.keys, Proofs: checker,
		Hosts: n.hosts(), CORSOrigins: n.cfg.CORS, Ledger: ledger.NewHandler(n.tiles, n.board, keys),
		Fetcher: n.fetch, Policy: n.cfg.policy(n.external),
		HandleLife: n.cfg.Keys.HandleLife, LabelLife: n.cfg.Keys.LabelLife,
		Runs: held, Observe: n.metrics.observe, Now: n.opt.Now, Rand: n.opt.Rand, Logger: n.log,
	}
	return api.New(opt)
}

// hosts are the values of Host that are answered beside the external URL's.
func (n *Node) hosts() []string {
	hosts := append([]string{}, n.cfg.Hosts...)
	if n.listener != nil && loopbackHost(n.cfg.Listen) {
		hosts = append(hosts, n.listener.Addr().String())
	}
	return hosts
}

// Serve answers requests until ctx ends, then stops gracefully. The node is
// still open afterwards; Close it.
func (n *Node) Serve(ctx context.Context) error {
	if n.opt.Quiet {
		close(n.ready)
		<-n.keep(ctx)
		return nil
	}
	if n.listener == nil {
		return errors.New("node: opened for an act on its folder, not to serve")
	}
	server, err := n.handler()
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(context.Background())
	defer stop()
	kept := n.keep(background)
	web := server.HTTPServer()
	web.Handler = n.front(web.Handler)
	failed := make(chan error, 2)
	go func() { failed <- web.Serve(n.listener) }()
	var admin *http.Server
	if n.admin != nil {
		admin = &http.Server{Handler: n.adminHandler(), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 8 << 10}
		go func() { failed <- admin.Serve(n.admin) }()
	}
	close(n.ready)
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	end, cancel := context.WithTimeout(context.Background(), graceful)
	defer cancel()
	err = errors.Join(err, n.drain(end), server.Shutdown(end), web.Shutdown(end))
	if admin != nil {
		err = errors.Join(err, admin.Shutdown(end))
	}
	stop()
	<-kept
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}
