package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry/node"
)

// keyPassphrase is the passphrase of key files, as opposed to the ring's.
func (c *call) keyPassphrase() (secret.Value, error) {
	if f := c.str("key-passphrase-file"); f != "" {
		return keyring.ReadPassphraseFile(f)
	}
	return secret.Value{}, nil
}

func importKeys(c *call) (any, error) {
	role, err := c.role()
	if err != nil {
		return nil, err
	}
	pass, err := c.keyPassphrase()
	if err != nil {
		return nil, err
	}
	keys, err := keyring.LoadKeyDir(c.args[0], pass) // before the ring is opened: bad files are named without it
	if err != nil {
		return nil, err
	}
	return c.changeRing(func(r *keyring.Ring) ([]keyring.Change, error) { return r.Import(role, keys, c.modes()...) })
}

// exportOutput is one exported key.
type exportOutput struct {
	Kid     credentials.KeyID `json:"kid"`
	Alg     string            `json:"alg"`
	JWK     jsontext.Value    `json:"jwk" doc:"the public key"`
	PEM     string            `json:"pem" doc:"the public key, SPKI"`
	File    string            `json:"file,omitzero"`
	Private bool              `json:"private" doc:"the file holds the encrypted private key"`
}

func (o exportOutput) show(w io.Writer) {
	if o.File != "" {
		pairs(w, "key", string(o.Kid), "file", o.File, "private", yesNo(o.Private))
		return
	}
	fmt.Fprintf(w, "%s\n%s", o.JWK, o.PEM)
}

func exportKey(c *call) (any, error) {
	kid, err := c.kid()
	if err != nil {
		return nil, err
	}
	pass, err := c.keyPassphrase()
	if err != nil {
		return nil, err
	}
	file := c.str("out")
	if c.is("private") && (file == "" || pass.IsZero()) {
		return nil, usagef("--private wants --out and --key-passphrase-file: a private key leaves only encrypted")
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		k, err := n.Keys().Ring().Export(kid)
		if err != nil {
			return nil, err
		}
		pem, err := keyring.PublicPEM(k)
		if err != nil {
			return nil, err
		}
		out := exportOutput{kid, string(k.Alg), k.JWK(), string(pem), file, c.is("private")}
		text := append(k.JWK(), '\n')
		if out.Private {
			if text, err = n.Keys().Ring().ExportPrivate(kid, pass); err != nil {
				return nil, err
			}
			defer clear(text)
		}
		if file != "" {
			err = writeNew(file, text)
		}
		return or(out, err)
	})
}

// offlineOutput are the files of the root keys.
type offlineOutput struct {
	Files []string `json:"files"`
}

func (o offlineOutput) show(w io.Writer) {
	fmt.Fprintf(w, "root keys are now only in:\n%s\nkeep them offline\n", strings.Join(o.Files, "\n"))
}

func takeOffline(c *call) (any, error) {
	pass, err := c.keyPassphrase()
	if err != nil {
		return nil, err
	}
	if err := c.sure("Take the root keys out of this folder?"); err != nil {
		return nil, err
	}
	dir := c.str("out")
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	if pass.IsZero() {
		c.note("note: the files are not encrypted; --key-passphrase-file encrypts them")
	}
	return c.onFolder(func(n *node.Node) (any, error) {
		files, err := n.Keys().Ring().TakeOffline(dir, pass)
		if files == nil {
			files = []string{}
		}
		return or(offlineOutput{files}, err)
	})
}

// fetchOutput says what was fetched. Nothing in it was verified.
type fetchOutput struct {
	File   string            `json:"file"`
	Issuer string            `json:"issuer" doc:"whose keys they say they are"`
	Root   credentials.KeyID `json:"root" doc:"the root key that the set names: compare it over another way, then pin it"`
}

func (o fetchOutput) show(w io.Writer) {
	pairs(w, "file", o.File, "issuer", o.Issuer, "root key", string(o.Root))
}

func fetchKeys(c *call) (any, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	doc, err := c.keySet(cl.URL())
	if err != nil {
		return nil, err
	}
	first, err := keyset.FirstUse(doc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	f := c.str("out")
	if _, err := os.Lstat(f); err == nil {
		return nil, usagef("--out %s exists", f)
	}
	if err := durable.WriteFile(f, doc, 0o644); err != nil { // public
		return nil, err
	}
	return fetchOutput{f, first.Iss, first.Root}, nil
}

// keySet fetches the key-set document.
func (c *call) keySet(base string) ([]byte, error) {
	return c.get(base+"/.well-known/jwks.json", "application/json", 1<<20)
}
