package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/store"
)

func ledgerNoun() noun {
	either := func(more ...*option) []*option {
		flags := []*option{
			{name: "data", arg: "DIR", usage: "data folder of the registry"}, configFlag(), ringPassphraseFlag(),
			{name: "registry", arg: "URL", usage: "external URL of the registry"}, timeoutFlag(),
		}
		return append(append(flags, more...), trustFlags()...)
	}
	return noun{name: "ledger", usage: "the registry's log: verify, read, witness, copy", verbs: []verb{
		{
			name: "verify", usage: "walk the whole log: every entry, every checkpoint, the head",
			about: "A tail that a crash has torn is repaired at the next start and stays on record: torn is true and the exit code is 0. Anything that no crash explains is tampering: it is located, tampered is true, and the exit code is 7.",
			flags: either(&option{name: "checkpoint", arg: "FILE", usage: "checkpoint kept elsewhere to hold the log against", kind: many}),
			out:   ledgerOutput{}, run: verifyLedger,
		},
		showVerb(), followVerb(),
		{
			name: "publish", usage: "copy the newest checkpoint to files or URLs, where it shows a rollback",
			flags: either(&option{name: "to", arg: "PLACE", usage: "file, or URL that takes PUT", kind: many, required: true}),
			out:   publishOutput{}, run: publishLedger,
		},
		witnessVerb(),
	}}
}

// ledgerOutput is what a walk over the log found.
type ledgerOutput struct {
	OK          bool              `json:"ok" doc:"nothing that a crash does not explain"`
	Torn        bool              `json:"torn" doc:"a crash tore the end, now or earlier; repairs says when"`
	Tampered    bool              `json:"tampered" doc:"entries, checkpoints or head are not what was signed; problems says where"`
	Source      string            `json:"source" doc:"the folder or URL"`
	Log         string            `json:"log,omitzero" doc:"name of the log"`
	Size        uint64            `json:"size" doc:"entries that were walked"`
	Root        string            `json:"root,omitzero" doc:"their RFC 6962 root, base64"`
	Checkpoints uint64            `json:"checkpoints" doc:"signed checkpoints that hold"`
	Covered     uint64            `json:"covered" doc:"entries below the largest of them"`
	Outside     int               `json:"outside" doc:"checkpoints kept elsewhere that the log was held against"`
	Problems    []ledger.Problem  `json:"problems"`
	Dropped     uint64            `json:"dropped,omitzero" doc:"problems beyond those listed"`
	Repairs     []repairOutput    `json:"repairs"`
	Spools      int               `json:"spools" doc:"with --data: spools of the decision log; problems and repairs name them"`
	Decisions   uint64            `json:"decisions" doc:"with --data: entries of the decision log"`
	Anchored    uint64            `json:"anchored" doc:"with --data: of those, how many the log's anchors commit to"`
	RootKey     credentials.KeyID `json:"rootKey,omitzero" doc:"with --registry: the root key that vouches for the log's keys"`
	Pinned      bool              `json:"pinned" doc:"with --registry: that root is, or follows from, one pinned or recorded"`
}

type repairOutput struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Bytes  uint64    `json:"bytes" doc:"dropped"`
	Size   uint64    `json:"size" doc:"entries that were left"`
	Detail string    `json:"detail"`
}

func (o ledgerOutput) show(w io.Writer) {
	verdict := "good"
	switch {
	case o.Tampered:
		verdict = "TAMPERED WITH"
	case o.Torn:
		verdict = "good; a crash has torn its end"
	}
	pairs(w, "log", verdict, "source", o.Source, "name", o.Log, "entries", strconv.FormatUint(o.Size, 10), "root", o.Root,
		"checkpoints", strconv.FormatUint(o.Checkpoints, 10), "covered", strconv.FormatUint(o.Covered, 10), "kept elsewhere", strconv.Itoa(o.Outside), "decision log", o.decisions())
	for _, p := range o.Problems {
		fmt.Fprintf(w, "problem  %s\n", plain(p.String()))
	}
	for _, r := range o.Repairs {
		fmt.Fprintf(w, "repair   %s  %s: %d bytes dropped, %d entries left\n", moment(r.At), r.Kind, r.Bytes, r.Size)
	}
}

func (o *ledgerOutput) take(r ledger.Report) {
	o.Size, o.Checkpoints, o.Covered, o.Dropped = r.Size, r.Checkpoints, r.Covered, r.Dropped
	if r.Root != (ledger.Hash{}) {
		o.Root = rootText(r.Root)
	}
	if o.Problems = r.Problems; o.Problems == nil {
		o.Problems = []ledger.Problem{}
	}
}

// rootText is a root hash as checkpoints spell it.
func rootText(h ledger.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }

// verdict is the output with the exit code that it means.
func (o ledgerOutput) verdict() (any, error) {
	o.OK = !o.Tampered
	if o.Repairs == nil {
		o.Repairs = []repairOutput{}
	}
	if o.Tampered {
		return o, errTampered
	}
	return o, nil
}

func verifyLedger(c *call) (any, error) {
	which, err := c.exactlyOne("data", "registry")
	if err != nil {
		return nil, err
	}
	if which == "registry" {
		return c.verifyServed()
	}
	if len(c.strs("root")) > 0 || c.has("roots") || c.has("state") {
		return nil, usagef("--root, --roots and --state go with --registry: a folder is held against its own keys")
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	cfg.Ledger.Copies = append(cfg.Ledger.Copies, c.strs("checkpoint")...)
	for _, f := range c.strs("checkpoint") {
		if !exists(f) {
			return nil, fmt.Errorf("%w: %s", store.ErrNotFound, f)
		}
	}
	step, end := c.progress("verifying", -1)
	defer end()
	seen := uint64(0)
	rep, err := node.VerifyLedger(c, cfg, node.Options{Now: c.now}, func(done uint64) { step(int(done - seen)); seen = done })
	o := ledgerOutput{Source: c.str("data"), Log: rep.Origin, Outside: rep.Known}
	o.take(rep.Report)
	for _, r := range rep.Repairs {
		o.Repairs = append(o.Repairs, repairOutput{r.At, r.Kind, r.Bytes, r.Head.Size, r.Detail})
	}
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrGap) {
		// Below the rows: SQLite itself finds pages that nothing it does leaves so.
		o.Problems = append(o.Problems, ledger.Problem{Kind: "damaged", Index: o.Size, Detail: err.Error()})
		o.Tampered = true
		return o.verdict()
	}
	if err != nil {
		return nil, err
	}
	if rep.Fold != nil {
		o.Problems = append(o.Problems, ledger.Problem{Kind: "fold", Detail: rep.Fold.Error()})
	}
	o.takeDecisions(rep.Decisions)
	o.Torn, o.Tampered = rep.Torn(), rep.Tampered()
	return o.verdict()
}

// served is a log as a registry serves it, with the keys that vouch for it.
type served struct {
	log    *ledger.Client
	policy ledger.Policy
	cp     ledger.Checkpoint
	view   *keyset.View
	pinned bool
	state  client.State
	kept   client.Kept
}

// openServed fetches the key set and the newest checkpoint, and believes the
// latter by the keys that the former's root vouches for.
func (c *call) openServed() (*served, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	s := &served{}
	if s.state, s.kept, err = c.kept(); err != nil {
		return nil, err
	}
	if err := s.openKeys(c, cl.URL()); err != nil {
		return nil, err
	}
	raw, err := c.get(cl.URL()+"/ledger/checkpoint", "text/plain", ledger.MaxNote)
	if err != nil {
		return nil, err
	}
	name, _, err := ledger.ParseUnverified(raw)
	if err != nil {
		return nil, err
	}
	vkeys, err := checkpointKeys(s.view, name)
	if err != nil {
		return nil, err
	}
	if s.policy, err = ledger.NewPolicy(vkeys...); err != nil {
		return nil, err
	}
	if s.log, err = ledger.NewClient(cl.URL()+"/ledger", s.policy, &ledger.ClientOptions{HTTP: c.httpClient()}); err != nil {
		return nil, err
	}
	s.cp, err = s.log.Checkpoint(c)
	return s, err
}

// kept is what --state holds.
func (c *call) kept() (client.State, client.Kept, error) {
	f := c.str("state")
	if f == "" {
		return nil, client.Kept{}, nil
	}
	k, err := client.FileState(f).Load(c)
	return client.FileState(f), k, err
}

// openKeys opens the key set by what is recorded, else by what is pinned, else
// by itself.
func (s *served) openKeys(c *call, base string) error {
	doc, err := c.keySet(base)
	if err != nil {
		return err
	}
	pins, err := c.roots()
	if err != nil {
		return err
	}
	var tries []keyset.Pins
	for _, r := range pins {
		tries = append(tries, keyset.Pins{Root: r})
	}
	if s.kept.Pins.Root != "" {
		tries = []keyset.Pins{s.kept.Pins}
	}
	s.pinned = len(tries) > 0 || s.state != nil
	if len(tries) == 0 {
		first, err := keyset.FirstUse(doc)
		if err != nil {
			return err
		}
		tries = append(tries, first)
	}
	for _, p := range tries {
		if s.view, err = keyset.Open(doc, p, c.now(), 0); err == nil {
			return nil
		}
	}
	return fmt.Errorf("key set: %w", err)
}

// remember keeps in --state what was seen.
func (s *served) remember(c *call) error {
	if s.state == nil {
		return nil
	}
	_, err := s.state.Save(c, client.Kept{Pins: s.view.Pins(), Checkpoint: s.cp.Note})
	return err
}

// checkpointKeys are the verifier keys of a log by the signed list: retired keys
// too, since checkpoints that are kept elsewhere may be theirs.
func checkpointKeys(v *keyset.View, name string) ([]string, error) {
	var out []string
	for _, e := range v.Entries() {
		if e.Role != credentials.RoleCheckpoint || e.State == credentials.KeyRevoked || e.State == credentials.KeyPending {
			continue
		}
		k, err := envelope.FromMembers(e.Jwk)
		if err != nil {
			return nil, err
		}
		pub, ok := k.Public.(ed25519.PublicKey)
		if !ok {
			continue
		}
		vkey, err := ledger.VerifierKey(name, pub)
		if err != nil {
			return nil, err
		}
		out = append(out, vkey)
	}
	if len(out) == 0 {
		return nil, client.ErrNoCheckpointKey
	}
	return out, nil
}

func (c *call) verifyServed() (any, error) {
	s, err := c.openServed()
	if err != nil {
		return nil, err
	}
	outside, err := c.outside(s)
	if err != nil {
		return nil, err
	}
	step, end := c.progress("verifying", int(s.cp.Size))
	defer end()
	seen := uint64(0)
	rep, err := ledger.Verify(c, s.log.Auditor(s.cp), ledger.VerifyOptions{Policy: s.policy, Outside: outside,
		Progress: func(done uint64) { step(int(done - seen)); seen = done }})
	if err != nil {
		return nil, err
	}
	o := ledgerOutput{Source: c.str("registry"), Log: s.cp.Origin, Outside: len(outside), RootKey: s.view.Pins().Root, Pinned: s.pinned}
	o.take(rep)
	o.Torn, o.Tampered = rep.TornOnly(), !rep.OK() && !rep.TornOnly()
	if !o.Tampered {
		if err := s.remember(c); err != nil {
			return nil, err
		}
	}
	return o.verdict()
}

// outside are the checkpoints that were kept: in --state, and in files.
func (c *call) outside(s *served) ([][]byte, error) {
	var out [][]byte
	if len(s.kept.Checkpoint) > 0 {
		out = append(out, s.kept.Checkpoint)
	}
	for _, f := range c.strs("checkpoint") {
		raw, err := c.readFile(f, ledger.MaxNote)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}
