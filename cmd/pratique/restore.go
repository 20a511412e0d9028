package main

import (
	"io"
	"strconv"

	"github.com/pratique-dev/pratique/registry/node"
)

func restoreNoun() noun {
	return noun{name: "restore", usage: "replace the log by a backup: an operator's act that ends all earlier handles and labels", verbs: []verb{{
		usage: "replace the log by a backup: an operator's act that ends all earlier handles and labels",
		about: "A backup older than the newest checkpoint that can be known is refused, unless --accept-loss says that what came after it may be lost. No process may have the folder open. The replaced log is kept beside it.",
		flags: dataFlags(&option{name: "from", arg: "FILE", usage: "what pratique backup wrote", required: true}, reasonFlag(),
			&option{name: "accept-loss", kind: toggle, usage: "acknowledged entries after the backup may be lost"}, yesFlag()),
		out: restoreOutput{}, run: restore,
	}}}
}

// restoreOutput says what was replaced.
type restoreOutput struct {
	Before  uint64 `json:"before" doc:"entries of the replaced log"`
	After   uint64 `json:"after" doc:"entries of the backup"`
	Kept    string `json:"kept,omitzero" doc:"where the replaced log is now"`
	Revoked int    `json:"revoked" doc:"signing keys that were revoked with it"`
}

func (o restoreOutput) show(w io.Writer) {
	pairs(w, "entries before", strconv.FormatUint(o.Before, 10), "entries now", strconv.FormatUint(o.After, 10), "replaced log", o.Kept,
		"keys revoked", strconv.Itoa(o.Revoked))
}

func restore(c *call) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.sure("Replace the log of " + cfg.Data + " and end every handle and label?"); err != nil {
		return nil, err
	}
	r, err := node.Restore(c, cfg, node.Options{Now: c.now}, c.str("from"), c.str("reason"), c.is("accept-loss"))
	if err != nil {
		return nil, err
	}
	return restoreOutput{r.Before, r.After, r.Kept, r.Revoked}, nil
}
