// Prometheus 3, whose modules count from 0.300.
module perfmon-exporter/peers/prometheus3

go 1.26.0

require github.com/prometheus/prometheus v0.316.0
