// Package node assembles one registry on one data folder: the log and its
// engine, the key ring, the writer, the copies of checkpoints and the HTTP
// service. Whoever works on a data folder goes through here: `pratique up`, the
// acts of the command line on a folder, and later each gateway.
package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
)

// ErrConfig says which setting is wrong. Nothing has been opened.
var ErrConfig = errors.New("configuration")

// Config are the settings of a node. The zero value of each field stands for
// its default; unknown keys of a file fail. PRATIQUE_ and the upper-case path of
// a field, with underscores, overrides it (PRATIQUE_LOG_LEVEL=debug).
type Config struct {
	// Data is the folder with everything the node keeps. Made, mode 0700, where
	// it is missing. Default: the folder of this file, which then has to have that mode;
	// without a file, pratique in the user's data folder.
	Data string `yaml:"data"`
	// Listen is the address of the HTTP service. Default 127.0.0.1:7420; port 0
	// takes any free one.
	Listen string `yaml:"listen"`
	// External is the URL by which everybody names this registry: scheme, host
	// and port. It is the issuer and audience of what is signed and the base that
	// proofs are held against; no header changes it. Default: http:// and Listen.
	External string `yaml:"external"`
	// Admin is the address of /livez, /readyz and /metrics. Default: 127.0.0.1,
	// any free port; "off" for none. It has no authentication.
	Admin string `yaml:"admin"`
	// Registration is who may register: open or enrolled. Default: open where
	// External is loopback, enrolled elsewhere.
	Registration string `yaml:"registration"`
	// Hosts are further values of the Host header that are answered.
	Hosts []string `yaml:"hosts"`
	// CORS are web origins whose pages may call, beside attested ones.
	CORS []string `yaml:"cors"`
	// Passphrase is a file whose content encrypts the key ring and the operator's
	// key at rest. It is read once, at the start.
	Passphrase string `yaml:"passphrase_file"`
	// Profile is what binds the agent whose credential up prints, and anonymous
	// ones: watch, personal or strict. Agents made with agents new have their own.
	// Default: personal where External is loopback, strict elsewhere.
	Profile string `yaml:"profile"`
	// Policy is a file of rules that stands in the place of the profiles' own: what
	// no rule allows is denied. A relative path starts at this file's folder.
	Policy string `yaml:"policy"`
	// Upstreams are the MCP servers that agents reach at /mcp; for now one.
	Upstreams []UpstreamConf `yaml:"upstreams"`
	Gateway   GatewayConf    `yaml:"gateway"`
	Effects   EffectsConf    `yaml:"effects"`
	Inspector InspectorConf  `yaml:"inspector"`
	Keys      KeyConfig      `yaml:"keys"`
	Ledger    LogConfig      `yaml:"ledger"`
	Fetch     FetchConf      `yaml:"fetch"`
	Quotas    QuotaConf      `yaml:"quotas"`
	Log       LoggerConf     `yaml:"log"`
}

// KeyConfig are the times of the key ring and of what it signs.
type KeyConfig struct {
	// Algorithms are the algorithms of new keys by role: EdDSA (default) or ES256.
	Algorithms map[string]string `yaml:"algorithms"`
	// HandleLife is how long a handle lives. Default 1h, at most 24h.
	HandleLife time.Duration `yaml:"handle_life"`
	// LabelLife is how long a label lives. Default and most 24h.
	LabelLife time.Duration `yaml:"label_life"`
	// MaxAge is how long caches may keep the key set. Default 5m.
	MaxAge time.Duration `yaml:"max_age"`
	// Refresh is how often clients are expected to ask for the key set. Default 1m.
	Refresh time.Duration `yaml:"refresh"`
	// Propagation is how long our own processes may take to follow a change.
	// Default 30s.
	Propagation time.Duration `yaml:"propagation"`
	// Skew is how far clocks may be apart. Default 1m. A key is published at least
	// the sum of these four before it signs.
	Skew time.Duration `yaml:"skew"`
	// Publish is how long a key is published before it signs. Default 15m; less
	// than the sum above is refused.
	Publish time.Duration `yaml:"publish"`
	// Life is how long a key signs before its scheduled rotation. Default 720h.
	Life time.Duration `yaml:"life"`
}

// LogConfig says where checkpoints go besides the store.
type LogConfig struct {
	// Copies are files or https URLs that get each new checkpoint, best on
	// another machine: they show a rollback of the whole folder. One copy,
	// DATA/checkpoint, is always kept.
	Copies []string `yaml:"copies"`
	// Witnesses cosign checkpoints.
	Witnesses []WitnessConf `yaml:"witnesses"`
	// SnapshotEvery is after how many entries a snapshot is written, for a fast
	// start. Default 10000.
	SnapshotEvery uint64 `yaml:"snapshot_every"`
}

// WitnessConf is one witness.
type WitnessConf struct {
	URL string `yaml:"url"` // base of its C2SP tlog-witness API
	Key string `yaml:"key"` // its verifier key, name+hash+key
}

// FetchConf loosens the one fetcher by which the registry reads topologies.
type FetchConf struct {
	// Roots is a PEM file of further certificate authorities.
	Roots string `yaml:"roots"`
	// AllowPrivate are address prefixes inside private networks that may be
	// connected to. Default none.
	AllowPrivate []string `yaml:"allow_private"`
}

// QuotaConf bounds what one registrant can cost. Zero: the default.
type QuotaConf struct {
	NamesPerOrigin int `yaml:"names_per_origin"` // live names of one principal at one origin; default 2000
	ToolsPerOwner  int `yaml:"tools_per_owner"`  // live tools of one principal; default 50000
	Overwrites     int `yaml:"overwrites"`       // overwrites of one tool per hour; default 600
	Delegations    int `yaml:"delegations"`      // live delegations of one tool; default 64
}

// LoggerConf are the settings of the log for people.
type LoggerConf struct {
	Format string `yaml:"format"` // text or json; default text
	Level  string `yaml:"level"`  // debug, info, warn or error; default info
}

// WithDefaults fills in what is not set.
func (c Config) WithDefaults() Config {
	def := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	def(&c.Listen, "127.0.0.1:7420")
	def(&c.Admin, "127.0.0.1:0")
	def(&c.Log.Format, "text")
	def(&c.Log.Level, "info")
	if c.Ledger.SnapshotEvery == 0 {
		c.Ledger.SnapshotEvery = 10_000
	}
	return c
}

// Check refuses settings that contradict each other or loosen by accident.
func (c Config) Check() error {
	c = c.WithDefaults()
	bad := func(key, format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrConfig, key, fmt.Sprintf(format, args...))
	}
	if c.Data == "" {
		return bad("data", "a folder is required")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return bad("listen", "want HOST:PORT")
	}
	if c.Admin != "off" {
		if _, _, err := net.SplitHostPort(c.Admin); err != nil {
			return bad("admin", "want HOST:PORT or off")
		}
	}
	if c.External != "" {
		if o, err := origin.Parse(c.External); err != nil || o.Kind() != origin.Web || o.String() != c.External {
			return bad("external", "want scheme://host[:port] in lower case, https unless loopback")
		}
	} else if !loopbackHost(c.Listen) {
		return bad("external", "required where listen is not a loopback address")
	}
	if err := c.checkGateway(bad); err != nil {
		return err
	}
	if err := c.Inspector.check(bad); err != nil {
		return err
	}
	if err := c.Effects.check(bad); err != nil {
		return err
	}
	return c.checkWords(bad)
}

// checkWords refuses settings whose value is not one of a few, or has a form.
func (c Config) checkWords(bad func(key, format string, args ...any) error) error {
	switch registry.RegistrationPolicy(c.Registration) {
	case "", registry.PolicyOpen, registry.PolicyEnrolled:
	default:
		return bad("registration", "want open or enrolled")
	}
	for _, p := range c.Fetch.AllowPrivate {
		if _, err := netip.ParsePrefix(p); err != nil {
			return bad("fetch.allow_private", "want address prefixes such as 10.0.0.0/8")
		}
	}
	for _, w := range c.Ledger.Witnesses {
		if w.URL == "" || w.Key == "" {
			return bad("ledger.witnesses", "each has a url and a key")
		}
	}
	for r, a := range c.Keys.Algorithms {
		if _, err := keyring.ParseRole(r); err != nil || a != "EdDSA" && a != "ES256" {
			return bad("keys.algorithms", "want a role and EdDSA or ES256")
		}
	}
	if c.Log.Format != "text" && c.Log.Format != "json" {
		return bad("log.format", "want text or json")
	}
	switch c.Log.Level {
	case "debug", "info", "warn", "error":
	default:
		return bad("log.level", "want debug, info, warn or error")
	}
	return nil
}

// loopbackHost reports whether a listen address is a loopback one by its text.
func loopbackHost(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// policy is who may register, by what the external URL says: the address that
// is listened on proves nothing behind a proxy (RULES.md 14).
func (c Config) policy(external string) registry.RegistrationPolicy {
	if c.Registration != "" {
		return registry.RegistrationPolicy(c.Registration)
	}
	u, err := url.Parse(external)
	if err == nil && (u.Hostname() == "localhost" || loopbackHost(net.JoinHostPort(u.Hostname(), "0"))) {
		return registry.PolicyOpen
	}
	return registry.PolicyEnrolled
}

func (c Config) timing() keyring.Timing {
	t := keyring.Timing{
		MaxAge: c.Keys.MaxAge, Refresh: c.Keys.Refresh, Propagation: c.Keys.Propagation, Skew: c.Keys.Skew, Publish: c.Keys.Publish,
	}
	t.TTL = map[keyring.Role]time.Duration{}
	if c.Keys.HandleLife > 0 {
		t.TTL[credentials.RoleHandle] = c.Keys.HandleLife
	}
	if c.Keys.LabelLife > 0 {
		t.TTL[credentials.RoleLabel] = c.Keys.LabelLife
	}
	if c.Keys.Life > 0 {
		t.Life = map[keyring.Role]time.Duration{
			credentials.RoleHandle: c.Keys.Life, credentials.RoleLabel: c.Keys.Life,
			credentials.RoleKeySet: c.Keys.Life, credentials.RoleState: c.Keys.Life,
		}
	}
	return t
}

func (c Config) quotas() *registry.Quotas {
	q := registry.DefaultQuotas()
	set := func(p *int, v int) {
		if v > 0 {
			*p = v
		}
	}
	set(&q.NamesPerOrigin, c.Quotas.NamesPerOrigin)
	set(&q.ToolsPerOwner, c.Quotas.ToolsPerOwner)
	set(&q.Overwrites, c.Quotas.Overwrites)
	set(&q.DelegationsTool, c.Quotas.Delegations)
	return &q
}

// The places in a data folder.
const (
	keysFolder      = "keys"
	logFolder       = "log"
	snapshotFile    = "snapshot"
	loweredFolder   = "lowered"
	checkpointFile  = "checkpoint"
	operatorKeyFile = "operator.jwk"
)

func (c Config) path(name string) string { return filepath.Join(c.Data, name) }

// copies are the places where checkpoints are kept, files and URLs apart.
func (c Config) copies() (files, urls []string) {
	files = []string{c.path(checkpointFile)}
	for _, x := range c.Ledger.Copies {
		if strings.HasPrefix(x, "https://") || strings.HasPrefix(x, "http://") {
			urls = append(urls, x)
		} else {
			files = append(files, x)
		}
	}
	return files, urls
}
