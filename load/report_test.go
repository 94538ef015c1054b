package load_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/load"
)

func result() *load.Result {
	h := func(d time.Duration) *histogram.Histogram {
		h := histogram.New()
		h.RecordN(int64(d), 10)
		return h
	}
	return &load.Result{
		Start: time.Unix(1.7e9, 0).UTC(), Elapsed: 2 * time.Second, Rate: 6,
		Requests: 10, Missed: 2, Status: map[int]int64{200: 7, 503: 3}, Errors: map[load.ErrorKind]int64{load.ErrReset: 1},
		BytesIn: 1000, BytesOut: 500,
		Latency: h(20 * time.Millisecond), Service: h(10 * time.Millisecond), Lag: h(10 * time.Millisecond),
		CPUSeconds: 0.25, Verdict: load.VerdictLimited, VerdictWhy: "lag",
	}
}

func TestReportHasTheKeysOfItsSchema(t *testing.T) {
	text, err := json.Marshal(result())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	quantiles := func(s float64) map[string]any {
		return map[string]any{"count": 10.0, "min": s, "mean": s, "p50": s, "p90": s, "p99": s, "p99.9": s, "max": s}
	}
	want := map[string]any{
		"schema": "hone/load/v1", "start": "2023-11-14T22:13:20Z", "seconds": 2.0, "loop": "open",
		"requests": 10.0, "rate": 5.0, "asked_rate": 6.0, "missed": 2.0, "errors": 1.0, "failed": 4.0,
		"error_kinds": map[string]any{"reset": 1.0}, "status": map[string]any{"200": 7.0, "503": 3.0},
		"bytes_in": 1000.0, "bytes_out": 500.0,
		"latency": quantiles(0.02), "service": quantiles(0.01), "lag": quantiles(0.01),
		"cpu_seconds": 0.25, "connections": 0.0, "connections_opened": 0.0,
		"verdict": "generator-limited", "verdict_why": "lag",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}

func TestReportReadsBack(t *testing.T) {
	r := result()
	r.Closed, r.Latency, r.Lag = true, nil, nil
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "latency") || strings.Contains(s, "lag\":") || !strings.Contains(s, `"loop":"closed"`) {
		t.Errorf("a closed loop reports %s", s)
	}
	got, err := load.ParseReport(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Report(), got); d != "" {
		t.Errorf("report (-written +read):\n%s", d)
	}
	if _, err := load.ParseReport([]byte(`{"schema":"hone/load/v9"}`)); err == nil {
		t.Error("another schema was accepted")
	}
	var syntax *json.SyntaxError
	if _, err := load.ParseReport([]byte(`{`)); !errors.As(err, &syntax) {
		t.Errorf("broken JSON: %v", err)
	}
}

func TestMergeAddsIntoAnEmptyResult(t *testing.T) {
	var sum load.Result
	sum.Merge(result())
	sum.Merge(result())
	if sum.Requests != 20 || sum.Failed() != 8 || sum.Latency.Count() != 20 || sum.Elapsed != 4*time.Second || sum.Missed != 4 {
		t.Errorf("two results of 10 requests sum to %+v", sum.Report())
	}
}
