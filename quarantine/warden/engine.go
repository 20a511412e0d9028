package warden

import (
	"context"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// engines are the engine with a language model and without it: which one judges a
// batch is the parent's word. Both sides make them in the same way, a child to
// judge and its parent to know the names that it must answer with.
type engines struct {
	plain, asking quarantine.Inspector
	names         [2][2]string // by depth, and by whether a language model is asked
}

func newEngines(ask opinion.Ask, cfg opinion.Config, asks bool) *engines {
	e := &engines{plain: inspect.New()}
	e.asking = e.plain
	if asks {
		e.asking = inspect.New(inspect.Options{Opinion: opinion.New(ask, cfg)})
	}
	for _, d := range []quarantine.Depth{quarantine.Full, quarantine.Deterministic} {
		for i, ins := range []quarantine.Inspector{e.plain, e.asking} {
			e.names[d][i] = ins.Inspect(context.Background(), quarantine.Batch{Depth: d}).Engine
		}
	}
	return e
}

// ran names the stages that run.
func (e *engines) ran(d quarantine.Depth, asks bool) string {
	if asks {
		return e.names[d][1]
	}
	return e.names[d][0]
}

// inspect judges. A fault of the engine is a report that failed.
func (e *engines) inspect(ctx context.Context, b quarantine.Batch, asks bool) (r quarantine.Report) {
	defer func() {
		if recover() != nil {
			r = failed(&b, quarantine.Late)
		}
	}()
	if asks {
		return e.asking.Inspect(ctx, b)
	}
	return e.plain.Inspect(ctx, b)
}
