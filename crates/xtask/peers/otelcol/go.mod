module perfmon-exporter/peers/otelcol

go 1.26.0

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v0.162.0
	go.opentelemetry.io/collector/exporter/nopexporter v0.162.0
	go.opentelemetry.io/collector/otelcol v0.162.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.162.0
)
