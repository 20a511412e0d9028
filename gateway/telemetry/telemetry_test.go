package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/telemetry"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

func Example() {
	o, err := telemetry.New(telemetry.Options{}) // goes nowhere
	if err != nil {
		panic(err)
	}
	_, w := o.Begin(context.Background(), gateway.Seen{Method: "tools/list"})
	w.End("answered")
	fmt.Println("watched")
	// Output: watched
}

const foreign = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

type kit struct {
	spans    *tracetest.InMemoryExporter
	reader   *sdkmetric.ManualReader
	counters *telemetry.Counters
	obs      *telemetry.Observer
}

func newKit(t *testing.T, trusted bool) *kit {
	t.Helper()
	k := &kit{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), counters: telemetry.NewCounters()}
	o, err := telemetry.New(telemetry.Options{
		Traces:  sdktrace.NewTracerProvider(sdktrace.WithSyncer(k.spans)),
		Metrics: sdkmetric.NewMeterProvider(sdkmetric.WithReader(k.reader)), Counters: k.counters,
		Trusted: func(gateway.Seen) bool { return trusted },
	})
	if err != nil {
		t.Fatal(err)
	}
	k.obs = o
	return k
}

// call walks one request through an observer.
func (k *kit) call(s gateway.Seen, d policy.Decision, answer *mcp.Frame, outcome string) (traceparent, tracestate string) {
	s.At = time.Now()
	ctx, w := k.obs.Begin(context.Background(), s)
	w.Decided(d, labels.Yellow)
	if answer != nil {
		_, traceparent, tracestate = w.Forward(ctx)
		w.Returned(*answer)
	}
	w.End(outcome)
	return traceparent, tracestate
}

func seen(name string) gateway.Seen {
	return gateway.Seen{Method: "tools/call", Name: name, ID: `"secret-id"`, Revision: mcp.Rev20250618, Way: "stdio", Upstream: "fix",
		Traceparent: foreign, Tracestate: "vendor=secret"}
}

func allowed(tool string) policy.Decision {
	return policy.Of(nil).Decide(policy.Facts{Profile: policy.Personal, Method: "tools/call", Tool: tool, Origin: "stdio:fix", Context: policy.Clean, Fit: policy.Fits, Tier: labels.Yellow,
		Standing: labels.Pinned, Content: labels.Inspected, Gate: policy.Cleared, Args: []byte(`{}`)})
}

func attr(s tracetest.SpanStub, key string) string {
	for _, kv := range s.Attributes {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

func (k *kit) span(t *testing.T, kind trace.SpanKind) tracetest.SpanStub {
	t.Helper()
	for _, s := range k.spans.GetSpans() {
		if s.SpanKind == kind {
			return s
		}
	}
	t.Fatalf("no span of kind %v", kind)
	return tracetest.SpanStub{}
}

// TestSpans: a server span, a decision below it, a client span to the upstream,
// with the names and attributes of the conventions.
func TestSpans(t *testing.T) {
	k := newKit(t, false)
	parent, state := k.call(seen("echo"), allowed("echo"), &mcp.Frame{Shape: mcp.Result, Result: []byte(`{"isError":true,"content":[]}`)}, registry.OutcomeReturned)
	server, decide, client := k.span(t, trace.SpanKindServer), k.span(t, trace.SpanKindInternal), k.span(t, trace.SpanKindClient)
	if server.Name != "tools/call echo" || client.Name != "tools/call echo" || decide.Name != "pratique decide" {
		t.Errorf("names: %s, %s, %s", server.Name, decide.Name, client.Name)
	}
	for key, want := range map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "echo", "gen_ai.operation.name": "execute_tool", "mcp.protocol.version": "2025-06-18",
		"network.transport": "pipe", "error.type": "tool_error", "pratique.decision": "allow", "pratique.outcome": "returned",
	} {
		if got := attr(server, key); got != want {
			t.Errorf("server span: %s is %q, want %q", key, got, want)
		}
	}
	if decide.Parent.SpanID() != server.SpanContext.SpanID() || client.Parent.SpanID() != server.SpanContext.SpanID() {
		t.Error("the spans are not below the server's")
	}
	if want := fmt.Sprintf("00-%s-%s-01", client.SpanContext.TraceID(), client.SpanContext.SpanID()); parent != want || state != "" {
		t.Errorf("upstream gets %q %q, want %q and no state of another's", parent, state, want)
	}
	if attr(client, "error.type") != "tool_error" {
		t.Error("the client span does not say that the tool failed")
	}
}

// TestTraceContext: an agent's context is a link; of a trusted caller it is the
// parent. A broken one is neither.
func TestTraceContext(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		k := newKit(t, trusted)
		k.call(seen("echo"), allowed("echo"), nil, registry.OutcomeRefused)
		s := k.span(t, trace.SpanKindServer)
		const id = "0af7651916cd43dd8448eb211c80319c"
		if parent := s.SpanContext.TraceID().String() == id; parent != trusted {
			t.Errorf("trusted %t: in the agent's trace: %t", trusted, parent)
		}
		if linked := len(s.Links) == 1 && s.Links[0].SpanContext.TraceID().String() == id; linked == trusted {
			t.Errorf("trusted %t: linked: %t", trusted, linked)
		}
	}
	k := newKit(t, true)
	bad := seen("echo")
	bad.Traceparent = "00-zz"
	k.call(bad, allowed("echo"), nil, registry.OutcomeRefused)
	if s := k.span(t, trace.SpanKindServer); len(s.Links) != 0 || s.Parent.IsValid() {
		t.Error("a broken context is used")
	}
}

// TestMadeUpNames: what an agent makes up, methods and names, reaches no metric
// and no span's name; nor does its id reach a metric.
func TestMadeUpNames(t *testing.T) {
	k := newKit(t, false)
	s := seen("made_up")
	k.call(s, policy.Refuse(policy.ReasonNotShown, "gate"), nil, registry.OutcomeRefused)
	s.Method = "made/up"
	k.call(s, policy.Refuse(policy.Method, "table"), nil, registry.OutcomeRefused)
	for _, x := range k.spans.GetSpans() {
		if strings.Contains(x.Name, "made") || attr(x, "gen_ai.tool.name") != "" {
			t.Errorf("span %s", x.Name)
		}
	}
	var rm metricdata.ResourceMetrics
	if err := k.reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	points := 0
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			if m.Name != "mcp.server.operation.duration" || m.Unit != "s" {
				t.Errorf("metric %s in %s", m.Name, m.Unit)
				continue
			}
			for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
				points++
				for _, kv := range p.Attributes.ToSlice() {
					if v := kv.Value.String(); strings.Contains(v, "made") || strings.Contains(v, "secret") {
						t.Errorf("metric with %s=%s", kv.Key, v)
					}
				}
			}
		}
	}
	if points != 2 {
		t.Errorf("%d points", points)
	}
}

// TestNothingOfACall: no argument, no result and no error text of an upstream
// is in any span.
func TestNothingOfACall(t *testing.T) {
	k := newKit(t, false)
	k.call(seen("echo"), allowed("echo"), &mcp.Frame{Shape: mcp.Failure, Error: &mcp.Error{Code: -32000, Message: "top secret"}}, registry.OutcomeError)
	for _, s := range k.spans.GetSpans() {
		all := s.Name + s.Status.Description
		for _, kv := range s.Attributes {
			all += string(kv.Key) + kv.Value.String()
		}
		if strings.Contains(all, "top secret") || strings.Contains(all, "vendor=") {
			t.Errorf("span %s holds what the upstream said", s.Name)
		}
	}
	if c := k.span(t, trace.SpanKindClient); attr(c, "rpc.response.status_code") != "-32000" || attr(c, "error.type") != "-32000" {
		t.Error("no status code")
	}
}

func TestCounters(t *testing.T) {
	k := newKit(t, false)
	r := prometheus.NewRegistry()
	for _, c := range k.counters.Collectors("fix", func() uint64 { return 3 }) {
		r.MustRegister(c)
	}
	k.call(seen("echo"), policy.Refuse(policy.ReasonChanged, "gate"), nil, registry.OutcomeRefused)
	k.counters.Held("fix", "tool")
	fs, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fs {
		got = append(got, fmt.Sprint(f.GetName(), " ", f.GetMetric()[0].GetCounter().GetValue()))
	}
	want := "pratique_gateway_items_held_total 1; pratique_gateway_requests_total 1; pratique_gateway_upstream_starts_total 3"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s", s)
	}
	var none *telemetry.Counters
	none.Held("a", "b") // counts nothing
}

// TestEnvironment: the standard variables alone turn it on.
func TestEnvironment(t *testing.T) {
	type vars map[string]string
	for _, tt := range []struct {
		env             vars
		traces, metrics bool
		bad             bool
	}{
		{vars{}, false, false, false},
		{vars{"OTEL_SERVICE_NAME": "x"}, false, false, false},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true, true, false},
		{vars{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"}, true, false, false},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_METRICS_EXPORTER": "none"}, true, false, false},
		{vars{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false, false, false},
		{vars{"OTEL_TRACES_EXPORTER": "zipkin"}, false, false, true},
		{vars{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, false, true},
	} {
		e, err := telemetry.FromEnvironment(t.Context(), func(n string) (string, bool) { v, ok := tt.env[n]; return v, ok }, "1")
		if (err != nil) != tt.bad {
			t.Errorf("%v: %v", tt.env, err)
		}
		if err != nil {
			continue
		}
		if (e.Traces != nil) != tt.traces || (e.Metrics != nil) != tt.metrics {
			t.Errorf("%v: traces %t, metrics %t", tt.env, e.Traces != nil, e.Metrics != nil)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel() // nobody is there
		e.Shutdown(done)
	}
}

// TestExport: a span arrives at a collector, by HTTP.
func TestExport(t *testing.T) {
	var got atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" {
			got.Add(1)
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.URL+"/v1/traces")
	env := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.URL + "/v1/traces"}
	e, err := telemetry.FromEnvironment(t.Context(), func(n string) (string, bool) { v, ok := env[n]; return v, ok }, "1")
	if err != nil {
		t.Fatal(err)
	}
	o, err := e.Observer(telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, w := o.Begin(t.Context(), seen("echo"))
	w.End("answered")
	if err := e.Shutdown(t.Context()); err != nil || got.Load() != 1 {
		t.Errorf("%d exports, %v", got.Load(), err)
	}
}
