package render

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose"
)

// mostBenchmarks is the largest number of benchmarks that the header lists; JSON has all.
const mostBenchmarks = 20

// benchmarks returns a line for each benchmark: the cost of an operation, and the range of its
// runs.
func benchmarks(list []diagnose.Benchmark) []string {
	shown := list[:min(len(list), mostBenchmarks)]
	rows := make([][]string, len(shown))
	var right []int
	for _, column := range benchmarkColumns() {
		cells, used := make([]string, len(shown)), false
		for i, b := range shown {
			cells[i] = column.cell(b)
			used = used || cells[i] != ""
		}
		if !used {
			continue
		}
		if column.number {
			right = append(right, len(rows[0]))
		}
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	lines := table(rows, "  ", right...)
	if more := len(list) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more; hone findings -json lists all", more))
	}
	return lines
}

type benchmarkColumn struct {
	cell   func(diagnose.Benchmark) string
	number bool
}

func benchmarkColumns() []benchmarkColumn {
	known := func(x *float64, format func(float64) string) string {
		if x == nil {
			return ""
		}
		return format(*x)
	}
	return []benchmarkColumn{
		{func(b diagnose.Benchmark) string { return b.Name }, false},
		{func(b diagnose.Benchmark) string { return seconds(b.Seconds) }, true},
		{func(b diagnose.Benchmark) string {
			return known(b.CPUSeconds, func(x float64) string { return seconds(x) + " CPU" })
		}, true},
		{func(b diagnose.Benchmark) string { return known(b.Bytes, size) }, true},
		{func(b diagnose.Benchmark) string { return known(b.Objects, allocs) }, true},
		{func(b diagnose.Benchmark) string {
			if b.Runs < 2 {
				return ""
			}
			return fmt.Sprintf("%d runs, %s to %s", b.Runs, seconds(b.Shortest), seconds(b.Longest))
		}, false},
	}
}

// allocs formats the number of allocations per operation, which is usually whole.
func allocs(x float64) string { return fmt.Sprintf("%.4g allocs", x) }
