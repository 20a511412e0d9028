package node

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
)

// CondemnTool condemns a registered tool by an operator's signed act on something
// of it: the act was judged and recorded where it was used, and is verified here
// once more, so that the event names the key. A tool that is condemned already
// stays so.
func (n *Node) CondemnTool(ctx context.Context, tool credentials.ToolID, act, reason string) error {
	by, _, err := n.signedBy(act, baseline.OpCondemn)
	if err != nil {
		return err
	}
	cmd := &registry.Condemn{Tool: tool, Reason: reason}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal(by)
	cmd.Req = sumOf(cmd.ID)
	if _, err = n.record.Do(ctx, cmd); errors.Is(err, registry.ErrExists) {
		return nil
	}
	return err
}

// ReleaseTool clears one version of a registered tool in the same way. Nobody
// releases their own.
func (n *Node) ReleaseTool(ctx context.Context, tool credentials.ToolID, version credentials.Digest, act, reason string) error {
	by, digest, err := n.signedBy(act, baseline.OpRelease)
	if err != nil {
		return err
	}
	if digest != version {
		return registry.ErrStaleBase
	}
	cmd := &registry.ReleaseTool{Tool: tool, Base: version, Reason: reason}
	cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal(by)
	cmd.Req = sumOf(cmd.ID)
	_, err = n.record.Do(ctx, cmd)
	return err
}

// signedBy is the operator whose act on an item it is, and of which digest.
func (n *Node) signedBy(token, op string) (by credentials.KeyID, of credentials.Digest, err error) {
	o, err := n.Operators().Verify(envelope.OperatorAct, token)
	if err != nil {
		return "", of, fmt.Errorf("%w: %w", registry.ErrNotOperator, err)
	}
	var act baseline.Act
	if err := envelope.Claims(o, &act); err != nil || act.Op != op || act.Aud != n.LogName() {
		return "", of, fmt.Errorf("%w: the act is another", registry.ErrNotOperator)
	}
	return o.Key.ID, act.Digest, nil
}

// holds looks at what is withheld, where there ever was anything.
func (d *doctor) holds() {
	dir := d.cfg.path(holds.Folder)
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return
	}
	const remedy = "keep the folder as it is; pratique quarantine list says more"
	key, err := holds.LoadKey(d.cfg.Data)
	if err != nil {
		d.fail("holds", err, remedy)
		return
	}
	s, err := holds.Open(dir, holds.Options{Key: key})
	if err == nil {
		err = s.Err()
	}
	if err != nil {
		d.fail("holds", err, remedy)
		return
	}
	list, err := s.List()
	if err != nil {
		d.fail("holds", err, remedy)
	}
	pushed, err := s.Pushed()
	if err != nil {
		d.fail("holds", err, remedy)
	}
	for _, p := range pushed {
		d.warn("holds", fmt.Sprintf("%d from %s are not kept: they made room for others, or came too fast", p.Count, p.Origin), "pratique quarantine list")
	}
	d.ok("holds", fmt.Sprintf("%d are kept", len(list)))
}
