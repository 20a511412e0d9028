package node

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pratique-dev/pratique/internal/canon"
)

// metrics are what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
}

func newMetrics(n *Node) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pratique_http_request_seconds", Help: "Time from a request's headers to its answer, by route.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"route", "method", "status"}),
	}
	gauge := func(name, help string, f func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	gauge("pratique_ledger_entries", "Entries of the registry log in this process's view.", func() float64 {
		if v, err := n.record.View(); err == nil {
			return float64(v.Head.Size)
		}
		return -1
	})
	gauge("pratique_ledger_checkpoint_size", "Size of the newest published checkpoint.", func() float64 {
		_, h, _ := n.board.Latest()
		return float64(h.Size)
	})
	gauge("pratique_view_fresh", "1 if the view may be acted on, else 0 and everything is denied.", func() float64 {
		if n.record.Fresh() == nil {
			return 1
		}
		return 0
	})
	gauge("pratique_keys_version", "Version of the key ring.", func() float64 { return float64(n.ring.Ver()) })
	m.registry.MustRegister(m.requests)
	return m
}

func (m *metrics) observe(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// A Check is one line of /readyz?verbose.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
}

// Checks tells what readiness rests on.
func (n *Node) Checks() []Check {
	line := func(name string, err error, note string) Check {
		c := Check{Name: name, OK: err == nil, Note: note}
		if err != nil {
			c.Note = err.Error()
		}
		return c
	}
	size := ""
	if v, err := n.record.View(); err == nil {
		size = strconv.FormatUint(v.Head.Size, 10) + " entries"
	}
	_, keyErr := n.ckpt.current()
	out := []Check{
		line("view", n.record.Fresh(), size),
		line("keys", keyErr, "version "+strconv.FormatUint(n.ring.Ver(), 10)),
		line("key files", n.ring.Health(), ""),
	}
	for _, further := range n.opt.Checks {
		out = append(out, further())
	}
	return out
}

func (n *Node) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", n.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

func (n *Node) readyz(w http.ResponseWriter, r *http.Request) {
	checks := n.Checks()
	status := http.StatusOK
	for _, c := range checks {
		if !c.OK {
			status = http.StatusServiceUnavailable
		}
	}
	if !r.URL.Query().Has("verbose") {
		w.WriteHeader(status)
		if status == http.StatusOK {
			w.Write([]byte("ok\n"))
		} else {
			w.Write([]byte("not ready\n"))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, err := canon.Marshal(struct {
		Ready   bool    `json:"ready"`
		Version string  `json:"version,omitzero"`
		Checks  []Check `json:"checks"`
	}{status == http.StatusOK, n.opt.Version, checks})
	if err == nil {
		w.Write(body)
	}
}
