// Package opinion asks a language model what it thinks of texts that the stages
// before it left open, and believes little of the answer. It is pure: it has no
// network, no clock and no randomness, and runs where the engine runs, in a
// child process without authority.
//
// The work is split so that neither side has to trust the other. The Judge, which
// reads hostile texts and hostile answers, says only which places of its batch it
// wants to ask about (a Question). Whoever carries the question takes the texts
// out of its own copy of the batch, chooses marker and canary, and has the
// request made by Compose. A judge that was taken over can therefore choose no
// words, no model, no host and no header, and cannot hand texts of one origin
// over under the name of another.
//
// In the request the texts are data: in numbered lines, marked at every space
// with a marker that does not occur in them, between an instruction before and
// one after. The answer is a closed enum with line numbers, read strictly; no
// word of the model goes any further. It can raise a verdict and never lower one,
// and whatever is wrong with it is no answer: the texts are then suspect, and the
// report says that a stage did not run.
package opinion

import (
	"context"
	"errors"

	"github.com/pratique-dev/pratique/quarantine"
)

// Engine is the version of the prompt, the cutting and the reading of answers:
// part of every cache key.
const Engine = "opinion/1"

// Bounds. Config may lower the first three.
const (
	MaxWindow   = 16 << 10  // bytes of text in one request
	MaxRequests = 64        // requests for one batch
	MaxPieces   = 256       // pieces of specimens in one request
	MaxQuestion = 16 << 10  // bytes of a question
	MaxReply    = 256 << 10 // bytes of a reply
	MaxFindings = 256       // findings of one report; the verdict counts all
)

// Errors of questions and replies. None repeats a word of what was read.
var (
	ErrQuestion    = errors.New("opinion: not a question about this batch")
	ErrReply       = errors.New("opinion: the model's answer is not of the form that was asked for")
	ErrRefused     = errors.New("opinion: the model refused to answer")
	ErrCompromised = errors.New("opinion: the model's answer repeats what it must not: the text steered it")
	ErrRandom      = errors.New("opinion: no marker could be drawn")
)

// An Ask carries a question to the model and brings the reply back. An error
// means no answer, now; its text is not looked at. It is not called twice at
// once.
type Ask func(ctx context.Context, question []byte) (reply []byte, err error)

// Config are the bounds of a Judge. Zero values are the defaults; what is more
// than the bounds of the package is cut to them.
type Config struct {
	Window   int // bytes of text in one request; default 6144
	Overlap  int // bytes that a window shares with the one before; default an eighth of Window, and at most that
	Requests int // requests for one batch; default 32
}

func (c Config) orDefault() Config {
	if c.Window <= 0 {
		c.Window = 6 << 10
	}
	c.Window = min(max(c.Window, 256), MaxWindow)
	if c.Overlap <= 0 {
		c.Overlap = c.Window / 8
	}
	c.Overlap = min(c.Overlap, c.Window/8) // of texts that are mostly marks a window holds a third
	if c.Requests <= 0 {
		c.Requests = 32
	}
	c.Requests = min(c.Requests, MaxRequests)
	return c
}

// A Judge asks about batches. Nil is a judge that has nothing to say.
type Judge struct {
	ask Ask
	cfg Config
}

// New is a judge that asks by ask.
func New(ask Ask, cfg Config) *Judge { return &Judge{ask, cfg.orDefault()} }

// Engine says what judges, "" for none: part of quarantine.Report.Engine.
func (j *Judge) Engine() string {
	if j == nil {
		return ""
	}
	return Engine
}

// Judge asks about the specimens that are open: those that the stages before it
// found nothing in. The report is about nothing else; whoever has an earlier one
// takes the worse verdict of both.
//
// A surface that is inspected joined (RULES.md 35) is not asked about: each of
// its items was asked about on its own.
func (j *Judge) Judge(ctx context.Context, b quarantine.Batch, open func(at int) bool) quarantine.Report {
	r := quarantine.Report{Verdict: quarantine.Clear, Engine: j.Engine()}
	if j == nil || b.Depth != quarantine.Full || joined(b.Specimens) {
		return r
	}
	s := session{Judge: j, b: b, report: &r, left: j.cfg.Requests}
	s.stream(ctx, streamOf(b.Specimens, open))
	return r
}

// A session is the asking about one batch.
type session struct {
	*Judge
	b      quarantine.Batch
	report *quarantine.Report
	left   int  // requests
	down   bool // no answer came: nothing is asked any more
}

// stream asks about a stream, window by window, up to the first that is
// hostile: nothing is worse.
func (s *session) stream(ctx context.Context, st stream) {
	for w := range st.windows(s.cfg) {
		if s.down || s.left == 0 || ctx.Err() != nil {
			s.late(w)
			continue
		}
		s.left--
		reply, err := s.ask(ctx, Question{Pieces: w}.Append(nil))
		if err != nil {
			s.down = true
			s.late(w)
			continue
		}
		lines := Lines(s.b.Specimens, w)
		a, err := ParseReply(reply, len(lines))
		switch {
		case errors.Is(err, ErrCompromised):
			s.whole(w, quarantine.Opinion, quarantine.Hostile)
			return
		case err != nil:
			s.late(w)
		case a.Verdict != Benign:
			s.raise(w, lines, a)
			if a.Verdict == Injection {
				return
			}
		}
	}
}

// late says of a window that nobody judged it.
func (s *session) late(w []Piece) {
	s.report.Partial = true
	s.whole(w, quarantine.Late, quarantine.Suspect)
}

// whole holds an answer against all texts of its window: where in it the model saw
// something is a hint from a reader of hostile text, and what is cut out must not
// depend on it.
func (s *session) whole(w []Piece, c quarantine.Category, v quarantine.Verdict) {
	for _, p := range w {
		s.find(p, c, v)
	}
}

// raise turns an answer into findings: the window, then what explains it.
func (s *session) raise(w []Piece, lines []Line, a Answer) {
	v := a.Verdict.raises()
	s.whole(w, quarantine.Opinion, v)
	hints := a.places(lines)
	for i, p := range hints {
		if i == MaxSpans*2 {
			break
		}
		s.find(p, quarantine.Opinion, v)
	}
	at := w[0]
	if len(hints) > 0 {
		at = hints[0]
	}
	for _, c := range a.Categories {
		s.find(at, c.category(), v)
	}
}

func (s *session) find(p Piece, c quarantine.Category, v quarantine.Verdict) {
	s.report.Verdict = quarantine.Worse(s.report.Verdict, v)
	if len(s.report.Findings) >= MaxFindings {
		return
	}
	s.report.Findings = append(s.report.Findings, quarantine.Finding{
		Category: c, Verdict: v, Path: s.b.Specimens[p.At].Path, At: p.At, Span: quarantine.Span{From: p.From, To: p.To},
	})
}
