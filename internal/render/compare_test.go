package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/compare"
)

func TestComparisonPage(t *testing.T) {
	p := func(x float64) *float64 { return &x }
	c := &compare.Comparison{Old: "a.hone", New: "b.hone", Notes: []string{"a note"}, Rows: []compare.Row{
		{Name: "clean phase", Metric: "cpu", Unit: "s/request", Old: 1e-5, New: 2e-5, Ratio: p(2), Low: p(1.5), High: p(2.5), Floor: 0.33, Verdict: compare.Worse},
		{Name: "clean phase", Metric: "throughput", Unit: "requests/s", Old: 1000, New: 500, Ratio: p(0.5), Low: p(0.1), High: p(9), Floor: 7.5, Verdict: compare.Unknown},
		{Name: "Sum/small-2", Metric: "time", Unit: "s/operation", Old: 1e-6, New: 1e-6, Ratio: p(1), Low: p(0.9), High: p(1.1), Floor: 0.02, Verdict: compare.Unknown, Why: "of that"},
		{Name: "Sum/small-2", Metric: "allocations", Unit: "objects/operation", New: 1, P: p(0), Exact: true, Verdict: compare.Worse},
	}}
	var out bytes.Buffer
	Comparison(&out, c, Style{Width: 100})
	want := `
                      a.hone    b.hone   change             95 %      ±
cpu / request        10.0 µs   20.0 µs   +100 %   +50 % to +150 %   33 %   worse
throughput           1,000/s     500/s    −50 %   −90 % to ×9.00   ×8.50   unknown
Sum/small-2
  time               1.00 µs   1.00 µs     0.0 %    −10 % to +10 %          unknown
  allocations              0         1      new             exact          worse
note: a note
`
	if got := squeeze(out.String()); got != squeeze(want) {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if strings.Contains(out.String(), "Inf") {
		t.Error("infinite")
	}
}

// squeeze leaves one space between words, so that a column's width does not matter.
func squeeze(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}
