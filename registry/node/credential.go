package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/api"
)

const (
	credentialFile = "agent.credential"
	credentialLock = "agent.lock"
	credentialSize = 512

	// firstAgent is the name of the agent whose credential the node makes.
	firstAgent = "default"
)

// AgentCredential is the credential of the agent that the node itself makes, bound
// to the profile: so that somebody who starts it has a URL that works. It is made
// once, and again where it was revoked or the operator has set another profile; it
// lies in a private file of the data folder, and is never logged.
func (n *Node) AgentCredential(ctx context.Context, profile string) (string, error) {
	unlock, err := durable.Lock(n.cfg.path(credentialLock))
	if err != nil {
		return "", err
	}
	defer unlock.Unlock()
	path := n.cfg.path(credentialFile)
	raw, err := durable.ReadPrivate(path, credentialSize)
	if err = except(err); err != nil {
		return "", fmt.Errorf("the agent's credential: %w", err)
	}
	if text := strings.TrimSpace(string(raw)); text != "" {
		v, err := n.record.Barrier(ctx)
		if err != nil {
			return "", err
		}
		a, err := v.AgentBySecret(canon.Digest(api.AgentSecretContext, []byte(text)))
		switch {
		case err == nil && !a.Revoked && a.Profile == profile:
			return text, nil
		case err == nil && !a.Revoked:
			if err := n.revokeAgent(ctx, a.ID); err != nil {
				return "", err
			}
		case err != nil && !errors.Is(err, registry.ErrNotFound):
			return "", err
		}
	}
	return n.newCredential(ctx, path, profile)
}

// newCredential writes the file first: an agent on record whose credential nobody
// has could only be revoked.
func (n *Node) newCredential(ctx context.Context, path, profile string) (string, error) {
	var secret [32]byte
	if _, err := io.ReadFull(n.opt.Rand, secret[:]); err != nil {
		return "", err
	}
	id, err := ulid.New(ulid.Timestamp(n.opt.Now()), n.opt.Rand)
	if err != nil {
		return "", err
	}
	text := api.AgentCredentialPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	if err := durable.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the agent's credential: %w", err)
	}
	cmd := &registry.CreateAgent{
		Agent: credentials.AgentID("agt_" + id.String()), Name: firstAgent, Profile: profile,
		Secret: canon.Digest(api.AgentSecretContext, []byte(text)),
	}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
	cmd.Req = sumOf(cmd.ID)
	_, err = n.record.Do(ctx, cmd)
	return text, err
}

func (n *Node) revokeAgent(ctx context.Context, id credentials.AgentID) error {
	cmd := &registry.RevokeAgent{Agent: id}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
	cmd.Req = sumOf(cmd.ID)
	_, err := n.record.Do(ctx, cmd)
	if errors.Is(err, registry.ErrExists) {
		return nil
	}
	return err
}
