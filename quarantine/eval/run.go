package eval

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/eval/learn"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

// A Split says what is held out together.
type Split string

// The splits.
const (
	BySource Split = "source" // whole sources: what a figure is worth
	AtRandom Split = "random" // items, whatever their source: a contrast, which flatters
	Embedded Split = "none"   // nothing: the embedded model, which may have seen the items
)

// Options say how a corpus is measured.
type Options struct {
	Split Split            // BySource where empty
	Folds int              // 0: one for each source, or ten at random
	Now   func() time.Time // measures the time per item
}

// ErrFolds says that a corpus cannot be split: it is of one source, or has no
// attacks or no honest items where one is held out. The embedded model can be
// measured on it.
var ErrFolds = errors.New("eval: too little to train on when a part is held out")

// A judged is an item with what the inspector said of it.
type judged struct {
	*Item
	standing Standing
	language string
	report   quarantine.Report
	score    float64 // of the whole engine: the verdict of the rules, then the model
	took     time.Duration
}

// Run judges every item with the real inspector: the rules, and a model that did
// not see the item's source.
func Run(ctx context.Context, c *Corpus, o Options) (*Report, error) {
	if o.Split == "" {
		o.Split = BySource
	}
	all, folds, err := run(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return report(c, o, folds, all), nil
}

func run(ctx context.Context, c *Corpus, o Options) (out []judged, folds int, err error) {
	examples, err := c.Examples()
	if err != nil {
		return nil, 0, err
	}
	out = make([]judged, len(c.Items))
	if o.Split == Embedded {
		all := make([]int, len(c.Items))
		for i := range all {
			all[i] = i
		}
		return out, 0, judge(ctx, c, o, model.Embedded(), examples, all, out)
	}
	fold, n := deal(c, examples, o)
	if n < 2 {
		return nil, 0, ErrFolds
	}
	return out, n, each(ctx, n, func(f int) error {
		var seen []*learn.Example
		var held []int
		for i, e := range examples {
			switch {
			case fold[i] == f:
				held = append(held, i)
			case c.Items[i].Standing() != Inseparable:
				seen = append(seen, e)
			}
		}
		w, err := learn.Fit(seen)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFolds, err)
		}
		return judge(ctx, c, o, model.New(w), examples, held, out)
	})
}

// deal gives each item a fold.
func deal(c *Corpus, examples []*learn.Example, o Options) (fold []int, n int) {
	if o.Split == AtRandom {
		if n = o.Folds; n == 0 {
			n = 10
		}
		fold = make([]int, len(c.Items))
		for i, it := range c.Items {
			h := fnv.New32a()
			h.Write([]byte(it.ID))
			fold[i] = int(h.Sum32() % uint32(n))
		}
		return fold, n
	}
	fold = learn.Folds(examples, o.Folds)
	for _, f := range fold {
		n = max(n, f+1)
	}
	return fold, n
}

// each runs the folds on all processors; the first error is given.
func each(ctx context.Context, n int, run func(int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for f := range n {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if errs[f] = ctx.Err(); errs[f] == nil {
				errs[f] = run(f)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// judge inspects some items.
func judge(ctx context.Context, c *Corpus, o Options, m *model.Model, examples []*learn.Example, items []int, out []judged) error {
	ins := inspect.New(inspect.Options{Model: m})
	for _, i := range items {
		it := c.Items[i]
		set, err := it.Specimens()
		if err != nil {
			return err
		}
		j := judged{Item: it, standing: it.Standing(), language: it.Language()}
		began := o.Now()
		j.report = ins.Inspect(ctx, quarantine.Batch{Origin: "corpus", Specimens: set})
		j.took = o.Now().Sub(began)
		if j.report.Partial {
			return errors.Join(errors.New("eval: an inspection did not come to its end"), ctx.Err())
		}
		j.score = score(&j.report, m, examples[i])
		out[i] = j
	}
	return nil
}

// score puts items in an order: by the verdict that rules alone give, then by how
// far the model is above its threshold, or below.
func score(r *quarantine.Report, m *model.Model, e *learn.Example) float64 {
	const step = 1e6
	s := -step
	for p, have := range learn.Scores(m, e) {
		if limit := m.Threshold(model.Place(p)); have != model.Nothing && limit != model.Never {
			s = max(s, float64(have)-float64(limit))
		}
	}
	worst := quarantine.Clear
	for _, f := range r.Findings {
		if f.Category != quarantine.Learned {
			worst = quarantine.Worse(worst, f.Verdict)
		}
	}
	switch worst {
	case quarantine.Hostile:
		s += 3 * step
	case quarantine.Suspect:
		s += 2 * step
	}
	return s
}

// Examples are the items as training takes them, one for each.
func (c *Corpus) Examples() ([]*learn.Example, error) {
	out := make([]*learn.Example, len(c.Items))
	for i, it := range c.Items {
		set, err := it.Specimens()
		if err != nil {
			return nil, err
		}
		e := &learn.Example{Group: it.Group(), Attack: it.Attack(), Returned: it.Place() == "return", Prompt: it.Direct, Views: learn.Views(set)}
		e.Gauge = !e.Attack && it.Standing() == Real
		if e.Attack && it.Payload != "" {
			k := quarantine.KindDescription
			if e.Returned {
				k = quarantine.KindResult
			}
			e.Payload = learn.Views([]quarantine.Specimen{{Kind: k, Text: it.Payload}})
		}
		out[i] = e
	}
	return out, nil
}
