package node

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// documentAge is how long one signed key-set document is served again where
// nothing has changed; its statement of freshness lives for keyring.FreshLife.
const documentAge = 5 * time.Second

// listEvery is how often the list of lowered labels may change: however many
// tools fall in a second, one list names them.
const listEvery = time.Second

// Keys administers the key ring of a node and keeps the log's record of it.
type Keys struct {
	ring   *keyring.Ring
	record *writer.Writer
	log    writer.Log
	now    func() time.Time
	rand   io.Reader

	mu       sync.Mutex
	doc      []byte
	docAt    time.Time
	docEpoch uint64
	docList  credentials.Digest
	lists    lists

	list       labels.Lowered // the newest, of a log of listSize entries
	listSize   uint64
	listMinute time.Time
	listAt     time.Time // when it was last seen to be the newest
	builds     uint64    // how often one was built, for the tests
}

// Ring is the key ring itself.
func (k *Keys) Ring() *keyring.Ring { return k.ring }

// Document is the body of /.well-known/jwks.json with a statement of freshness
// of a few seconds ago at most.
func (k *Keys) Document(ctx context.Context, now time.Time) ([]byte, error) {
	view, err := k.record.View()
	if err != nil {
		return nil, err
	}
	epoch := k.ring.Epoch()
	k.mu.Lock()
	defer k.mu.Unlock()
	age := now.Sub(k.docAt)
	listAge := now.Sub(k.listAt)
	if k.doc != nil && k.docEpoch == epoch && age >= 0 && age < documentAge && listAge >= 0 && listAge < listEvery {
		return k.doc, nil // before anything that costs more with more tools
	}
	minute := now.Truncate(time.Minute) // expiry alone changes the list once a minute
	if k.builds == 0 || k.listSize != view.Head.Size || !k.listMinute.Equal(minute) {
		k.list, k.listSize, k.listMinute = view.Lowered(minute), view.Head.Size, minute
		k.builds++
	}
	k.listAt = now
	lowered := k.list
	if k.doc != nil && k.docEpoch == epoch && k.docList == lowered.Digest() && age >= 0 && age < documentAge {
		return k.doc, nil
	}
	in := keyring.Inputs{Lowered: lowered.Digest(), Seq: view.Head.Size}
	note, err := k.log.LatestNote(ctx)
	switch {
	case err == nil:
		in.Checkpoint = credentials.CheckpointRef{Size: note.Size, Digest: sha256.Sum256(note.Text)}
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	doc, err := k.ring.Document(now, in)
	if err != nil {
		return nil, err
	}
	if err := k.lists.keep(lowered, now); err != nil {
		return nil, err // nobody is told of a list that could not be asked for
	}
	k.doc, k.docAt, k.docEpoch, k.docList = doc, now, epoch, lowered.Digest()
	return doc, nil
}

// Lowered is the list of lowered labels that a statement of freshness named by
// this digest, of whatever process on the folder. registry.ErrNotFound: none
// that still counts did.
func (k *Keys) Lowered(d credentials.Digest) (labels.Lowered, error) { return k.lists.get(d) }

// List is every key, revoked ones included.
func (k *Keys) List(context.Context) (registry.KeyList, error) {
	out := registry.KeyList{Version: k.ring.Ver(), Keys: []registry.KeyView{}}
	for _, i := range k.ring.List() {
		v := registry.KeyView{Kid: i.Kid, Role: string(i.Role), Algorithm: string(i.Alg), State: string(i.State), Since: time.Unix(i.Since, 0).UTC()}
		if i.State == credentials.KeyRevoked {
			v.Reason = i.Reason
		}
		if i.NextAt > 0 {
			v.Next = time.Unix(i.NextAt, 0).UTC()
		}
		out.Keys = append(out.Keys, v)
	}
	return out, nil
}

// Rotate makes the published successor of a role active; of every role that
// rotates by schedule, where none is named. The change is on record in the log
// when it returns.
func (k *Keys) Rotate(ctx context.Context, by credentials.PrincipalID, req registry.RotateRequest) (registry.KeyChangeResponse, error) {
	roles := []keyring.Role{keyring.Role(req.Role)}
	if req.Role == "" {
		roles = []keyring.Role{credentials.RoleHandle, credentials.RoleLabel, credentials.RoleKeySet, credentials.RoleState}
	}
	var modes []keyring.Mode
	if req.DryRun {
		modes = append(modes, keyring.DryRun)
	}
	var all []keyring.Change
	var first error
	for _, r := range roles {
		changes, err := k.ring.Rotate(r, modes...)
		if err != nil {
			first = err
			break
		}
		all = append(all, changes...)
	}
	if first != nil && len(all) == 0 {
		return registry.KeyChangeResponse{}, first
	}
	res, err := k.Record(ctx, by, all, !req.DryRun)
	return res, errors.Join(first, err)
}

// Revoke takes a key out at once and for ever. When it returns, no process on
// this folder accepts what the key signed.
func (k *Keys) Revoke(ctx context.Context, by credentials.PrincipalID, kid credentials.KeyID, reason string) (registry.KeyChangeResponse, error) {
	changes, err := k.ring.Revoke(kid, reason)
	if err != nil {
		return registry.KeyChangeResponse{}, err
	}
	return k.Record(ctx, by, changes, true)
}

// Record puts changes of the ring on record in the log; with apply false it
// only shapes them.
func (k *Keys) Record(ctx context.Context, by credentials.PrincipalID, changes []keyring.Change, apply bool) (registry.KeyChangeResponse, error) {
	res := registry.KeyChangeResponse{Version: k.ring.Ver(), Applied: apply, Changes: []registry.KeyChange{}}
	for _, c := range changes {
		res.Changes = append(res.Changes, registry.KeyChange{Kid: c.Kid, Role: string(c.Role), From: string(c.From), To: string(c.To), Reason: c.Reason})
	}
	if !apply || len(changes) == 0 {
		return res, nil
	}
	index, err := k.catchUp(ctx, by)
	res.Index = index
	return res, err
}

// catchUp records every change of the ring that the log does not have yet: the
// ring's own journal goes first, so a process that died between the two has
// left a gap only here.
func (k *Keys) catchUp(ctx context.Context, by credentials.PrincipalID) (uint64, error) {
	view, err := k.record.Barrier(ctx)
	if err != nil {
		return 0, err
	}
	missing := k.ring.Changes(view.KeysVer())
	if len(missing) == 0 {
		return view.Head.Size, nil
	}
	cmd := &registry.RecordKeys{Keys: registry.KeysData{By: by}}
	for _, c := range missing {
		cmd.Keys.Ver = max(cmd.Keys.Ver, c.Ver)
		cmd.Keys.Changes = append(cmd.Keys.Changes, registry.KeyChange{
			Kid: c.Kid, Role: string(c.Role), From: string(c.From), To: string(c.To), Reason: c.Reason,
		})
	}
	cmd.ID, cmd.Caller = commandID(k.rand), registry.UnsafeLocal("")
	cmd.Req = sha256.Sum256([]byte(cmd.ID))
	out, err := k.record.Do(ctx, cmd)
	if errors.Is(err, registry.ErrUnchanged) {
		return view.Head.Size, nil
	}
	return out.Index, err
}

// before reads the ring anew where the log knows of later changes than this
// process: a key that another process revoked is refused here before the view
// that says so is acted on.
func (k *Keys) before(v *state.View) error {
	if v.KeysVer() <= k.ring.Ver() {
		return nil
	}
	return k.ring.Reload()
}

// commandID draws a command id.
func commandID(r io.Reader) registry.CommandID {
	var b [16]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		rand.Read(b[:]) // never fails
	}
	return registry.CommandID(base64.RawURLEncoding.EncodeToString(b[:]))
}

// checkpointSigner signs heads with the ring's checkpoint keys; it is remade
// whenever a key has moved.
type checkpointSigner struct {
	ring   *keyring.Ring
	origin string
	mu     sync.Mutex
	epoch  uint64
	signer *ledger.Signer
}

func (c *checkpointSigner) current() (*ledger.Signer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	epoch := c.ring.Epoch()
	if c.signer != nil && c.epoch == epoch {
		return c.signer, nil
	}
	keys, err := c.ring.CheckpointSigners()
	if err != nil {
		return nil, err
	}
	s, err := ledger.NewSigner(c.origin, keys...)
	if err != nil {
		return nil, err
	}
	c.signer, c.epoch = s, epoch
	return s, nil
}

// ledgerPolicy believes checkpoints of the log that any checkpoint key of the
// ring has signed, retired ones included: old notes stay good. What a revoked
// key signed counts only for notes in our own store, where the row binds them.
func ledgerPolicy(ring *keyring.Ring, origin string) (ledger.Policy, error) {
	var vkeys []string
	for _, i := range ring.List() {
		if i.Role != credentials.RoleCheckpoint || i.State == credentials.KeyPending {
			continue
		}
		key, err := ring.Export(i.Kid)
		if err != nil {
			return ledger.Policy{}, err
		}
		pub, ok := key.Public.(ed25519.PublicKey)
		if !ok {
			return ledger.Policy{}, fmt.Errorf("%w: checkpoint key %s", keyring.ErrAlg, i.Kid)
		}
		v, err := ledger.VerifierKey(origin, pub)
		if err != nil {
			return ledger.Policy{}, err
		}
		vkeys = append(vkeys, v)
	}
	return ledger.NewPolicy(vkeys...)
}

// snapshotKeys signs and verifies snapshots with the role key `state`. A
// signature is the key's id and what the key made.
type snapshotKeys struct{ ring *keyring.Ring }

const kidLength = 43

func (s snapshotKeys) sign(message []byte) ([]byte, error) {
	signer, key, err := s.ring.Signer(credentials.RoleState)
	if err != nil {
		return nil, err
	}
	input, opts := message, crypto.Hash(0)
	if _, ok := key.Public.(ed25519.PublicKey); !ok {
		sum := sha256.Sum256(message)
		input, opts = sum[:], crypto.SHA256
	}
	sig, err := signer.Sign(rand.Reader, input, opts)
	return append([]byte(key.ID), sig...), err
}

func (s snapshotKeys) verify(message, signature []byte) error {
	if len(signature) <= kidLength {
		return state.ErrSnapshot
	}
	kid := credentials.KeyID(signature[:kidLength])
	for _, i := range s.ring.List() {
		if i.Kid != kid {
			continue
		}
		if i.Role != credentials.RoleState || i.State == credentials.KeyRevoked || i.State == credentials.KeyPending {
			return fmt.Errorf("%w: key %s", state.ErrSnapshot, kid)
		}
		key, err := s.ring.Export(kid)
		if err != nil {
			return err
		}
		good := false
		switch pub := key.Public.(type) {
		case ed25519.PublicKey:
			good = ed25519.Verify(pub, message, signature[kidLength:])
		case *ecdsa.PublicKey:
			sum := sha256.Sum256(message)
			good = ecdsa.VerifyASN1(pub, sum[:], signature[kidLength:])
		}
		if good {
			return nil
		}
		return state.ErrSnapshot
	}
	return fmt.Errorf("%w: unknown key", state.ErrSnapshot)
}
