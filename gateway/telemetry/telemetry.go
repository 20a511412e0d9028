// Package telemetry watches the requests of agents: spans and metrics by the
// conventions of OpenTelemetry for MCP, and counters for Prometheus. It implements
// gateway.Observer.
//
// It learns no argument and no result, and sends none. Names that an agent made up
// reach no metric: the name of a tool or prompt is used once a decision has found
// it among what this agent was shown. The agent's trace context becomes a link,
// never a parent, unless the operator's program says that the caller is trusted;
// baggage is dropped.
//
// Source: open-telemetry/semantic-conventions-genai v0.1.0 (MCP; all of it is still
// called development there). Names of our own begin with pratique.
package telemetry

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// scope names what made a span or a metric.
const scope = "github.com/pratique-dev/pratique/gateway"

// Options say where spans and metrics go; what is nil goes nowhere.
type Options struct {
	Traces   trace.TracerProvider
	Metrics  metric.MeterProvider
	Counters *Counters
	// Trusted tells of a request that its trace context may be the parent of our
	// span. nil: of none.
	Trusted func(s gateway.Seen) bool
	Now     func() time.Time // nil: time.Now
}

// An Observer watches. It is safe for concurrent use.
type Observer struct {
	o      Options
	tracer trace.Tracer
	server metric.Float64Histogram
	client metric.Float64Histogram
	mute   bool // nothing is sent: requests are only counted
}

var _ gateway.Observer = (*Observer)(nil)

// buckets are those of the conventions, in seconds.
var buckets = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// New makes an observer.
func New(o Options) (*Observer, error) {
	mute := o.Traces == nil && o.Metrics == nil && o.Trusted == nil
	if o.Traces == nil {
		o.Traces = nooptrace.NewTracerProvider()
	}
	if o.Metrics == nil {
		o.Metrics = noopmetric.NewMeterProvider()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Trusted == nil {
		o.Trusted = func(gateway.Seen) bool { return false }
	}
	m := o.Metrics.Meter(scope)
	histogram := func(name, what string) (metric.Float64Histogram, error) {
		return m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(buckets...))
	}
	server, err := histogram("mcp.server.operation.duration", "Time of a request from an agent, from its receipt to its answer.")
	if err != nil {
		return nil, err
	}
	client, err := histogram("mcp.client.operation.duration", "Time of a request to an upstream, from its sending to its answer.")
	if err != nil {
		return nil, err
	}
	return &Observer{o: o, tracer: o.Traces.Tracer(scope), server: server, client: client, mute: mute}, nil
}

var traceContext = propagation.TraceContext{}

// Begin implements gateway.Observer.
func (o *Observer) Begin(ctx context.Context, s gateway.Seen) (context.Context, gateway.Watch) {
	if o.mute {
		return ctx, &tallied{counters: o.o.Counters, method: method(s.Method)}
	}
	w := &watch{o: o, seen: s, method: method(s.Method)}
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(s.At), trace.WithAttributes(w.about()...)}
	// What stands in ctx is the process's own, never another's request.
	remote := trace.SpanContextFromContext(traceContext.Extract(context.Background(),
		propagation.MapCarrier{"traceparent": s.Traceparent, "tracestate": s.Tracestate}))
	switch {
	case !remote.IsValid():
		opts = append(opts, trace.WithNewRoot())
	case o.o.Trusted(s):
		ctx = trace.ContextWithRemoteSpanContext(ctx, remote)
	default:
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: remote}))
	}
	ctx, w.span = o.tracer.Start(ctx, w.method, opts...)
	w.ctx = ctx
	return ctx, w
}

// method is a method's name, or a word for those that no table knows: an agent can
// make up any number.
func method(name string) string {
	if _, ok := mcp.Lookup(name); ok {
		return name
	}
	return "other"
}

// A watch is one request. Its methods are called one after the other.
type watch struct {
	o      *Observer
	seen   gateway.Seen
	ctx    context.Context // of the server span
	method string
	name   string // of the item, once it is known to be one
	reason policy.Reason
	span   trace.Span

	client trace.Span // nil: not forwarded
	sent   time.Time
	kind   attribute.KeyValue // error.type of the answer
}

func key(name, value string) attribute.KeyValue { return attribute.String(name, cut(value)) }

// cut bounds what others chose.
func cut(s string) string { return s[:min(len(s), 128)] }

// about are the attributes of a request as it came.
func (w *watch) about() []attribute.KeyValue {
	s := w.seen
	transport := "tcp"
	if s.Way == "stdio" {
		transport = "pipe"
	}
	kv := []attribute.KeyValue{
		key("mcp.method.name", w.method), key("network.transport", transport), key("mcp.protocol.version", string(s.Revision)),
		key("mcp.session.id", s.Session), key("pratique.agent.id", string(s.Agent)), key("pratique.run.id", s.Run), key("pratique.upstream", s.Upstream),
	}
	if s.ID != "" {
		kv = append(kv, key("jsonrpc.request.id", string(s.ID)))
	}
	if s.Method == "tools/call" {
		kv = append(kv, key("gen_ai.operation.name", "execute_tool"))
	}
	return kv
}

// item is the attribute that names the item, and what it adds to a span's name.
func (w *watch) item() []attribute.KeyValue {
	switch {
	case w.name == "":
		return nil
	case w.seen.Method == "tools/call":
		return []attribute.KeyValue{key("gen_ai.tool.name", w.name)}
	case w.seen.Method == "prompts/get":
		return []attribute.KeyValue{key("gen_ai.prompt.name", w.name)}
	}
	return nil
}

// unknown tells of a reason that it leaves open whether there is such an item.
func unknown(r policy.Reason) bool {
	switch r {
	case policy.ReasonNotShown, policy.Undecided, policy.Shut, policy.ReasonIncomplete, policy.Method, policy.Arguments, policy.Quota, policy.UnknownUpstream:
		return true
	}
	return false
}

// Decided implements gateway.Watch.
func (w *watch) Decided(d policy.Decision, tier labels.Tier) {
	w.reason = d.Reason()
	if !unknown(w.reason) && (w.seen.Method == "tools/call" || w.seen.Method == "prompts/get") {
		w.name = w.seen.Name
		w.span.SetName(cut(w.method + " " + w.name))
	}
	kv := []attribute.KeyValue{
		attribute.String("pratique.decision", d.Verb().String()), attribute.String("pratique.reason", string(w.reason)),
		key("pratique.rule", d.Rule()), attribute.String("pratique.tier", tier.String()), attribute.Bool("pratique.enforced", d.Enforced()),
	}
	_, span := w.o.tracer.Start(w.ctx, "pratique decide", trace.WithTimestamp(w.seen.At), trace.WithAttributes(kv...))
	span.End(trace.WithTimestamp(w.o.o.Now()))
	w.span.SetAttributes(append(kv, w.item()...)...)
}

// Forward implements gateway.Watch.
func (w *watch) Forward(ctx context.Context) (context.Context, string, string) {
	w.sent = w.o.o.Now()
	kv := append([]attribute.KeyValue{key("mcp.method.name", w.method), key("mcp.protocol.version", string(w.seen.Revision)), key("pratique.upstream", w.seen.Upstream)}, w.item()...)
	if w.seen.Method == "tools/call" {
		kv = append(kv, key("gen_ai.operation.name", "execute_tool"))
	}
	parent := trace.ContextWithSpan(ctx, w.span)
	name := w.method
	if w.name != "" {
		name = cut(name + " " + w.name)
	}
	if w.client != nil { // sent again: what went out before did not arrive
		w.client.End(trace.WithTimestamp(w.sent))
	}
	ctx, w.client = w.o.tracer.Start(parent, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(w.sent), trace.WithAttributes(kv...))
	carrier := propagation.MapCarrier{}
	if sc := w.client.SpanContext(); sc.IsValid() {
		// The state of the trace that the agent is in was for us, not for the upstream.
		traceContext.Inject(trace.ContextWithSpanContext(context.Background(), sc.WithTraceState(trace.TraceState{})), carrier)
	}
	return ctx, carrier["traceparent"], carrier["tracestate"]
}

// Returned implements gateway.Watch.
func (w *watch) Returned(f mcp.Frame) {
	var status []attribute.KeyValue
	switch {
	case f.Shape == mcp.Failure && f.Error != nil:
		code := strconv.FormatInt(f.Error.Code, 10)
		w.kind = attribute.String("error.type", code)
		status = append(status, attribute.String("rpc.response.status_code", code), w.kind)
	case f.Shape == mcp.Result:
		if v, ok := mcp.Get(f.Result, "isError"); ok && string(v) == "true" {
			w.kind = attribute.String("error.type", "tool_error")
			status = append(status, w.kind)
		}
	}
	w.endClient(status...)
}

func (w *watch) endClient(kv ...attribute.KeyValue) {
	if w.client == nil {
		return
	}
	now := w.o.o.Now()
	w.client.SetAttributes(kv...)
	if len(kv) > 0 {
		w.client.SetStatus(codes.Error, "")
	}
	w.client.End(trace.WithTimestamp(now))
	w.client = nil
	w.o.client.Record(w.ctx, now.Sub(w.sent).Seconds(), metric.WithAttributes(w.measured(kv)...))
}

// measured are the attributes of a metric: of few values each.
func (w *watch) measured(more []attribute.KeyValue) []attribute.KeyValue {
	kv := []attribute.KeyValue{key("mcp.method.name", w.method), key("mcp.protocol.version", string(w.seen.Revision))}
	if w.seen.Method == "tools/call" {
		kv = append(kv, key("gen_ai.operation.name", "execute_tool"))
	}
	return append(append(kv, w.item()...), more...)
}

// End implements gateway.Watch.
func (w *watch) End(outcome string) {
	now := w.o.o.Now()
	kind := w.kind
	if !kind.Valid() && outcome != registry.OutcomeReturned && outcome != "answered" {
		kind = attribute.String("error.type", outcome)
	}
	var failed []attribute.KeyValue
	if kind.Valid() {
		failed = append(failed, kind)
		w.span.SetStatus(codes.Error, "")
	}
	w.endClient(failed...)
	w.span.SetAttributes(append(failed, attribute.String("pratique.outcome", outcome))...)
	w.span.End(trace.WithTimestamp(now))
	w.o.server.Record(w.ctx, now.Sub(w.seen.At).Seconds(), metric.WithAttributes(w.measured(append(failed, attribute.String("pratique.outcome", outcome)))...))
	w.o.o.Counters.request(w.method, outcome, w.reason)
}
