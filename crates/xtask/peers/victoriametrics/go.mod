// A database that reads pages of metrics and takes OTLP.
module perfmon-exporter/peers/victoriametrics

go 1.26.0

require github.com/VictoriaMetrics/VictoriaMetrics v1.151.0
