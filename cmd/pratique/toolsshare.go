package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
)

func toolsShareVerbs() []verb {
	return []verb{
		{
			name: "delegate", usage: "make a narrower handle of a tool for another key",
			about: "A delegated handle delegates no further, never outlives the one it comes from, and ends with it.",
			flags: actorFlags("the registrant", handleFlag(), &option{name: "to", arg: "FILE", usage: "public key (JWK) of the delegate", required: true},
				&option{name: "action", arg: "ACTION", usage: "overwrite or revoke", kind: many},
				&option{name: "expires", arg: "TIME", usage: "span from now, or a time", def: "30m"},
				&option{name: "out", arg: "FILE", usage: "new file for the delegated handle"}),
			out: delegationOutput{}, run: delegateTool,
		},
		{name: "delegations", usage: "list the live delegations of a tool", flags: actorFlags("the registrant", handleFlag()), out: delegationsOutput{}, run: listDelegations},
		{
			name: "undelegate", usage: "end one delegation",
			flags: actorFlags("the registrant", handleFlag(), &option{name: "id", arg: "JTI", usage: "id of the delegation", required: true}),
			out:   delegationOutput{}, run: undelegateTool,
		},
		{
			name: "accept", usage: "recipient: agree to take a tool over, in the very version given",
			flags: actorFlags("the recipient", toolFlag()), out: acceptOutput{}, run: acceptTool,
		},
		{
			name: "transfer", usage: "give a tool to another key, which has accepted",
			about: "All handles of the tool end; the recipient goes on with tools renew. The former owner's recovery key or an operator can undo it for 72 h.",
			flags: actorFlags("the registrant", handleFlag(), &option{name: "to", arg: "FILE", usage: "public key (JWK) of the recipient", required: true},
				&option{name: "accept", arg: "TOKEN", usage: "the recipient's acceptance, or the file that tools accept printed", required: true}, yesFlag()),
			out: toolOutput{}, run: transferTool,
		},
		{
			name: "undo-transfer", usage: "recovery key or operator: take the latest transfer back, within 72 h",
			flags: actorFlags("the recovery or operator's key", toolFlag()), out: toolOutput{}, run: undoTransfer,
		},
	}
}

func toolsOperatorVerbs() []verb {
	return []verb{
		{name: "condemn", usage: "operator: show a tool to nobody", flags: actorFlags("the operator", toolFlag(), reasonFlag(), yesFlag()), out: toolOutput{}, run: condemnTool},
		{
			name: "release", usage: "operator: clear one version of a tool that was read",
			flags: actorFlags("the operator", toolFlag(), &option{name: "digest", arg: "DIGEST", usage: "the version that was read", required: true}, reasonFlag()),
			out:   toolOutput{}, run: releaseTool,
		},
	}
}

// delegationOutput is a new delegation with its handle.
type delegationOutput struct {
	registry.DelegationView
	File string `json:"file,omitzero" doc:"the file that holds the handle"`
}

func (o delegationOutput) show(w io.Writer) {
	pairs(w, "delegation", string(o.ID), "tool", string(o.Tool), "to", string(o.To), "actions", actionText(o.Actions), "expires", moment(o.Expires), "handle file", o.File)
	if o.File == "" {
		fmt.Fprintln(w, o.Handle)
	}
}

func actionText(as []credentials.Action) string {
	var s []string
	for _, a := range as {
		s = append(s, string(a))
	}
	return strings.Join(s, ", ")
}

func delegateTool(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	to, err := c.publicKey(c.str("to"))
	if err != nil {
		return nil, err
	}
	until, err := c.expiry("expires")
	if err != nil {
		return nil, err
	}
	actions := []credentials.Action{}
	for _, s := range c.strs("action") {
		actions = append(actions, credentials.Action(s))
	}
	if len(actions) == 0 {
		actions = append(actions, credentials.Overwrite)
	}
	slices.Sort(actions)
	if err := credentials.CheckActions(actions); err != nil {
		return nil, usagef("--action: %v", err)
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	out := c.str("out")
	if out != "" && exists(out) {
		return nil, usagef("--out %s exists", out)
	}
	v, err := a.Delegate(ctx, h, to, actions, until)
	if err != nil {
		return nil, err
	}
	return delegationOutput{v, out}, keepHandle(out, v.Handle)
}

// delegationsOutput are the live delegations of a tool.
type delegationsOutput struct{ registry.DelegationList }

func (o delegationsOutput) show(w io.Writer) {
	rows := [][]string{{"ID", "TO", "ACTIONS", "EXPIRES"}}
	for _, d := range o.Delegations {
		rows = append(rows, []string{string(d.ID), string(d.To), actionText(d.Actions), moment(d.Expires)})
	}
	table(w, rows)
}

func listDelegations(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	ds, err := a.Delegations(ctx, h)
	if ds == nil {
		ds = []registry.DelegationView{}
	}
	return or(delegationsOutput{registry.DelegationList{Delegations: ds}}, err)
}

func undelegateTool(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	id := credentials.TokenID(c.str("id"))
	v, err := a.RevokeDelegation(ctx, h, id)
	return or(delegationOutput{DelegationView: v}, err)
}

func acceptTool(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.Client().Tool(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := a.Accept(v)
	return or(acceptOutput{s, a.ID(), a.JWK()}, err)
}

func transferTool(c *call) (any, error) {
	h, _, err := c.handle()
	if err != nil {
		return nil, err
	}
	to, err := c.publicKey(c.str("to"))
	if err != nil {
		return nil, err
	}
	accept, err := c.token("accept", "accept")
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sureIfPerson(fmt.Sprintf("Give tool %s away?", h.Tool)); err != nil {
		return nil, err
	}
	v, err := a.Transfer(ctx, h, to, accept)
	return or(toolOutput{v}, err)
}

func undoTransfer(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.UndoTransfer(ctx, id)
	return or(toolOutput{v}, err)
}

func condemnTool(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sure(fmt.Sprintf("Condemn tool %s?", id)); err != nil {
		return nil, err
	}
	v, err := a.CondemnTool(ctx, id, c.str("reason"))
	return or(toolOutput{v}, err)
}

func releaseTool(c *call) (any, error) {
	id, err := c.toolID()
	if err != nil {
		return nil, err
	}
	digest, err := credentials.ParseDigest(c.str("digest"))
	if err != nil {
		return nil, usagef("--digest: %v", err)
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := a.ReleaseTool(ctx, id, digest, c.str("reason"))
	return or(toolOutput{v}, err)
}
