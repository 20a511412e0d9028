package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// ErrExporter says that a variable asks for an exporter that there is none of.
var ErrExporter = errors.New("telemetry: OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER are otlp or none, and the protocol is http/protobuf")

// An Export sends spans and metrics away. The zero value sends nothing.
type Export struct {
	Traces  *sdktrace.TracerProvider // nil: none
	Metrics *sdkmetric.MeterProvider // nil: none
}

// FromEnvironment sets up what the standard variables of OpenTelemetry ask for, by
// OTLP over HTTP: nothing, unless OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER is
// otlp, or an OTEL_EXPORTER_OTLP_ENDPOINT is set. Everything else that those
// variables say (headers, timeouts, sampling, resource) is read by the SDK. look
// is os.LookupEnv.
func FromEnvironment(ctx context.Context, look func(string) (string, bool), version string) (*Export, error) {
	get := func(name string) string {
		v, _ := look(name)
		return strings.TrimSpace(v)
	}
	e := &Export{}
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return e, nil
	}
	traces, err := wanted(get, "TRACES")
	if err != nil {
		return nil, err
	}
	metrics, err := wanted(get, "METRICS")
	if err != nil {
		return nil, err
	}
	if !traces && !metrics {
		return e, nil
	}
	// What the environment says of the resource goes before what we say.
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "pratique"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	if traces {
		x, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
		e.Traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(x), sdktrace.WithResource(res))
	}
	if metrics {
		x, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("telemetry: %w", err), e.Shutdown(ctx))
		}
		e.Metrics = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(x)), sdkmetric.WithResource(res))
	}
	return e, nil
}

// wanted tells whether one signal is to be exported.
func wanted(get func(string) string, signal string) (bool, error) {
	exporter := get("OTEL_" + signal + "_EXPORTER")
	on := get("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || get("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
	switch exporter {
	case "none":
		return false, nil
	case "otlp":
		on = true
	case "":
	default:
		return false, ErrExporter
	}
	if !on {
		return false, nil
	}
	protocol := get("OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL")
	if protocol == "" {
		protocol = get("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	if protocol != "" && protocol != "http/protobuf" {
		return false, ErrExporter
	}
	return true, nil
}

// Observer watches and sends, and counts.
func (e *Export) Observer(o Options) (*Observer, error) {
	if e.Traces != nil { // not a nil pointer in an interface
		o.Traces = e.Traces
	}
	if e.Metrics != nil {
		o.Metrics = e.Metrics
	}
	return New(o)
}

// Shutdown sends what is left, within ctx.
func (e *Export) Shutdown(ctx context.Context) error {
	var err error
	if e.Traces != nil {
		err = errors.Join(err, e.Traces.Shutdown(ctx))
	}
	if e.Metrics != nil {
		err = errors.Join(err, e.Metrics.Shutdown(ctx))
	}
	return err
}
