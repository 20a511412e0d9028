package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/serve"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/registry/node"
)

// gatewayPath is where agents are served.
const gatewayPath = "/mcp"

func upNoun() noun {
	return noun{name: "up", usage: "run a registry, and a gateway to the upstreams of its configuration, on a data folder", verbs: []verb{{
		usage: "run a registry on a data folder until SIGTERM",
		about: "The first start makes the folder, the signing keys and an operator's key. Several processes may run on one folder; they must have the same --external. " +
			"Where the configuration has `upstreams`, agents reach them at /mcp with a credential of `agents new`, or at the URL printed as `gateway`, which holds one.",
		flags: []*option{
			{name: "data", arg: "DIR", usage: "data folder; default: what the configuration says, the folder of --config, or pratique in the user's data folder"},
			configFlag(),
			{name: "listen", arg: "ADDR", usage: "address of the service; port 0 takes any (default: 127.0.0.1:7420)"},
			{name: "external", arg: "URL", usage: "URL by which everybody names this registry (default: http:// and the address)"},
			{name: "admin", arg: "ADDR", usage: "address of /livez, /readyz and /metrics, or off (default: 127.0.0.1, any port)"},
			{name: "registration", arg: "POLICY", usage: "open or enrolled (default: open where the external URL is loopback)"},
			{name: "profile", arg: "PROFILE", usage: "profile of the agent whose credential is printed: watch, personal or strict (default: personal where the external URL is loopback, else strict)"},
			{name: "host", arg: "HOST", usage: "further Host that is answered", kind: many},
			{name: "checkpoint-copy", arg: "PLACE", usage: "further file or URL that gets each checkpoint", kind: many},
			{name: "passphrase-file", arg: "FILE", usage: "private file; its content encrypts the keys at rest"},
			{name: "log-format", arg: "FORMAT", usage: "text or json"},
			{name: "log-level", arg: "LEVEL", usage: "debug, info, warn or error"},
		},
		out: upOutput{}, run: up,
	}}}
}

// upOutput is printed once, when the registry answers.
type upOutput struct {
	Registry    string            `json:"registry" doc:"the external URL"`
	Gateway     string            `json:"gateway,omitzero" doc:"URL for an agent, with its credential in it: a secret"`
	OperatorKey string            `json:"operatorKey,omitzero" doc:"key file of the operator, where it is in the folder"`
	Admin       string            `json:"admin,omitzero" doc:"/livez, /readyz and /metrics are there"`
	Data        string            `json:"data" doc:"the data folder"`
	RootKey     credentials.KeyID `json:"rootKey" doc:"thumbprint of the root key, for clients to pin"`
	LedgerKey   string            `json:"ledgerKey" doc:"verifier key of the log, for witnesses"`
	PID         int               `json:"pid"`
}

func (o upOutput) show(w io.Writer) {
	pairs(w, "registry", o.Registry, "gateway", o.Gateway, "data", o.Data, "operator's key", o.OperatorKey,
		"root key", string(o.RootKey), "log key", o.LedgerKey, "admin", o.Admin)
	fmt.Fprintln(w, "ready; stop with Ctrl-C")
}

// gcPercent lets the heap grow further than by default before it is collected: of
// a call nothing lives on, and what does live on is small.
const gcPercent = 200

func up(c *call) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults()
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	if err := makeParents(cfg.Data); err != nil {
		return nil, err
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	log := c.logger(cfg.Log)
	ins, err := c.inspector(cfg.Inspector, log)
	if err != nil {
		return nil, err
	}
	defer ins.Close()
	n, err := node.Open(c, cfg, node.Options{Logger: log, Now: c.now, Version: buildVersion().Version, Inspector: ins, Checks: ins.checks()})
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = &coded{exitConflict, err}
		}
		return nil, err
	}
	log.Info("inspector", "sandbox", ins.Level(), "engine", ins.Engine())
	err = n.Metrics(ins.collectors()...)
	var a *assembly
	if err == nil {
		a, err = c.upGateway(n, cfg, ins)
	}
	if err == nil {
		err = c.serve(n, cfg, a)
	}
	if a != nil {
		down, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = errors.Join(err, a.close(down))
	}
	return nil, errors.Join(err, n.Close())
}

// upGateway puts the gateway of the configuration's upstream on the node, nil
// where there is none.
func (c *call) upGateway(n *node.Node, cfg node.Config, ins *inspection) (*assembly, error) {
	if len(cfg.Upstreams) == 0 {
		return nil, nil
	}
	u, log := cfg.Upstreams[0], c.logger(cfg.Log)
	profile := cfg.ProfileOr(n.URL())
	a, err := c.assemble(n, cfg, u, assemblyOptions{
		env: upstream.Environ(os.LookupEnv, u.Env), named: true, profile: profile, inspect: ins,
		notice: func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...)) },
	})
	if err != nil {
		return nil, err
	}
	o := serve.Options{Path: gatewayPath, Hosts: hostsOf(n.Hosts()), Origins: cfg.CORS, Log: a.log}
	if cfg.Gateway.Anonymous {
		who, err := a.gw.Launch(gateway.Anonymous)
		if err != nil {
			return a, err
		}
		o.Anonymous = &who
	}
	h := serve.NewHandler(a.gw, o)
	n.Mount(node.Mount{Prefix: gatewayPath, Handler: h, Drain: h.Drain})
	return a, nil
}

// hostsOf are the values of Host as a gateway compares them.
func hostsOf(hosts []string) []string {
	var out []string
	for _, h := range hosts {
		out = append(out, strings.ToLower(h))
	}
	return out
}

// serve prints the one answer of up as soon as the node answers requests.
func (c *call) serve(n *node.Node, cfg node.Config, a *assembly) error {
	ctx, stop := context.WithCancel(c)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	select {
	case err := <-served:
		return err
	case <-n.Ready():
	}
	out, err := upAnswer(ctx, n, cfg, a)
	if err == nil {
		err = c.show(out)
	}
	if err != nil {
		stop()
	}
	return errors.Join(err, <-served)
}

func upAnswer(ctx context.Context, n *node.Node, cfg node.Config, a *assembly) (upOutput, error) {
	o := upOutput{Registry: n.URL(), OperatorKey: n.OperatorKeyFile(), Admin: n.AdminURL(), Data: cfg.Data, PID: os.Getpid()}
	vkeys, err := n.LedgerKeys()
	if err != nil || len(vkeys) == 0 {
		return o, errors.Join(err, keyring.ErrNotActive)
	}
	o.LedgerKey = vkeys[0]
	for _, i := range n.Keys().Ring().List() {
		if i.Role == credentials.RoleRoot && i.State == credentials.KeyActive {
			o.RootKey = i.Kid
		}
	}
	if a == nil {
		return o, nil
	}
	credential, err := n.AgentCredential(ctx, string(cfg.ProfileOr(n.URL())))
	if err != nil {
		return o, err
	}
	o.Gateway, err = url.JoinPath(n.URL(), gatewayPath, credential)
	return o, err
}

// logger writes for people or machines, always to stderr.
func (c *call) logger(l node.LoggerConf) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // node.Config.Check has refused others
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.err, o))
	}
	return slog.New(slog.NewTextHandler(c.err, o))
}
