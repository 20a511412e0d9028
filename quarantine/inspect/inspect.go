// Package inspect is the structural inspector: it looks for what has no honest
// use where it stands. It reads hostile text and has no authority: no network,
// no process, no key, no record.
//
// It explains and routes. Hidden characters, text in the wrong place and familiar
// wording are found; paraphrase, procedures and other languages are not. What is
// allowed is decided by origin, label and policy.
package inspect

import (
	"context"
	"strings"
	"sync"

	"github.com/pratique-dev/pratique/quarantine"
)

// Engine is the version of stages and tables: part of every cache key.
const Engine = "structural/1"

// MaxFindings bounds the findings of one report; the verdict counts all.
const MaxFindings = 64

// New is the structural inspector. It is safe for concurrent use, keeps nothing
// and takes time linear in the text.
func New() quarantine.Inspector { return inspector{} }

type inspector struct{}

// Engine implements quarantine.Inspector.
func (inspector) Engine() string { return Engine }

var judges = sync.Pool{New: func() any { return new(judge) }}

// Inspect implements quarantine.Inspector. Nothing is cut: every byte of every
// specimen is looked at, or the verdict is Missing because ctx was done.
func (inspector) Inspect(ctx context.Context, b quarantine.Batch) (report quarantine.Report) {
	set := b.Specimens
	j := judges.Get().(*judge)
	defer func() {
		if recover() != nil { // a fault of ours is no verdict, and the judge is not used again
			report = quarantine.Report{Verdict: quarantine.Missing, Engine: Engine}
			return
		}
		j.release()
	}()
	j.begin(set)
	for i := range set {
		if i%64 == 0 && ctx.Err() != nil {
			return quarantine.Report{Verdict: quarantine.Missing, Engine: Engine}
		}
		j.at = i
		j.specimen(&set[i])
	}
	j.weigh()
	return quarantine.Report{Verdict: j.verdict, Findings: j.findings, Engine: Engine}
}

// A judge looks at one set. It is reused, but for the findings, which it gives
// away.
type judge struct {
	reader   reader
	sub      reader
	verdict  quarantine.Verdict
	findings []quarantine.Finding
	path     string
	at       int // place of the specimen in the batch
	kind     quarantine.Kind
	returned bool
	hits     []hit
	spots    []spot // weak hits of the set
	ids      map[string]bool
}

// A spot is a weak hit and the specimen that it is in.
type spot struct {
	hit
	path string
	at   int
}

func (j *judge) begin(set []quarantine.Specimen) {
	j.verdict, j.findings, j.ids = quarantine.Clear, nil, nil
	j.spots = j.spots[:0]
	for i := range set { // documents inside of the schema that a reference may name
		if set[i].Kind == quarantine.KindURI && strings.HasSuffix(set[i].Path, ".$id") {
			if j.ids == nil {
				j.ids = map[string]bool{}
			}
			j.ids[set[i].Text] = true
		}
	}
}

// release gives the judge back without the texts it saw.
func (j *judge) release() {
	const most = 1 << 16 // tokens and hits that are worth keeping the memory for
	if cap(j.reader.tokens) > most || cap(j.hits) > most || cap(j.spots) > most || cap(j.reader.spaced) > most {
		return
	}
	j.findings, j.ids, j.path, j.reader.text, j.sub.text = nil, nil, "", "", ""
	judges.Put(j)
}

func (j *judge) find(c quarantine.Category, v quarantine.Verdict, from, to int) {
	j.verdict = quarantine.Worse(j.verdict, v)
	if len(j.findings) < MaxFindings {
		j.findings = append(j.findings, quarantine.Finding{Category: c, Verdict: v, Path: j.path, At: j.at, Span: quarantine.Span{From: from, To: to}})
	}
}

func (j *judge) specimen(s *quarantine.Specimen) {
	j.path, j.kind, j.returned = s.Path, s.Kind, s.Kind.Returned()
	j.hits = j.hits[:0]
	text := s.Text
	plain, control := look(text)
	if !plain {
		j.characters(text)
	}
	if control {
		j.controls(text)
	}
	if !j.returned {
		j.padding(text)
		j.comment(text)
		j.encoded(text)
	}
	if s.Kind == quarantine.KindURI {
		j.reference(text)
	}
	j.reader.read(text, s.Kind == quarantine.KindName)
	j.hits = match(j.reader.tokens, j.hits)
	if len(j.reader.spaced) >= 12 {
		j.letters(len(text))
	}
	j.misplaced(text)
	j.settle()
}

// look tells whether a text is all ASCII, and whether it has control characters.
func look(s string) (plain, control bool) {
	var high, low byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		high |= c
		if c < ' ' || c == 0x7f {
			if c != '\n' && c != '\t' && c != '\r' {
				low = 1
			}
		}
	}
	return high < 0x80, low != 0
}

// view reads a text that was hidden in the specimen at a byte.
func (j *judge) view(text string, at int) {
	if text == "" {
		return
	}
	j.sub.read(text, false)
	n := len(j.hits)
	j.hits = match(j.sub.tokens, j.hits)
	for i := n; i < len(j.hits); i++ {
		j.hits[i].from, j.hits[i].to = int32(at), int32(at)+1
	}
}

// letters reads the text that letters standing alone spell.
func (j *judge) letters(size int) {
	n := len(j.hits)
	spelled := string(j.reader.spaced)
	j.view(spelled, 0)
	squeezed := strings.ReplaceAll(spelled, " ", "")
	for _, w := range []string{"ignoreall", "ignoreprevious", "ignoreprior", "previousinstructions", "priorinstructions", "systemprompt", "donottell"} {
		if strings.Contains(squeezed, w) {
			j.find(quarantine.Override, quarantine.Hostile, 0, size)
			return
		}
	}
	for i := n; i < len(j.hits); i++ {
		j.hits[i].to = int32(size)
	}
}
