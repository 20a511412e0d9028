package warden

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// A model is a broker that answers as it is told.
type model struct {
	mu     sync.Mutex
	asked  []quarantine.Batch
	answer func(ctx context.Context, question []byte) ([]byte, error)
	engine string
	time   time.Duration // 0: a second
}

func (m *model) Serves(origin string) bool { return origin == "https://a.example" }
func (m *model) Engine() string            { return "test-model/" + m.engine }
func (m *model) Deadline() time.Duration   { return cmp.Or(m.time, time.Second) }
func (m *model) Ask(ctx context.Context, b quarantine.Batch, question []byte) ([]byte, error) {
	m.mu.Lock()
	m.asked = append(m.asked, b)
	m.mu.Unlock()
	return m.answer(ctx, question)
}

// says is a model's answer of the form that is asked for.
func says(text string) func(context.Context, []byte) ([]byte, error) {
	return func(context.Context, []byte) ([]byte, error) {
		return opinion.Direct("abcdefgh234567zz", []byte(text)), nil
	}
}

const (
	benign = `{"v":1,"verdict":"benign","categories":[],"spans":[]}`
	attack = `{"v":1,"verdict":"injection","categories":[],"spans":[]}`
)

// ways are a warden with children and one without: both ask alike.
func ways(t *testing.T, m *model, run func(t *testing.T, w *Warden)) {
	t.Run("children", func(t *testing.T) {
		confined(t)
		run(t, warden(t, Options{Broker: m, Workers: 1}))
	})
	t.Run("off", func(t *testing.T) { run(t, warden(t, Options{Broker: m, Mode: Off})) })
}

// TestTheBrokerIsAsked over the pipe, about the parent's own batch, and only for
// origins and depths that may be asked about (RULES.md 35).
func TestTheBrokerIsAsked(t *testing.T) {
	m := &model{answer: says(attack), engine: "1"}
	ways(t, m, func(t *testing.T, w *Warden) {
		m.asked = nil
		b := one(harmless)
		r := w.Inspect(bg, b)
		if r.Verdict != quarantine.Hostile || r.Partial || r.Engine != w.Engine() || !strings.HasSuffix(r.Engine, "+test-model/1") || r.Findings[0].Category != quarantine.Opinion || r.Findings[0].Path != "description" {
			t.Errorf("%+v", r)
		}
		if len(m.asked) != 1 || m.asked[0].Specimens[0].Text != harmless || m.asked[0].Origin != b.Origin {
			t.Errorf("%+v", m.asked)
		}
		b.Depth = quarantine.Deterministic
		if r := w.Inspect(bg, b); r.Verdict != quarantine.Clear || strings.Contains(r.Engine, "model/1") || r.Partial {
			t.Errorf("%+v", r)
		}
		b = one(harmless)
		b.Origin = "https://other.example"
		if r := w.Inspect(bg, b); r.Verdict != quarantine.Clear || r.Engine == w.Engine() || r.Partial {
			t.Errorf("%+v", r)
		}
		if len(m.asked) != 1 {
			t.Errorf("asked %d times", len(m.asked))
		}
		m.engine = "2" // another model has not judged it
		if r := w.Inspect(bg, one(harmless)); len(m.asked) != 2 || !strings.HasSuffix(r.Engine, "+test-model/2") {
			t.Errorf("%d %+v", len(m.asked), r)
		}
		m.engine = "1"
	})
}

// TestTheBrokerFails: down, late, too long, nonsense: suspect, partial, not kept,
// and the child is none the worse.
func TestTheBrokerFails(t *testing.T) {
	for name, answer := range map[string]func(context.Context, []byte) ([]byte, error){
		"down":     func(context.Context, []byte) ([]byte, error) { return nil, errors.New("down") },
		"nothing":  func(context.Context, []byte) ([]byte, error) { return nil, nil },
		"nonsense": func(context.Context, []byte) ([]byte, error) { return []byte("yes"), nil },
		"huge":     func(context.Context, []byte) ([]byte, error) { return make([]byte, opinion.MaxReply+1), nil },
		"hangs": func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answer: answer}
			ways(t, m, func(t *testing.T, w *Warden) {
				m.asked = nil
				for range 2 {
					r := w.Inspect(bg, one(harmless))
					if r.Verdict != quarantine.Suspect || !r.Partial || r.Findings[0].Category != quarantine.Late {
						t.Errorf("%+v", r)
					}
				}
				if s := w.Stats(); len(m.asked) != 2 || s.Partial != 2 || s.Lost != 0 {
					t.Errorf("asked %d times, %+v", len(m.asked), s)
				}
			})
		})
	}
}

// TestTheBrokersTimeIsNotTheChilds: a model may take longer than a child may.
func TestTheBrokersTimeIsNotTheChilds(t *testing.T) {
	confined(t)
	const most = 1500 * time.Millisecond
	m := &model{time: time.Minute, answer: func(ctx context.Context, q []byte) ([]byte, error) {
		select {
		case <-time.After(most * 5 / 4):
			return says(benign)(ctx, q)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	w := warden(t, Options{Broker: m, Deadline: most, Workers: 1})
	ready(w)
	if r := w.Inspect(bg, one(harmless)); r.Verdict != quarantine.Clear || r.Partial {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(bg)
	time.AfterFunc(50*time.Millisecond, cancel)
	late(t, w.Inspect(ctx, one("who leaves does not pay for an answer")), quarantine.Late)
	if r := w.Inspect(bg, one(harmless+" ")); r.Verdict != quarantine.Clear || w.Stats().Lost != 0 {
		t.Errorf("%+v %+v", r, w.Stats())
	}
}
