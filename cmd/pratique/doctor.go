package main

import (
	"io"

	"github.com/pratique-dev/pratique/registry/node"
)

func doctorNoun() noun {
	return noun{name: "doctor", usage: "look at a data folder for what makes its promises empty; changes nothing", verbs: []verb{{
		usage: "look at a data folder for what makes its promises empty; changes nothing",
		about: "Exit code 4 where something has failed; warnings alone are 0.",
		flags: []*option{{name: "data", arg: "DIR", usage: "data folder; default: as of pratique up"}, configFlag(), ringPassphraseFlag()},
		out:   doctorOutput{}, run: doctor,
	}}}
}

// doctorOutput is what was found.
type doctorOutput struct {
	OK       bool           `json:"ok" doc:"nothing has failed"`
	Data     string         `json:"data"`
	Findings []node.Finding `json:"findings"`
}

func (o doctorOutput) show(w io.Writer) {
	rows := [][]string{}
	for _, f := range o.Findings {
		rows = append(rows, []string{f.Level, f.Check, f.Detail})
		if f.Remedy != "" {
			rows = append(rows, []string{"", "", "→ " + f.Remedy})
		}
	}
	table(w, rows)
}

func doctor(c *call) (any, error) {
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	o := doctorOutput{OK: true, Data: cfg.Data, Findings: node.Doctor(c, cfg)}
	if cfg.Check() == nil {
		o.Findings = append(o.Findings, c.inspectorFindings(cfg.Inspector)...)
	}
	for _, f := range o.Findings {
		o.OK = o.OK && f.Level != "fail"
	}
	if !o.OK {
		return o, errFindings
	}
	return o, nil
}
