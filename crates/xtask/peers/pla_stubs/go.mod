module perfmon-exporter/peers/pla_stubs

go 1.26.0

require github.com/oiweiwei/go-msrpc v1.2.5
