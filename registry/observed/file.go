package observed

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A file is a line with the format, a line with the seal, and the document, as
// those of registry/baseline are.
const (
	format     = "pratique-observed/1\n"
	fileSuffix = ".observed"
	maxFile    = 64 << 20 // bytes; far above MaxAccounts of the largest
)

var sealContext = []byte("pratique/observed/v1\x00")

func fileName(origin string) string {
	sum := sha256.Sum256([]byte("pratique/observed-file/v1\x00" + origin))
	return hex.EncodeToString(sum[:16]) + fileSuffix
}

// A document is what a file holds.
type document struct {
	Origin   string   `json:"origin"`
	Revision uint64   `json:"revision"`
	Accounts []stored `json:"accounts"`
}

type stored struct {
	Kind   gate.Kind          `json:"kind"`
	Name   string             `json:"name"`
	Tool   credentials.ToolID `json:"tool,omitzero"`
	Gen    uint64             `json:"gen,omitzero"`
	Ver    uint64             `json:"ver,omitzero"`
	Digest credentials.Digest `json:"digest"`
	record
}

// A record is an account with where its last call stands, for whoever tells the
// registry, and what the registry's log says already.
type record struct {
	Owner   credentials.KeyID `json:"owner,omitzero"` // a registrant's; empty: nobody registered it
	Account observe.Account   `json:"account"`
	Good    Cite              `json:"good,omitzero"` // of the last call that counts
	Bad     Cite              `json:"bad,omitzero"`  // of the first call against it
	Told    Told              `json:"told,omitzero"`
}

// Told is what the registry's log was told of a version that somebody registered:
// from then on its row speaks, and what an operator released there stays released.
type Told struct {
	Bad  int64 `json:"bad,omitzero"`   // signs until then, milliseconds since the epoch, are in the log
	Good int64 `json:"until,omitzero"` // it is consistent until then, seconds since the epoch
}

func (r record) merge(o record) record {
	r.Account = r.Account.Merge(o.Account)
	r.Told.Good, r.Told.Bad = max(r.Told.Good, o.Told.Good), max(r.Told.Bad, o.Told.Bad)
	if o.Owner != "" {
		r.Owner = o.Owner
	}
	if o.Good != (Cite{}) {
		r.Good = o.Good
	}
	if r.Bad == (Cite{}) {
		r.Bad = o.Bad
	}
	return r
}

func (s *Store) encode(d *document) ([]byte, error) {
	body, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("observed: %w", err)
	}
	sum := sha256.Sum256(append(slices.Clone(sealContext), body...))
	seal := "sum:" + base64.RawURLEncoding.EncodeToString(sum[:])
	if s.opt.Sign != nil {
		sig, err := s.opt.Sign(append(slices.Clone(sealContext), sum[:]...))
		if err != nil {
			return nil, fmt.Errorf("observed: sealing: %w", err)
		}
		seal = "sig:" + base64.RawURLEncoding.EncodeToString(sig)
	}
	return slices.Concat([]byte(format), []byte(seal), []byte{'\n'}, body), nil
}

// unseal checks a seal. A store with keys takes no plain sum.
func (s *Store) unseal(seal, body []byte) bool {
	sum := sha256.Sum256(append(slices.Clone(sealContext), body...))
	if s.opt.Verify == nil {
		return string(seal) == "sum:"+base64.RawURLEncoding.EncodeToString(sum[:])
	}
	text, ok := bytes.CutPrefix(seal, []byte("sig:"))
	if !ok {
		return false
	}
	sig, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	return err == nil && s.opt.Verify(append(slices.Clone(sealContext), sum[:]...), sig) == nil
}

var errForm = errors.New("not of this format")

// decode reads a file; origin is whose it must be, empty for any.
func (s *Store) decode(data []byte, origin string) (*document, error) {
	rest, ok := bytes.CutPrefix(data, []byte(format))
	if !ok {
		return nil, errForm
	}
	seal, body, ok := bytes.Cut(rest, []byte{'\n'})
	if !ok || !s.unseal(seal, body) {
		return nil, errors.New("the seal does not fit")
	}
	var d document
	if json.Unmarshal(body, &d, json.RejectUnknownMembers(true)) != nil || d.Revision == 0 || d.Revision > credentials.MaxInt {
		return nil, errForm
	}
	if origin != "" && d.Origin != origin {
		return nil, errors.New("it is another upstream's")
	}
	return &d, nil
}

func (x *stored) subject() Subject {
	return Subject{gate.Key{Kind: x.Kind, Name: x.Name}, x.Tool, x.Gen, x.Ver, x.Digest}
}
