package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Counters are what /metrics shows of a gateway. A nil one counts nothing.
type Counters struct {
	requests *prometheus.CounterVec
	held     *prometheus.CounterVec
}

// NewCounters makes the counters; whoever serves metrics registers Collectors.
func NewCounters() *Counters {
	return &Counters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pratique_gateway_requests_total", Help: "Requests of agents, by method, outcome and reason of the decision.",
		}, []string{"method", "outcome", "reason"}),
		held: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pratique_gateway_items_held_total", Help: "Items of upstreams that were held back: withheld, changed or new.",
		}, []string{"upstream", "kind"}),
	}
}

// Collectors are the counters, and those of one upstream's starts: processes or
// sessions that were begun.
func (c *Counters) Collectors(upstream string, starts func() uint64) []prometheus.Collector {
	return []prometheus.Collector{c.requests, c.held, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "pratique_gateway_upstream_starts_total", Help: "Processes or sessions of the upstream that were begun, restarts among them.",
		ConstLabels: prometheus.Labels{"upstream": upstream},
	}, func() float64 { return float64(starts()) })}
}

func (c *Counters) request(method, outcome string, reason policy.Reason) {
	if c != nil {
		c.requests.WithLabelValues(method, outcome, string(reason)).Inc()
	}
}

// Held counts an item that was held back.
func (c *Counters) Held(upstream, kind string) {
	if c != nil {
		c.held.WithLabelValues(upstream, kind).Inc()
	}
}

// A tallied request is one that is counted and of which nothing is sent anywhere:
// attributes that nobody reads cost as much as those that somebody does.
type tallied struct {
	counters *Counters
	method   string
	reason   policy.Reason
}

func (t *tallied) Decided(d policy.Decision, _ labels.Tier) { t.reason = d.Reason() }

func (t *tallied) Forward(ctx context.Context) (context.Context, string, string) { return ctx, "", "" }

func (t *tallied) Returned(mcp.Frame) {}

func (t *tallied) End(outcome string) { t.counters.request(t.method, outcome, t.reason) }
