// Package broker is the only way from the inspector to a language model: one
// endpoint that the operator configured, or one local command.
//
// Who asks is not trusted: the inspector's child reads hostile texts, and may have
// been taken over by one. A question is therefore no request but a list of places
// in the batch that the parent gave to the child; the texts come out of the
// parent's copy, and everything else of the request, from host and key to the
// instructions and the model, is made here. Texts go to a model off this machine
// only from origins that the operator names (RULES.md 35), and the origin is the
// batch's, not the child's word.
//
// Who answers is not trusted either: bounded in time and bytes, no redirects, no
// proxies, no compression, one connection for each request, and the answer goes to
// the child to be read there. The key stays here: it is in no error, no log line
// and no reply.
package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// Errors of questions that got no reply. They are all that Error says; none
// repeats a text, an answer or a secret.
var (
	ErrOrigin      = errors.New("broker: the operator does not let texts of this origin go to the model")
	ErrQuestion    = errors.New("broker: not a question about this batch")
	ErrRated       = errors.New("broker: too many questions")
	ErrDown        = errors.New("broker: the model failed lately and is left alone for a while")
	ErrPaused      = errors.New("broker: the model failed lately on texts of this origin, which are left alone for a while")
	ErrUnhealthy   = errors.New("broker: the model gave a wrong answer to a question whose answer is known")
	ErrKey         = errors.New("broker: the key file does not hold one line of visible ASCII characters")
	ErrTimeout     = errors.New("broker: the model took too long")
	ErrUnreachable = errors.New("broker: the model could not be reached")
	ErrAddress     = errors.New("broker: a loopback name leads off this machine")
	ErrTLS         = errors.New("broker: the endpoint's certificate or TLS is not good")
	ErrRedirect    = errors.New("broker: the endpoint answers with a redirect")
	ErrStatus      = errors.New("broker: the endpoint's status is not 200")
	ErrType        = errors.New("broker: the endpoint's answer is not application/json")
	ErrEncoding    = errors.New("broker: the endpoint's answer is compressed")
	ErrTooLarge    = errors.New("broker: the model's answer is larger than the bound")
	ErrEcho        = errors.New("broker: the endpoint's answer repeats the key")
	ErrCommand     = errors.New("broker: the command failed")
)

// maxBody bounds the body of an answer, so that the reply with its first line fits.
const maxBody = opinion.MaxReply - 256

// Options are what a Broker is made with besides its Config; nil and the zero
// value are strict.
type Options struct {
	Random io.Reader        // of markers, canaries, probes; nil: crypto/rand
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: silence
}

// A sender carries a prompt to the model and brings the reply back.
type sender interface {
	send(ctx context.Context, p opinion.Prompt, canary string) ([]byte, error)
}

// A Broker asks one language model. It is safe for concurrent use.
type Broker struct {
	cfg     Config
	opt     Options
	to      sender
	origins map[string]bool // nil: all
	slots   chan struct{}   // one per running request
	rates   *rates
	health  health
}

// New is a broker for a model that is on. It reads the key and asks nothing yet.
func New(cfg Config, opt *Options) (*Broker, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if !cfg.On() {
		return nil, ErrConfig
	}
	cfg = cfg.withDefaults()
	b := &Broker{cfg: cfg, slots: make(chan struct{}, cfg.Parallel), rates: newRates(cfg.PerMinute, cfg.Parallel)}
	if opt != nil {
		b.opt = *opt
	}
	if b.opt.Random == nil {
		b.opt.Random = rand.Reader
	}
	if b.opt.Now == nil {
		b.opt.Now = time.Now
	}
	if b.opt.Log == nil {
		b.opt.Log = slog.New(slog.DiscardHandler)
	}
	b.health.probing = make(chan struct{}, 1)
	if len(cfg.Origins) > 0 {
		b.origins = map[string]bool{}
		for _, o := range cfg.Origins {
			b.origins[origin.Must(o).String()] = true // was checked
		}
	}
	if len(cfg.Command) > 0 {
		b.to = &command{argv: cfg.Command, timeout: cfg.Timeout}
		return b, nil
	}
	e, err := newEndpoint(cfg)
	if err != nil {
		return nil, err
	}
	b.to = e
	return b, nil
}

// Serves tells whether texts of an origin may go to the model.
func (b *Broker) Serves(from string) bool {
	return b.origins[from] || b.origins == nil && b.cfg.local()
}

// Engine names the model and how it is asked: part of every cache key.
func (b *Broker) Engine() string { return b.cfg.engine() }

// Deadline is how long all questions about one batch may take together.
func (b *Broker) Deadline() time.Duration { return b.cfg.Deadline }

// Ask has the model answer a question about places of batch, and gives its reply
// for opinion.ParseReply. Neither the question nor the reply is trusted.
func (b *Broker) Ask(ctx context.Context, batch quarantine.Batch, question []byte) ([]byte, error) {
	if !b.Serves(batch.Origin) {
		return nil, ErrOrigin
	}
	q, err := opinion.ParseQuestion(question, batch)
	if err != nil {
		return nil, ErrQuestion
	}
	a := b.rates.of(batch.Origin)
	if b.paused(a) {
		return nil, ErrPaused
	}
	if err := b.rates.wait(ctx, a); err != nil {
		return nil, err
	}
	for _, slots := range []chan struct{}{a.slots, b.slots} {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if b.paused(a) { // meanwhile
		return nil, ErrPaused
	}
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	return b.ask(ctx, batch, q, a)
}

// ask has a model answer that is there, and now and then a probe with it.
func (b *Broker) ask(ctx context.Context, batch quarantine.Batch, q opinion.Question, a *account) ([]byte, error) {
	before, after, err := b.chance()
	if err != nil {
		return nil, err
	}
	if before {
		if err := b.probe(ctx); err != nil {
			return nil, err
		}
	}
	reply, leaked, err := b.send(ctx, batch, q, a)
	if err != nil {
		return nil, err
	}
	if leaked {
		b.compromised(batch.Origin)
	}
	if after { // whoever answers this one wrongly may have answered the last one so
		if err := b.probe(ctx); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// send makes one request of places of a batch, on the account of its origin; of a
// probe, on none.
func (b *Broker) send(ctx context.Context, batch quarantine.Batch, q opinion.Question, a *account) (reply []byte, leaked bool, err error) {
	lines := opinion.Lines(batch.Specimens, q.Pieces)
	signs, err := opinion.Draw(b.opt.Random, lines)
	if err != nil {
		return nil, false, err
	}
	own, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	defer cancel()
	reply, err = b.to.send(own, opinion.Compose(lines, signs), signs.Canary)
	if err == nil {
		err = own.Err() // late is late
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, ctx.Err() // the caller's time, which says nothing of the model
		}
		if own.Err() != nil {
			err = ErrTimeout
		}
		b.failed(err, a, batch.Origin)
		return nil, false, err
	}
	b.answered(a)
	_, err = opinion.ParseReply(reply, len(lines))
	return reply, errors.Is(err, opinion.ErrCompromised), nil
}
