package keyring

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// maxKeyFile bounds a key file; the largest real one, encrypted, is below 1 KiB.
const maxKeyFile = 16 << 10

// Errors of key files. Each names what is wrong with the file; none shows any
// of it. A file is read whole and exactly or not at all.
var (
	ErrKeyEmpty     = errors.New("key file is empty")
	ErrKeyFormat    = errors.New("key file is neither a private JWK nor PKCS#8 PEM")
	ErrKeyEncoding  = errors.New("key file is UTF-16 (or has a byte order mark inside); save it as plain UTF-8")
	ErrKeyTrailing  = errors.New("key file has something before or after the one key")
	ErrKeyPublic    = errors.New("key file holds a public key only")
	ErrKeyPEM       = errors.New(`PEM block is not "PRIVATE KEY"; convert it with: openssl pkcs8 -topk8 -nocrypt`)
	ErrKeyMismatch  = errors.New("private and public part of the key do not belong together")
	ErrKeyUse       = errors.New("key is declared for another use or algorithm")
	ErrKeyEncrypted = errors.New("key file is encrypted and the passphrase is missing or wrong")
	ErrKeyExists    = errors.New("file exists; a key is never overwritten")
)

// LoadKeyFile reads a principal's or operator's private key: a JWK (OKP or EC)
// or PKCS#8 PEM, in an age envelope if the file is encrypted. The file must be
// private to its owner. Blanks and line ends of any kind around the key and a
// UTF-8 byte order mark are tolerated: editors add them. A zero passphrase is
// none.
func LoadKeyFile(path string, passphrase secret.Value) (*Private, error) {
	data, err := durable.ReadPrivate(path, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	defer clear(data)
	p, err := parseKey(data, passphrase)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// NewKeyFile generates a key and writes it to path (0600) as a JWK, encrypted
// with the passphrase unless that is zero. A file that is there already is
// ErrKeyExists.
func NewKeyFile(path string, alg envelope.Alg, passphrase secret.Value, random io.Reader) (*Private, error) {
	return newKeyFile(path, alg, passphrase, random, 0)
}

func newKeyFile(path string, alg envelope.Alg, passphrase secret.Value, random io.Reader, workFactor int) (*Private, error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = ErrKeyExists
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := NewPrivate(alg, random)
	if err != nil {
		return nil, err
	}
	data, err := p.jwk()
	if err != nil {
		return nil, err
	}
	if !passphrase.IsZero() {
		if data, err = sealArmored(data, passphrase, workFactor); err != nil {
			return nil, err
		}
		p.protected = true
	}
	defer clear(data)
	if err := durable.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	return p, nil
}

// ParseKey reads the text of a key file, as LoadKeyFile does.
func ParseKey(text []byte) (*Private, error) { return parseKey(text, secret.Value{}) }

func parseKey(data []byte, passphrase secret.Value) (*Private, error) {
	text, err := trimText(data)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte(armor.Header)) {
		plain, err := openArmored(text, passphrase)
		if err != nil {
			return nil, err
		}
		defer clear(plain)
		p, err := parseKey(plain, secret.Value{})
		if err == nil {
			p.protected = true
		}
		return p, err
	}
	switch {
	case text[0] == '{':
		return parsePrivateJWK(text)
	case bytes.HasPrefix(text, []byte("-----BEGIN ")):
		return parsePEM(text)
	case bytes.Contains(text, []byte("-----BEGIN ")):
		return nil, ErrKeyTrailing
	}
	return nil, ErrKeyFormat
}

// trimText takes off what editors and shells put around a text.
func trimText(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.IndexByte(data, 0) >= 0 {
		return nil, ErrKeyEncoding
	}
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text = bytes.Trim(text, " \t\r\n\v\f")
	switch {
	case len(text) == 0:
		return nil, ErrKeyEmpty
	case bytes.Contains(text, []byte("\xef\xbb\xbf")):
		return nil, ErrKeyEncoding
	}
	return text, nil
}

func parsePEM(text []byte) (*Private, error) {
	// Lines may end in CRLF or CR and carry blanks; encoding/pem wants neither.
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\r' || r == '\n' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	text = []byte(strings.Join(lines, "\n") + "\n")
	defer clear(text)
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, ErrKeyFormat
	case len(bytes.TrimSpace(rest)) > 0 || !bytes.HasPrefix(text, []byte("-----BEGIN "+block.Type+"-----")):
		return nil, ErrKeyTrailing
	}
	defer clear(block.Bytes)
	switch {
	case block.Type == "PUBLIC KEY":
		return nil, ErrKeyPublic
	case block.Type != pemType || len(block.Headers) > 0:
		return nil, ErrKeyPEM
	}
	return fromPKCS8(block.Bytes)
}

// privateJWK are the members that a private JWK may have; kid is other tools'
// name for the key and is not believed.
type privateJWK struct {
	Kty    string   `json:"kty"`
	Crv    string   `json:"crv"`
	X      string   `json:"x"`
	Y      string   `json:"y,omitzero"`
	D      string   `json:"d"`
	Kid    string   `json:"kid,omitzero"`
	Alg    string   `json:"alg,omitzero"`
	Use    string   `json:"use,omitzero"`
	KeyOps []string `json:"key_ops,omitzero"`
	Ext    bool     `json:"ext,omitzero"`
}

func parsePrivateJWK(text []byte) (*Private, error) {
	var j privateJWK
	err := canon.Unmarshal(text, &j, canon.Limits{Bytes: maxKeyFile, Depth: 2, NoNull: true})
	switch {
	case errors.Is(err, canon.ErrTrailing):
		return nil, ErrKeyTrailing
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrKeyFormat, err)
	case j.D == "" && j.X != "":
		return nil, ErrKeyPublic
	}
	p, err := j.private()
	if err != nil {
		return nil, err
	}
	pub, err := envelope.ParseJWK([]byte(fmt.Sprintf(`{"kty":%q,"crv":%q,"x":%q%s}`, j.Kty, j.Crv, j.X, j.yMember())))
	if err != nil || pub.ID != p.key.ID {
		return nil, ErrKeyMismatch
	}
	if j.Alg != "" && j.Alg != string(p.key.Alg) && !(j.Alg == "Ed25519" && p.key.Alg == envelope.EdDSA) || j.Use != "" && j.Use != "sig" {
		return nil, ErrKeyUse
	}
	for _, op := range j.KeyOps {
		if op != "sign" && op != "verify" {
			return nil, ErrKeyUse
		}
	}
	return p, nil
}

func (j *privateJWK) yMember() string {
	if j.Y == "" {
		return ""
	}
	return fmt.Sprintf(`,"y":%q`, j.Y)
}

func (j *privateJWK) private() (*Private, error) {
	if strings.ContainsAny(j.D, "\r\n") {
		return nil, fmt.Errorf("%w: white space inside d", ErrKeyFormat)
	}
	d, err := base64.RawURLEncoding.Strict().DecodeString(j.D)
	if err != nil || len(d) != 32 {
		return nil, fmt.Errorf("%w: d is not 32 bytes of base64url", ErrKeyFormat)
	}
	defer clear(d)
	switch {
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		return wrap(ed25519.NewKeyFromSeed(d))
	case j.Kty == "EC" && j.Crv == "P-256":
		k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
		if err != nil {
			return nil, fmt.Errorf("%w: d is not a P-256 scalar", ErrKeyFormat)
		}
		return wrap(k)
	}
	return nil, ErrKeyKind
}

// jwk is the private JWK with a line end, as NewKeyFile writes it.
func (p *Private) jwk() ([]byte, error) {
	var d []byte
	switch k := p.get().(type) {
	case ed25519.PrivateKey:
		d = k.Seed()
	case *ecdsa.PrivateKey:
		b, err := k.Bytes()
		if err != nil {
			return nil, ErrKeyKind
		}
		d = b
	default:
		return nil, ErrKeyKind
	}
	defer clear(d)
	pub := p.key.JWK()
	out := append([]byte(`{"d":"`), base64.RawURLEncoding.EncodeToString(d)...)
	out = append(out, `",`...)
	return append(append(out, pub[1:]...), '\n'), nil
}

// sealArmored encrypts a text with a passphrase (age, scrypt). workFactor is
// the base-2 logarithm; 0 is age's default.
func sealArmored(plain []byte, passphrase secret.Value, workFactor int) ([]byte, error) {
	r, err := age.NewScryptRecipient(string(passphrase.Reveal()))
	if err != nil {
		return nil, ErrPassphrase
	}
	if workFactor > 0 {
		r.SetWorkFactor(workFactor)
	}
	return encryptArmored(plain, r)
}

func encryptArmored(plain []byte, to age.Recipient) ([]byte, error) {
	var buf bytes.Buffer
	a := armor.NewWriter(&buf)
	w, err := age.Encrypt(a, to)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return buf.Bytes(), nil
}

func openArmored(text []byte, passphrase secret.Value) ([]byte, error) {
	if passphrase.IsZero() {
		return nil, ErrKeyEncrypted
	}
	id, err := age.NewScryptIdentity(string(passphrase.Reveal()))
	if err != nil {
		return nil, ErrKeyEncrypted
	}
	plain, err := decryptArmored(text, id)
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, ErrKeyEncrypted
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the age envelope is damaged", ErrKeyFormat)
	}
	return plain, nil
}

func decryptArmored(text []byte, id age.Identity) ([]byte, error) {
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(text)), id)
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxKeyFile+1))
	if err == nil && len(plain) > maxKeyFile {
		err = ErrKeyFormat
	}
	return plain, err
}

// A FileError names one file of several that was refused.
type FileError struct {
	Path string
	Err  error
}

// Error names the file first.
func (e *FileError) Error() string { return filepath.Base(e.Path) + ": " + e.Err.Error() }

// Unwrap gives the reason.
func (e *FileError) Unwrap() error { return e.Err }

// LoadKeyDir reads every file in a folder (or the one file that path is). If
// any is bad, all bad ones are named by FileErrors and no key is returned: one
// bad file never silently changes what the others amount to.
func LoadKeyDir(path string, passphrase secret.Value) ([]*Private, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	files := []string{path}
	if st.IsDir() {
		es, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("import: %w", err)
		}
		files = files[:0]
		for _, e := range es {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	var keys []*Private
	var bad []error
	for _, f := range files {
		p, err := LoadKeyFile(f, passphrase)
		if err != nil {
			bad = append(bad, &FileError{f, err})
			continue
		}
		keys = append(keys, p)
	}
	switch {
	case len(bad) > 0:
		return nil, fmt.Errorf("import: %d of %d files refused, nothing imported: %w", len(bad), len(files), errors.Join(bad...))
	case len(keys) == 0:
		return nil, fmt.Errorf("import %s: %w", path, ErrNotFound)
	}
	return keys, nil
}
