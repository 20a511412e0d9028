package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// effectsChecked says of each line what it speaks of.
type effectsChecked struct {
	Catalogues []effectsCatalogue `json:"catalogues,omitzero"`
	Lines      []effectsLine      `json:"lines"`
}

type effectsCatalogue struct {
	File    string            `json:"file"`
	Key     credentials.KeyID `json:"key" doc:"that signed it"`
	Until   time.Time         `json:"until"`
	Entries int               `json:"entries"`
}

type effectsLine struct {
	effects.Line
	By    string `json:"by" doc:"file, or the catalogue's file"`
	State string `json:"state" doc:"used, behind the file, other version, no such tool, no such upstream"`
	More  string `json:"more,omitzero" doc:"what the tool looks like and the line does not name"`
}

func (o effectsChecked) show(w io.Writer) {
	for _, c := range o.Catalogues {
		fmt.Fprintf(w, "catalogue %s: %d entries, signed by %s, until %s\n", c.File, c.Entries, c.Key, moment(c.Until))
	}
	rows := [][]string{{"BY", "OF", "TOOL", "EFFECT", "STATE", "LOOKS LIKE MORE"}}
	for _, l := range o.Lines {
		of := l.Origin + l.Upstream
		if of == "" {
			of = l.Package
		}
		rows = append(rows, []string{l.By, of, baseline.Visible(l.Tool), l.Effect.String(), l.State, l.More})
	}
	table(w, rows)
}

func checkEffects(c *call) (any, error) {
	return c.effectsSeen(func(s *saidEffects, tools []effectsTool, names map[string]bool) (any, error) {
		if s.file == nil && len(s.catalogues) == 0 {
			return nil, &coded{exitPrecondition, errNoEffects}
		}
		out, astray := effectsChecked{Lines: []effectsLine{}}, false
		if s.file != nil {
			for _, l := range s.file.Lines() {
				out.Lines = append(out.Lines, spokenOf(l, string(effects.ByFile), effects.ByFile, tools, names))
				astray = astray || out.Lines[len(out.Lines)-1].State != "used"
			}
		}
		for _, x := range s.catalogues {
			lines := x.Lines()
			out.Catalogues = append(out.Catalogues, effectsCatalogue{x.path, x.Key, x.To, len(lines)})
			for _, l := range lines {
				out.Lines = append(out.Lines, spokenOf(l, x.path, effects.ByCatalogue, s.ofPackage(l, tools), names))
			}
		}
		if astray {
			return out, &coded{exitConflict, errAstray}
		}
		return out, nil
	})
}

// errAstray follows a report of lines of the operator's own file. A catalogue speaks of
// tools that need not be here.
var errAstray = errors.New("there are lines in the effects file that speak of no accepted tool, or of another version")

// ofPackage are the tools that an entry of a catalogue could be about: of its origin,
// or of the upstreams that the file says run its package.
func (s *saidEffects) ofPackage(l effects.Line, tools []effectsTool) (out []effectsTool) {
	for _, t := range tools {
		if l.Package != "" && s.Packaged(effects.Tool{Origin: t.Upstream, Upstream: t.Called}, l.Package) || l.Origin != "" && l.Origin == t.Upstream {
			out = append(out, t)
		}
	}
	return out
}

func spokenOf(l effects.Line, by string, source effects.Source, tools []effectsTool, names map[string]bool) effectsLine {
	out := effectsLine{Line: l, By: by, State: "no such tool"}
	if source == effects.ByFile {
		if !names[l.Origin] && !names[l.Upstream] {
			out.State = "no such upstream"
			return out
		}
		tools = slices.DeleteFunc(slices.Clone(tools), func(t effectsTool) bool { return t.Upstream != l.Origin && t.Called != l.Upstream })
	} else if len(tools) == 0 {
		out.State = "no such upstream"
		return out
	}
	for _, t := range tools {
		switch {
		case t.Tool != l.Tool:
			continue
		case !l.Digest.IsZero() && t.Digest != l.Digest:
			out.State = "other version"
			continue
		case t.By == string(source):
			out.State = "used"
		default:
			out.State = "behind the file"
		}
		out.More = more(l.Effect, t.looks)
		return out
	}
	return out
}
