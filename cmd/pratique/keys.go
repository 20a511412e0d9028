package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

func keysNoun() noun {
	return noun{name: "keys", usage: "the service's own signing keys", verbs: append(keyMoves(), keyFileVerbs()...)}
}

// keyMoves are the verbs that list keys and move them from state to state.
func keyMoves() []verb {
	return []verb{
		{name: "list", usage: "list all keys, revoked ones included", flags: eitherFlags(), out: keysOutput{}, run: listKeys},
		{name: "plan", usage: "list what the schedule will do, and when", flags: dataFlags(), out: planOutput{}, run: planKeys},
		{
			name: "rotate", usage: "make the published successor sign; what was signed stays good until it ends",
			about: "Without --role, the keys of all roles that rotate by schedule. Too early for the successor is refused (exit code 4) and names the time.",
			flags: eitherFlags(roleFlag(false), dryFlag(), rootKeyFlag()), out: changeOutputs{}, run: rotateKeys,
		},
		{
			name: "revoke", usage: "emergency: nothing that the key signed is good from now on",
			about: "Its published successor takes over at once. Holders fetch fresh handles with tools renew.",
			flags: eitherFlags(kidFlag(), &option{name: "reason", arg: "TEXT", usage: "goes on record", def: "revoked by the operator"}, dryFlag(), rootKeyFlag(), yesFlag()),
			out:   changeOutputs{}, run: revokeKey,
		},
		{
			name: "generate", usage: "make a pending key",
			flags: dataFlags(roleFlag(true), &option{name: "alg", arg: "ALG", usage: "EdDSA or ES256", def: "EdDSA"}, dryFlag()), out: changeOutputs{}, run: generateKey,
		},
		{name: "publish", usage: "put a pending key into the key set", flags: dataFlags(kidFlag(), dryFlag(), rootKeyFlag()), out: changeOutputs{}, run: byKid((*keyring.Ring).Publish)},
		{name: "activate", usage: "make a published key sign", flags: dataFlags(kidFlag(), dryFlag(), rootKeyFlag()), out: changeOutputs{}, run: byKid((*keyring.Ring).Activate)},
		{name: "retire", usage: "take a key out of the key set, once nothing it signed can live", flags: dataFlags(kidFlag(), dryFlag(), rootKeyFlag()), out: changeOutputs{}, run: byKid((*keyring.Ring).Retire)},
	}
}

// keyFileVerbs are the verbs that take keys in and give them out.
func keyFileVerbs() []verb {
	return []verb{
		{
			name: "import", usage: "take private keys in as pending keys: all of a folder, or none", args: "PATH",
			about: "PATH is a key file (JWK or PKCS#8 PEM) or a folder of them. Bad files are named, and then nothing is imported.",
			flags: dataFlags(roleFlag(true), dryFlag(), &option{name: "key-passphrase-file", arg: "FILE", usage: "passphrase of the key files"}), out: changeOutputs{}, run: importKeys,
		},
		{
			name: "export", usage: "write a public key, or with --private an encrypted private one",
			flags: dataFlags(kidFlag(), &option{name: "out", arg: "FILE", usage: "new file; default: printed"},
				&option{name: "private", kind: toggle, usage: "the private key, encrypted: wants --out and --key-passphrase-file"},
				&option{name: "key-passphrase-file", arg: "FILE", usage: "passphrase to encrypt it with"}),
			out: exportOutput{}, run: exportKey,
		},
		{
			name: "offline", usage: "move the private root keys out of the ring into files",
			about: "From then on changes of the key list need the root key: --root-key.",
			flags: dataFlags(&option{name: "out", arg: "DIR", usage: "folder for the key files", required: true},
				&option{name: "key-passphrase-file", arg: "FILE", usage: "passphrase to encrypt them with"}, yesFlag()),
			out: offlineOutput{}, run: takeOffline,
		},
		{
			name: "fetch", usage: "fetch the signed key set, for labels verify", flags: registryFlags(&option{name: "out", arg: "FILE", usage: "new file for it", required: true}),
			out: fetchOutput{}, run: fetchKeys,
		},
	}
}

func roleFlag(required bool) *option {
	return &option{name: "role", arg: "ROLE", usage: "root, handle, label, key-set, checkpoint or state", required: required}
}

func kidFlag() *option {
	return &option{name: "kid", arg: "KID", usage: "id of the key", required: true}
}

func dryFlag() *option {
	return &option{name: "dry-run", kind: toggle, usage: "decide everything, change nothing"}
}

func rootKeyFlag() *option {
	return &option{name: "root-key", arg: "FILE", usage: "root key file, where the root is offline (with --data)"}
}

// dataFlags are those of acts on a data folder.
func dataFlags(more ...*option) []*option {
	return append([]*option{{name: "data", arg: "DIR", usage: "data folder of the registry", required: true}, configFlag(), ringPassphraseFlag()}, more...)
}

func configFlag() *option {
	return &option{name: "config", arg: "FILE", usage: "configuration file; default: " + configName + " in the data folder, if there"}
}

func ringPassphraseFlag() *option {
	return &option{name: "passphrase-file", arg: "FILE", usage: "private file with the passphrase"}
}

// eitherFlags are those of acts on a data folder or, as operator, through a
// registry's API.
func eitherFlags(more ...*option) []*option {
	flags := []*option{
		{name: "data", arg: "DIR", usage: "data folder of the registry"}, configFlag(),
		{name: "registry", arg: "URL", usage: "external URL of the registry"}, {name: "key", arg: "FILE", usage: "operator's key file (with --registry)"},
	}
	flags = append(flags, more...)
	flags = append(flags, passphraseFlags()...)
	return append(flags, timeoutFlag(), &option{name: "command", arg: "ID", usage: "command id (with --registry)"})
}

// either says whether the act goes through the API.
func (c *call) either(keyNeeded bool) (remote bool, err error) {
	which, err := c.exactlyOne("data", "registry")
	if err != nil {
		return false, err
	}
	remote = which == "registry"
	if remote && keyNeeded && !c.has("key") {
		return false, usagef("--registry wants --key, the operator's")
	}
	if remote && c.str("root-key") != "" {
		return false, usagef("--root-key goes with --data: a root key is never sent anywhere")
	}
	return remote, nil
}

// onFolder opens the data folder for one act.
func (c *call) onFolder(act func(n *node.Node) (any, error)) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	n, err := node.Open(c, cfg, node.Options{Offline: true, Now: c.now, Version: buildVersion().Version})
	if err != nil {
		return nil, err
	}
	defer n.Close()
	if c.has("root-key") {
		k, err := c.key("root-key")
		if err != nil {
			return nil, err
		}
		if err := n.Keys().Ring().HandIn(k); err != nil {
			return nil, err
		}
	}
	return act(n)
}

// keysOutput are all keys.
type keysOutput struct{ registry.KeyList }

func (o keysOutput) show(w io.Writer) {
	rows := [][]string{{"ROLE", "STATE", "ALG", "KID", "SINCE", "NEXT", "REASON"}}
	for _, k := range o.Keys {
		rows = append(rows, []string{k.Role, k.State, k.Algorithm, string(k.Kid), moment(k.Since), moment(k.Next), k.Reason})
	}
	table(w, rows)
}

func listKeys(c *call) (any, error) {
	remote, err := c.either(false)
	if err != nil {
		return nil, err
	}
	if remote {
		cl, err := c.client()
		if err != nil {
			return nil, err
		}
		l, err := cl.KeyList(c)
		return or(keysOutput{l}, err)
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		l, err := n.Keys().List(c)
		return or(keysOutput{l}, err)
	})
}

// planOutput is what the schedule will do, earliest first.
type planOutput struct {
	Version uint64       `json:"version"`
	Steps   []plannedKey `json:"steps"`
}

type plannedKey struct {
	Kid   credentials.KeyID    `json:"kid"`
	Role  credentials.Role     `json:"role"`
	State credentials.KeyState `json:"state"`
	Next  credentials.KeyState `json:"next"`
	At    time.Time            `json:"at" doc:"earliest time of the step"`
}

func (o planOutput) show(w io.Writer) {
	rows := [][]string{{"AT", "ROLE", "STATE", "NEXT", "KID"}}
	for _, k := range o.Steps {
		rows = append(rows, []string{moment(k.At), string(k.Role), string(k.State), string(k.Next), string(k.Kid)})
	}
	table(w, rows)
}

func planKeys(c *call) (any, error) {
	return c.onFolder(func(n *node.Node) (any, error) {
		ring := n.Keys().Ring()
		out := planOutput{Version: ring.Ver(), Steps: []plannedKey{}}
		for _, i := range ring.Plan() {
			out.Steps = append(out.Steps, plannedKey{i.Kid, i.Role, i.State, i.Next, time.Unix(i.NextAt, 0).UTC()})
		}
		return out, nil
	})
}

// changeOutputs is what an act on keys did, or with --dry-run would do.
type changeOutputs struct{ registry.KeyChangeResponse }

func (o changeOutputs) show(w io.Writer) {
	rows := [][]string{{"ROLE", "FROM", "TO", "KID", "REASON"}}
	for _, k := range o.Changes {
		rows = append(rows, []string{k.Role, k.From, k.To, string(k.Kid), k.Reason})
	}
	table(w, rows)
	if !o.Applied {
		fmt.Fprintln(w, "dry run: nothing was changed")
		return
	}
	fmt.Fprintf(w, "key list version %d, ledger index %s\n", o.Version, strconv.FormatUint(o.Index, 10))
}

// changed shows what was done, also where not all of it was.
func changed(r registry.KeyChangeResponse, err error) (any, error) {
	if err != nil && len(r.Changes) == 0 {
		return nil, err
	}
	return changeOutputs{r}, err
}

func (c *call) modes() []keyring.Mode {
	if c.is("dry-run") {
		return []keyring.Mode{keyring.DryRun}
	}
	return nil
}

func (c *call) role() (credentials.Role, error) {
	s := c.str("role")
	if s == "" {
		return "", nil
	}
	r, err := keyring.ParseRole(s)
	if err != nil {
		return "", usagef("--role: %v", err)
	}
	return r, nil
}

func (c *call) kid() (credentials.KeyID, error) {
	k, err := credentials.ParseKeyID(c.str("kid"))
	if err != nil {
		return "", usagef("--kid: %v", err)
	}
	return k, nil
}

func rotateKeys(c *call) (any, error) {
	remote, err := c.either(true)
	if err != nil {
		return nil, err
	}
	role, err := c.role()
	if err != nil {
		return nil, err
	}
	if remote {
		a, ctx, err := c.actor()
		if err != nil {
			return nil, err
		}
		return changed(a.RotateKeys(ctx, role, c.is("dry-run")))
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		return changed(n.Keys().Rotate(c, "", registry.RotateRequest{Role: string(role), DryRun: c.is("dry-run")}))
	})
}

func revokeKey(c *call) (any, error) {
	remote, err := c.either(true)
	if err != nil {
		return nil, err
	}
	kid, err := c.kid()
	if err != nil {
		return nil, err
	}
	if !c.is("dry-run") {
		if err := c.sureIfPerson("Revoke " + string(kid) + "? Nothing that it signed will be good."); err != nil {
			return nil, err
		}
	}
	if remote {
		a, ctx, err := c.actor()
		if err != nil {
			return nil, err
		}
		if c.is("dry-run") {
			l, err := a.Client().KeyList(ctx)
			if err != nil {
				return nil, err
			}
			return foretellRevoke(l, kid, c.str("reason"))
		}
		return changed(a.RevokeKey(ctx, kid, c.str("reason")))
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		if c.is("dry-run") {
			changes, err := n.Keys().Ring().Revoke(kid, c.str("reason"), keyring.DryRun)
			if err != nil {
				return nil, err
			}
			return changed(n.Keys().Record(c, "", changes, false))
		}
		return changed(n.Keys().Revoke(c, "", kid, c.str("reason")))
	})
}

// foretellRevoke says from the list of keys what revoking one would do.
func foretellRevoke(l registry.KeyList, kid credentials.KeyID, reason string) (any, error) {
	out := registry.KeyChangeResponse{Version: l.Version, Changes: []registry.KeyChange{}}
	for _, k := range l.Keys {
		if k.Kid != kid {
			continue
		}
		if k.State == string(credentials.KeyRevoked) {
			return changeOutputs{out}, nil
		}
		out.Changes = append(out.Changes, registry.KeyChange{Kid: kid, Role: k.Role, From: k.State, To: string(credentials.KeyRevoked), Reason: reason})
		if k.State != string(credentials.KeyActive) {
			return changeOutputs{out}, nil
		}
		var heir registry.KeyView
		for _, h := range l.Keys {
			if h.Role == k.Role && h.State == string(credentials.KeyPublished) && !h.Since.Before(heir.Since) {
				heir = h
			}
		}
		out.Changes = append(out.Changes, registry.KeyChange{Kid: heir.Kid, Role: k.Role, From: heir.State, To: string(credentials.KeyActive), Reason: reason})
		return changeOutputs{out}, nil
	}
	return nil, fmt.Errorf("%w: %s", keyring.ErrNotFound, kid)
}

func generateKey(c *call) (any, error) {
	role, err := c.role()
	if err != nil {
		return nil, err
	}
	return c.changeRing(func(r *keyring.Ring) ([]keyring.Change, error) {
		return r.Generate(role, envelope.Alg(c.str("alg")), c.modes()...)
	})
}

// changeRing makes one change of the ring and puts it on record in the log.
func (c *call) changeRing(act func(*keyring.Ring) ([]keyring.Change, error)) (any, error) {
	return c.onFolder(func(n *node.Node) (any, error) {
		changes, err := act(n.Keys().Ring())
		if err != nil {
			return nil, err
		}
		return changed(n.Keys().Record(c, "", changes, !c.is("dry-run")))
	})
}

func byKid(act func(*keyring.Ring, credentials.KeyID, ...keyring.Mode) ([]keyring.Change, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		kid, err := c.kid()
		if err != nil {
			return nil, err
		}
		return c.changeRing(func(r *keyring.Ring) ([]keyring.Change, error) { return act(r, kid, c.modes()...) })
	}
}
