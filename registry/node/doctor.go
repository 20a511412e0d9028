package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
)

// A Finding is one line of a doctor's report.
type Finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // ok, warn or fail
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// Doctor looks at a data folder and its configuration for what would make the
// promises of the registry empty. It changes nothing.
func Doctor(ctx context.Context, cfg Config) []Finding {
	d := &doctor{cfg: cfg.WithDefaults()}
	if err := cfg.Check(); err != nil {
		d.fail("configuration", err, "")
		return d.found
	}
	d.ok("configuration", "every setting is understood")
	if err := durable.CheckPrivateDir(d.cfg.Data); err != nil {
		d.fail("data folder", err, "chmod 0700 "+d.cfg.Data)
		return d.found
	}
	d.ok("data folder", "only its owner can read it")
	d.keys()
	d.operator()
	d.log(ctx)
	d.decisions(ctx)
	d.holds()
	d.exposure()
	return d.found
}

type doctor struct {
	cfg   Config
	found []Finding
}

func (d *doctor) ok(check, detail string) {
	d.found = append(d.found, Finding{Check: check, Level: "ok", Detail: detail})
}

func (d *doctor) warn(check, detail, remedy string) {
	d.found = append(d.found, Finding{Check: check, Level: "warn", Detail: detail, Remedy: remedy})
}

func (d *doctor) fail(check string, err error, remedy string) {
	d.found = append(d.found, Finding{Check: check, Level: "fail", Detail: err.Error(), Remedy: remedy})
}

func (d *doctor) passphrase() (secret.Value, error) {
	if d.cfg.Passphrase == "" {
		return secret.Value{}, nil
	}
	return keyring.ReadPassphraseFile(d.cfg.Passphrase)
}

func (d *doctor) keys() {
	pass, err := d.passphrase()
	if err != nil {
		d.fail("passphrase", err, "")
		return
	}
	ring, err := keyring.Open(d.cfg.path(keysFolder), keyring.Options{Passphrase: pass, Timing: d.cfg.timing()})
	if err != nil {
		d.fail("key ring", err, "restore the keys folder from a backup; nothing is made anew")
		return
	}
	d.ok("key ring", fmt.Sprintf("version %d, every file is there", ring.Ver()))
	if d.cfg.Passphrase == "" {
		d.warn("keys at rest", "signing keys are not encrypted", "set passphrase_file and start on a new folder, or keep the disk encrypted")
	}
	for _, i := range ring.List() {
		if i.Role == credentials.RoleRoot && i.State == credentials.KeyActive && i.Private == "here" {
			d.warn("root key", "the root key lies beside the online keys: whoever takes this folder can name new keys",
				"pratique keys offline --data "+d.cfg.Data+" --out DIR, and keep that folder elsewhere")
		}
	}
}

// operator says whether an agent that runs under this account could sign as
// the operator (RULES.md 13).
func (d *doctor) operator() {
	path := d.cfg.path(operatorKeyFile)
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("operator's key", "not in the data folder")
		return
	case err != nil:
		d.fail("operator's key", err, "")
		return
	}
	key, err := keyring.LoadKeyFile(path, secret.Value{})
	if err != nil || key.Protected() {
		d.ok("operator's key", "encrypted at rest")
		return
	}
	d.warn("operator's key", "unencrypted: what an agent of this account signs with it is recorded as unprotected and never meets tap or more",
		"move "+path+" to another account or machine, or encrypt it with a passphrase")
}

func (d *doctor) log(ctx context.Context) {
	l, err := sqlite.Open(ctx, d.cfg.path(logFolder), &sqlite.Options{Existing: true})
	if err != nil {
		d.fail("log", err, "")
		return
	}
	defer l.Close()
	h, err := l.Head(ctx)
	if err != nil {
		d.fail("log", err, "pratique ledger verify --data "+d.cfg.Data)
		return
	}
	d.ok("log", fmt.Sprintf("%d entries; synchronous, single-writer, append-only", h.Size))
	repairs, err := l.Repairs(ctx)
	if err != nil {
		d.fail("log repairs", err, "")
	}
	for _, r := range repairs {
		d.warn("log repairs", fmt.Sprintf("%s: %d bytes dropped at %s, %d entries left", r.Kind, r.Bytes, r.At.UTC().Format(time.RFC3339), r.Head.Size),
			"compare with a checkpoint kept elsewhere: pratique ledger verify")
	}
	if len(d.cfg.Ledger.Copies) == 0 && len(d.cfg.Ledger.Witnesses) == 0 {
		d.warn("rollback", "checkpoints are kept on this machine only: whoever holds its disk and keys can rewrite what no client saw",
			"set ledger.copies to a place on another machine, or run pratique ledger witness there")
	}
}

func (d *doctor) exposure() {
	if d.cfg.External == "" {
		d.ok("exposure", "listens on loopback")
		return
	}
	if u, err := url.Parse(d.cfg.External); err == nil && u.Scheme == "http" {
		d.warn("exposure", "the external URL is not https", "")
	}
	if d.cfg.policy(d.cfg.External) == registry.PolicyOpen && !loopbackHost(d.cfg.Listen) {
		d.warn("registration", "open beyond loopback: any key may hold names at unattested origins", "registration: enrolled")
	}
}
