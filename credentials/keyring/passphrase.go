package keyring

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

const maxPassphrase = 4 << 10

// ReadPassphraseFile reads a passphrase from a private file. One line end at
// the end is not part of it, as editors add one; everything else is.
func ReadPassphraseFile(path string) (secret.Value, error) {
	data, err := durable.ReadPrivate(path, maxPassphrase)
	if err != nil {
		return secret.Value{}, fmt.Errorf("passphrase file: %w", err)
	}
	return passphrase(data, path)
}

// ReadPassphraseFD reads a passphrase from an open descriptor until its end. A
// passphrase is never taken from the command line, which every user can list.
func ReadPassphraseFD(fd uintptr) (secret.Value, error) {
	f := os.NewFile(fd, "passphrase")
	if f == nil {
		return secret.Value{}, fmt.Errorf("passphrase: descriptor %d: %w", fd, os.ErrInvalid)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPassphrase+1))
	if err != nil {
		return secret.Value{}, fmt.Errorf("passphrase: %w", err)
	}
	return passphrase(data, fmt.Sprintf("descriptor %d", fd))
}

func passphrase(data []byte, from string) (secret.Value, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.TrimSuffix(data, []byte("\n"))
	data = bytes.TrimSuffix(data, []byte("\r"))
	if len(data) == 0 || len(data) > maxPassphrase || bytes.ContainsAny(data, "\x00\n") {
		return secret.Value{}, fmt.Errorf("%w: %s must hold one line of 1 to %d bytes", ErrPassphrase, from, maxPassphrase)
	}
	return secret.New(data), nil
}
