package main

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/gogc"
)

// TestSettingsPage: a prediction is right if its CPU, relative to the program's own setting, and
// its memory are near the measurement.
func TestSettingsPage(t *testing.T) {
	measured := func(ratio, mib float64) *tunegc.Measured {
		low, high := ratio-0.01, ratio+0.01
		return &tunegc.Measured{CPUSeconds: 2 * ratio, Ratio: &ratio, Low: &low, High: &high, Resident: mib * (1 << 20)}
	}
	row := func(g int, cpu, mib float64, m *tunegc.Measured) tunegc.Row {
		return tunegc.Row{Setting: gogc.Setting{GOGC: g}, CPUSeconds: cpu, Resident: mib * (1 << 20), Measured: m}
	}
	r := &tunegc.Result{Unit: "run", GOGC: 100, Rows: []tunegc.Row{
		row(50, 1.2, 80, measured(1.05, 85)),    // 14 % too much CPU
		row(100, 1, 100, measured(1, 110)),      // the program's own
		row(200, 0.8, 150, measured(0.85, 140)), // holds
		row(400, 0.7, 300, measured(0.7, 200)),  // 50 % too much memory
		row(800, 0.6, 600, nil),
		row(1600, 0.6, 600, &tunegc.Measured{Failed: "out of memory"}),
	}, Choice: &tunegc.Choice{Row: 2, Env: []string{"GOGC=200"}}}
	r.Rows[1].Own, r.Rows[1].Measured.Ratio = true, nil
	var b strings.Builder
	settings{program{name: "x", dir: "y"}, r}.section(&b)
	for _, want := range []string{
		"| GOGC=50 | +20.0 % | +5.0 % (+4.0 to +6.0) | +14.3 % | 80 MiB | 85 MiB | -5.9 % | no |",
		"| **GOGC=200** | -20.0 % | -15.0 % (-16.0 to -14.0) | -5.9 % | 150 MiB | 140 MiB | +7.1 % | yes |",
		"| GOGC=400 | -30.0 % | -30.0 % (-31.0 to -29.0) | +0.0 % | 300 MiB | 200 MiB | +50.0 % | no |",
		"Recommended: `GOGC=200`.",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, not := range []string{"| GOGC=100 |", "GOGC=800", "GOGC=1600"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("%s was not measured against the program's own setting:\n%s", not, b.String())
		}
	}
}
