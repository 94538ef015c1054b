package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/bench"
)

// TestBenchHTML: the page needs no other files, has a plot for each ratio, and shows hostile names
// as text.
func TestBenchHTML(t *testing.T) {
	r := benchResult()
	r.Benchmarks[0].Name = "Benchmark<script>alert(1)</script>"
	r.Benchmarks[0].Old = []bench.Sample{{Values: map[string]float64{"ns/op": 10}}, {Values: map[string]float64{"ns/op": 12}}}
	r.Benchmarks[0].New = []bench.Sample{{Values: map[string]float64{"ns/op": 11}}}
	var page bytes.Buffer
	BenchHTML(&page, r)
	text := page.String()
	for _, bad := range []string{"<script", "http://", "https://", "src=", "href=", "NaN", "Inf"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	rows := 0
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			if row.Old != nil && row.Ratio != nil && *row.Ratio > 0 {
				rows++
			}
		}
	}
	if n := strings.Count(text, "<circle"); n != rows || rows == 0 {
		t.Errorf("%d plots of ratios, want %d", n, rows)
	}
	if !strings.Contains(text, "2 old and 1 new samples") {
		t.Error("no plot of samples")
	}
}
