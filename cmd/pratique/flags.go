package main

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/registry"
)

// Flags that several verbs share. Each call makes new ones: a flag holds its
// value.

func registryFlag() *option {
	return &option{name: "registry", arg: "URL", usage: "external URL of the registry", required: true}
}

func registryFlags(more ...*option) []*option {
	return append([]*option{registryFlag(), timeoutFlag()}, more...)
}

func timeoutFlag() *option {
	return &option{name: "timeout", arg: "TIME", usage: "bound of one exchange with the registry", kind: duration, def: "30s"}
}

// actorFlags are those of acts that a key proves.
func actorFlags(whose string, more ...*option) []*option {
	flags := []*option{registryFlag(), {name: "key", arg: "FILE", usage: "key file of " + whose, required: true}}
	flags = append(flags, more...)
	flags = append(flags, passphraseFlags()...)
	return append(flags, timeoutFlag(), &option{name: "command", arg: "ID", usage: "command id: a retry with the same id gets the first outcome"})
}

func passphraseFlags() []*option {
	return []*option{
		{name: "passphrase-file", arg: "FILE", usage: "private file that holds the passphrase of the key file"},
		{name: "passphrase-fd", arg: "N", usage: "descriptor to read that passphrase from", kind: number},
	}
}

func yesFlag() *option { return &option{name: "yes", kind: toggle, usage: "do not ask"} }

func toolFlag() *option {
	return &option{name: "tool", arg: "ID", usage: "id of the tool", required: true}
}

func handleFlag() *option {
	return &option{name: "handle", arg: "HANDLE", usage: "handle file, or the handle itself", required: true}
}

func reasonFlag() *option {
	return &option{name: "reason", arg: "TEXT", usage: "goes on record", required: true}
}

// passphrase reads what the passphrase flags name; zero if none is given. It is
// never taken from the command line, which every user can list.
func (c *call) passphrase() (secret.Value, error) {
	switch {
	case c.has("passphrase-file") && c.has("passphrase-fd"):
		return secret.Value{}, usagef("--passphrase-file and --passphrase-fd exclude each other")
	case c.has("passphrase-file"):
		return keyring.ReadPassphraseFile(c.str("passphrase-file"))
	case c.has("passphrase-fd"):
		return keyring.ReadPassphraseFD(uintptr(c.num("passphrase-fd")))
	}
	return secret.Value{}, nil
}

// key loads the private key that a flag names.
func (c *call) key(flag string) (*keyring.Private, error) {
	pass, err := c.passphrase()
	if err != nil {
		return nil, err
	}
	return keyring.LoadKeyFile(c.str(flag), pass)
}

// client speaks to the registry that --registry names.
func (c *call) client() (*client.Client, error) {
	cl, err := client.New(c.str("registry"), &client.Options{Network: client.Network{Timeout: c.span("timeout")}})
	if errors.Is(err, client.ErrURL) {
		err = usagef("--registry: %v", err)
	}
	return cl, err
}

// actor is the client with the key that --key names, and the context to act in.
func (c *call) actor() (*client.Actor, context.Context, error) {
	k, err := c.key("key")
	if err != nil {
		return nil, nil, err
	}
	return c.actorOf(k)
}

func (c *call) actorOf(k crypto.Signer) (*client.Actor, context.Context, error) {
	cl, err := c.client()
	if err != nil {
		return nil, nil, err
	}
	a, err := cl.As(k)
	if err != nil {
		return nil, nil, err
	}
	ctx := c.Context
	if id := c.str("command"); id != "" {
		if _, err := credentials.ParseTokenID(id); err != nil {
			return nil, nil, usagef("--command is not 16 to 64 characters of [A-Za-z0-9_-]")
		}
		ctx = client.WithCommand(ctx, registry.CommandID(id))
	}
	return a, ctx, nil
}

// toolID reads --tool.
func (c *call) toolID() (credentials.ToolID, error) {
	id, err := credentials.ParseToolID(c.str("tool"))
	if err != nil {
		return "", usagef("--tool: %v", err)
	}
	return id, nil
}

func (c *call) principalID(flag string) (credentials.PrincipalID, error) {
	id, err := credentials.ParsePrincipalID(c.str(flag))
	if err != nil {
		return "", usagef("--%s: %v", flag, err)
	}
	return id, nil
}

// expiry reads a flag that is a time span from now or an RFC 3339 time.
func (c *call) expiry(flag string) (time.Time, error) {
	s := c.str(flag)
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return c.now().Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, usagef("--%s wants a span such as 1h or a time such as 2026-01-31T12:00:00Z", flag)
	}
	return t, nil
}

const maxText = 64 << 20 // bytes of a file that is read: a list of 1,000 large tools

// readFile reads a file of bounded size; "-" is standard input.
// A pipe that nobody writes to is waited for until whoever called ends that.
func (c *call) readFile(path string, limit int64) ([]byte, error) {
	type answer struct {
		raw []byte
		err error
	}
	read := make(chan answer, 1)
	go func() {
		raw, err := c.readWhole(path, limit)
		read <- answer{raw, err}
	}()
	select {
	case a := <-read:
		return a.raw, a.err
	case <-c.Done():
		return nil, fmt.Errorf("%s: %w", path, context.Cause(c))
	}
}

func (c *call) readWhole(path string, limit int64) ([]byte, error) {
	r := c.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.IsDir() {
			return nil, fmt.Errorf("%w: %s is a folder", errInput, path)
		}
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%w: %s is larger than %d bytes", errInput, path, limit)
	}
	return raw, err
}

// publicKey reads a public key: the JWK of one, or a key file whose public half
// is taken.
func (c *call) publicKey(path string) ([]byte, error) {
	raw, err := c.readFile(path, 64<<10)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
	k, perr := envelope.ParseJWK([]byte(text))
	if perr == nil {
		return k.JWK(), nil
	}
	if p, err := keyring.ParseKey(raw); err == nil {
		return p.Key().JWK(), nil
	}
	return nil, fmt.Errorf("%w: %s is no public key (JWK): %w", errInput, path, perr)
}

// writeNew writes a private file that must not exist yet.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
