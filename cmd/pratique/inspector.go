package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/warden"
	"github.com/pratique-dev/pratique/quarantine/warden/broker"
	"github.com/pratique-dev/pratique/registry/node"
)

// An inspection is the inspector of a process, with the language model that it may
// ask.
type inspection struct {
	*warden.Warden
	model *broker.Broker // nil: none
}

// inspector makes the inspector that the configuration wants. Its first child
// starts behind our back.
func (c *call) inspector(cfg node.InspectorConf, log *slog.Logger) (*inspection, error) {
	i, o := &inspection{}, cfg.Options()
	o.Log = log
	if cfg.Model.On() {
		var err error
		if i.model, err = broker.New(cfg.Model, &broker.Options{Now: c.now, Log: log}); err != nil {
			return nil, err
		}
		o.Broker = i.model
	}
	w, err := warden.New(o)
	if errors.Is(err, warden.ErrSandbox) {
		return nil, &coded{exitPrecondition, fmt.Errorf("%w; with inspector.sandbox: best-effort it runs with what there is", err)}
	}
	i.Warden = w
	return i, err
}

// inspectorByEnv is the inspector of a command that reads no configuration file.
func (c *call) inspectorByEnv(log *slog.Logger) (*inspection, error) {
	cfg := node.Config{Data: "."}
	if err := overrideConfig(&cfg, os.LookupEnv); err != nil {
		return nil, err
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return c.inspector(cfg.Inspector, log)
}

// patience is how long whoever waits for a verdict should.
func (i *inspection) patience(cfg node.InspectorConf) time.Duration {
	d := 2 * max(cfg.Deadline, warden.DefaultDeadline)
	if i.model != nil {
		d += i.model.Deadline()
	}
	return d
}

// checks are its lines of /readyz.
func (i *inspection) checks() []func() node.Check {
	out := []func() node.Check{func() node.Check {
		if err := i.Err(); err != nil {
			return node.Check{Name: "inspector", Note: err.Error()}
		}
		return node.Check{Name: "inspector", OK: true, Note: i.Level()}
	}}
	if i.model != nil { // without it, what it should have judged is suspect, and all else goes on
		out = append(out, func() node.Check {
			return node.Check{Name: "language model", OK: true, Note: modelState(i.model.Health())}
		})
	}
	return out
}

func modelState(h broker.Health) string {
	switch {
	case h.OK:
		return fmt.Sprintf("%s: answers; %d asked, %d failed", h.Engine, h.Asked, h.Failed)
	case h.Last == "":
		return h.Engine + ": not asked yet"
	}
	return fmt.Sprintf("%s: down, what it should judge is suspect; last: %s", h.Engine, h.Last)
}

// collectors are its lines of /metrics.
func (i *inspection) collectors() []prometheus.Collector {
	count := func(name, help string, of func(warden.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of(i.Stats())) })
	}
	return []prometheus.Collector{
		count("pratique_inspections_total", "Batches that were inspected, those out of the cache too.", func(s warden.Stats) uint64 { return s.Inspections }),
		count("pratique_inspections_cached_total", "Inspections out of the cache.", func(s warden.Stats) uint64 { return s.Cached }),
		count("pratique_inspections_partial_total", "Inspections without a whole report: what they were about is held.", func(s warden.Stats) uint64 { return s.Partial }),
		count("pratique_inspector_starts_total", "Processes of the inspector that were started.", func(s warden.Stats) uint64 { return s.Starts }),
		count("pratique_inspector_lost_total", "Processes of the inspector that crashed, hung or answered what they must not.", func(s warden.Stats) uint64 { return s.Lost }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "pratique_inspector_processes", Help: "Processes of the inspector now."},
			func() float64 { return float64(i.Stats().Live) }),
	}
}

// inspectorFindings are the doctor's: a child is started and has to judge, and a
// language model has to answer.
func (c *call) inspectorFindings(cfg node.InspectorConf) []node.Finding {
	const check = "inspector"
	i, err := c.inspector(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return []node.Finding{{Check: check, Level: "fail", Detail: err.Error()}}
	}
	defer i.Close()
	ctx, cancel := context.WithTimeout(c, time.Minute)
	defer cancel()
	r := i.Inspect(ctx, quarantine.Batch{Depth: quarantine.Deterministic, Specimens: []quarantine.Specimen{
		{Path: "description", Kind: quarantine.KindDescription, Text: "Lists the items of a project."},
	}})
	f := node.Finding{Check: check, Level: "ok", Detail: i.Level()}
	switch {
	case r.Partial:
		f.Level, f.Detail = "fail", "it judges nothing"
		if err := i.Err(); err != nil {
			f.Detail += ": " + err.Error()
		}
		f.Remedy = "inspector.sandbox: best-effort shows whether the sandbox is the reason"
	case !i.Confined():
		f.Level, f.Remedy = "warn", "on Linux with Landlock and seccomp, inspector.sandbox: required confines what reads hostile text"
	}
	out := []node.Finding{f}
	if i.model == nil {
		return out
	}
	m := node.Finding{Check: "language model", Level: "ok", Detail: i.model.Engine() + ": answers both probes rightly"}
	if err := i.model.Check(ctx); err != nil {
		m.Level, m.Detail, m.Remedy = "warn", err.Error(), "what it should judge is suspect until it answers; see docs/language-model.md"
	}
	return append(out, m)
}
