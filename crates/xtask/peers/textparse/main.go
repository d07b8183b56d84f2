// SPDX-License-Identifier: Apache-2.0

// Reads a page of metrics with the parsers of Prometheus' own scrapes: `textparse URL ACCEPT`.
//
// Prints the samples as JSON, one a line: the series with its labels, its value, and its start in milliseconds, which
// is 0 if the page does not say it. Of a native histogram, the value is its count. A page that Prometheus would refuse
// ends with an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

type sample struct {
	Series    string `json:"series"`
	Value     string `json:"value"`
	Start     int64  `json:"start"`
	Histogram bool   `json:"histogram"`
}

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: textparse URL ACCEPT"))
	}
	body, contentType, err := get(os.Args[1], os.Args[2])
	if err != nil {
		fail(err)
	}
	if err := read(body, contentType, json.NewEncoder(os.Stdout)); err != nil {
		fail(fmt.Errorf("%s as %s: %w", os.Args[1], contentType, err))
	}
}

func get(url, accept string) ([]byte, string, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Accept", accept)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s: %s", url, response.Status)
	}
	body, err := io.ReadAll(response.Body)
	return body, response.Header.Get("Content-Type"), err
}

func read(body []byte, contentType string, out *json.Encoder) error {
	// `_created` of OpenMetrics is the start of its series here, as in a scrape that stores starts.
	parser, err := textparse.New(body, contentType, labels.NewSymbolTable(), textparse.ParserOptions{
		OpenMetricsSkipSTSeries: true,
	})
	if err != nil {
		return err
	}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var found sample
		switch entry {
		case textparse.EntrySeries:
			_, _, value := parser.Series()
			found.Value = strconv.FormatFloat(value, 'g', -1, 64)
		case textparse.EntryHistogram:
			_, _, counted, float := parser.Histogram()
			found.Histogram = true
			if counted != nil {
				found.Value = strconv.FormatUint(counted.Count, 10)
			} else {
				found.Value = strconv.FormatFloat(float.Count, 'g', -1, 64)
			}
		default:
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		found.Series = series.String()
		found.Start = parser.StartTimestamp()
		if err := out.Encode(found); err != nil {
			return err
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "textparse:", err)
	os.Exit(1)
}
