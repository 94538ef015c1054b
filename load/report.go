package load

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/hone-go/hone/histogram"
)

// Schema is the name and version of Report's JSON.
const Schema = "hone/load/v1"

// Report holds the figures of a Result for people and scripts. Its JSON is the output of hone load
// -json and the load.json of a recording. Figures that were not measured are absent: a closed loop
// has neither latency nor lag.
type Report struct {
	Schema   string     `json:"schema"`
	Start    *time.Time `json:"start,omitempty"`
	Seconds  float64    `json:"seconds"`
	Loop     string     `json:"loop"` // "closed", or "open" (by schedule)
	Requests int64      `json:"requests"`
	Rate     float64    `json:"rate"` // answers per second
	Asked    float64    `json:"asked_rate,omitempty"`
	Missed   int64      `json:"missed"`
	Errors   int64      `json:"errors"`           // transport errors
	Failed   int64      `json:"failed"`           // errors and unexpected statuses
	Expect   string     `json:"expect,omitempty"` // the expected statuses; absent: all below 400

	ErrorKinds map[ErrorKind]int64 `json:"error_kinds,omitempty"`
	Status     map[string]int64    `json:"status,omitempty"`      // by code
	RedirectTo string              `json:"redirect_to,omitempty"` // the Location of one answer of 3xx
	Trouble    string              `json:"trouble,omitempty"`     // outcome of all requests, if none succeeded
	BytesIn    int64               `json:"bytes_in"`
	BytesOut   int64               `json:"bytes_out"`

	// In seconds.
	Latency *histogram.Summary `json:"latency,omitempty"`
	Service *histogram.Summary `json:"service,omitempty"`
	Lag     *histogram.Summary `json:"lag,omitempty"`

	PeakIn10ms  int64   `json:"peak_in_10ms,omitempty"`
	CPUSeconds  float64 `json:"cpu_seconds"` // of the generator's process
	Connections int     `json:"connections"` // open at the end
	Opened      int64   `json:"connections_opened"`
	Verdict     Verdict `json:"verdict"`
	VerdictWhy  string  `json:"verdict_why,omitempty"`
}

// Report returns r's figures.
func (r *Result) Report() *Report {
	p := &Report{
		Schema:      Schema,
		Seconds:     r.Elapsed.Seconds(),
		Loop:        "open",
		Requests:    r.Requests,
		Rate:        r.Throughput(),
		Asked:       r.Rate,
		Missed:      r.Missed,
		Failed:      r.Failed(),
		Expect:      r.Expect.String(),
		RedirectTo:  r.RedirectTo,
		Trouble:     r.Outcome().Trouble(),
		ErrorKinds:  r.Errors,
		BytesIn:     r.BytesIn,
		BytesOut:    r.BytesOut,
		Latency:     r.Latency.Summary(),
		Service:     r.Service.Summary(),
		Lag:         r.Lag.Summary(),
		PeakIn10ms:  r.PeakIn10ms,
		CPUSeconds:  r.CPUSeconds,
		Connections: r.OpenConns,
		Opened:      r.ConnsOpened,
		Verdict:     r.Verdict,
		VerdictWhy:  r.VerdictWhy,
	}
	if !r.Start.IsZero() {
		start := r.Start.Round(0) // the wall clock only
		p.Start = &start
	}
	if r.Closed {
		p.Loop = "closed"
	}
	for _, n := range r.Errors {
		p.Errors += n
	}
	if len(r.Status) > 0 {
		p.Status = map[string]int64{}
		for code, n := range r.Status {
			p.Status[strconv.Itoa(code)] = n
		}
	}
	return p
}

// MarshalJSON writes r as its Report.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.Report()) }

// ParseReport parses the JSON of a Report. It ignores unknown keys; another schema is an error.
func ParseReport(text []byte) (*Report, error) {
	var p Report
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("load report: %w", err)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("load report: schema %q, want %q", p.Schema, Schema)
	}
	return &p, nil
}
