package main

import (
	"io"
	"os"
	"strconv"

	"github.com/pratique-dev/pratique/registry/node"
)

func backupNoun() noun {
	return noun{name: "backup", usage: "write a consistent copy of the log, which may be in use", verbs: []verb{{
		usage: "write a consistent copy of the log, which may be in use",
		about: "Keys are not in it: back the keys folder up as files, encrypted. Restore with pratique restore.",
		flags: dataFlags(&option{name: "to", arg: "FILE", usage: "new file", required: true}), out: backupOutput{}, run: backup,
	}}}
}

// backupOutput says where the copy is.
type backupOutput struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func (o backupOutput) show(w io.Writer) {
	pairs(w, "backup", o.File, "bytes", strconv.FormatInt(o.Bytes, 10))
}

func backup(c *call) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := c.folder(cfg.Data); err != nil {
		return nil, err
	}
	_, end := c.progress("copying", -1)
	err = node.Backup(c, cfg, c.str("to"))
	end()
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(c.str("to"))
	if err != nil {
		return nil, err
	}
	return backupOutput{c.str("to"), st.Size()}, nil
}
