package keyring

import (
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/secret"
)

// NewWeakKeyFile is NewKeyFile with a scrypt that costs nothing.
func NewWeakKeyFile(path string, alg envelope.Alg, passphrase secret.Value) (*Private, error) {
	return newKeyFile(path, alg, passphrase, nil, 2)
}
