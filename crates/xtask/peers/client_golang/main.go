// SPDX-License-Identifier: Apache-2.0

// A rival of the exporter's text encoder: Go's client library with the same series.
//
// For each line on its standard input it sets every gauge and counter to a new value, gathers and encodes one page of
// text, and answers with a line: the processor time of the whole process in nanoseconds, since gathering uses several
// threads, and the bytes of the page.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

const (
	targets         = 10
	seriesPerFamily = 1000
)

var modes = [...]string{"idle", "user", "privileged", "interrupt", "dpc", "read", "write", "flush"}

func main() {
	if len(os.Args) != 2 {
		fail("usage: client_golang SERIES")
	}
	series, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail(err)
	}
	registry := prometheus.NewRegistry()
	gauges := register(registry, series)
	rounds := bufio.NewScanner(os.Stdin)
	for seed := int64(1); rounds.Scan(); seed++ {
		change(gauges, seed)
		runtime.GC()
		begun := processorNanos()
		bytes := page(registry)
		fmt.Println(processorNanos()-begun, bytes)
	}
}

// register makes families of 1,000 series a target. All are gauges: a counter of this library cannot be set.
func register(registry *prometheus.Registry, series int) []prometheus.Gauge {
	gauges := make([]prometheus.Gauge, 0, series)
	perTarget := series / targets
	for family := 0; family*seriesPerFamily < perTarget; family++ {
		suffix := ""
		if family%2 == 1 {
			suffix = "_seconds_total"
		}
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: fmt.Sprintf("perfmon_disk_activity_item_%d%s", family, suffix),
			Help: "A family of the benchmark",
		}, []string{"target", "counter_instance", "mode", "zone"})
		registry.MustRegister(vec)
		for target := 0; target < targets; target++ {
			host := fmt.Sprintf("host-%03d.example.com", target)
			for index := 0; index < min(seriesPerFamily, perTarget-family*seriesPerFamily); index++ {
				zone := fmt.Sprintf("zone-%d", index%7)
				gauges = append(gauges, vec.WithLabelValues(host, fmt.Sprintf("%d,disk", index), modes[index%8], zone))
			}
		}
	}
	return gauges
}

// change gives a third large integers, a third three decimals, and a third any double.
func change(gauges []prometheus.Gauge, seed int64) {
	random := rand.New(rand.NewSource(seed))
	for index, gauge := range gauges {
		bits := random.Uint64()
		switch index % 3 {
		case 0:
			gauge.Set(float64(bits >> 24))
		case 1:
			gauge.Set(float64(bits>>40) / 1e3)
		default:
			gauge.Set(float64(bits>>11) / 1e16)
		}
	}
}

func page(registry *prometheus.Registry) int64 {
	families, err := registry.Gather()
	if err != nil {
		fail(err)
	}
	written := counter{}
	encoder := expfmt.NewEncoder(&written, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			fail(err)
		}
	}
	return written.bytes
}

// counter throws away what it is given.
type counter struct{ bytes int64 }

func (c *counter) Write(piece []byte) (int, error) {
	c.bytes += int64(len(piece))
	return io.Discard.Write(piece)
}

func processorNanos() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
