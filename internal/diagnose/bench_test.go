package diagnose

import (
	"fmt"
	"testing"
)

// BenchmarkRun runs all rules over a large table without source: 2,000 sites of 20 CPU rows and 5
// allocation rows each; every tenth is a Sprintf.
func BenchmarkRun(b *testing.B) {
	p := pass()
	for i := range 2000 {
		function := fmt.Sprintf("main.f%d", i)
		s := at(function, "f.go", i)
		callee := "strings.Index"
		if i%10 == 0 {
			callee = "fmt.Sprintf"
		}
		for j := range 20 {
			s.CPU = append(s.CPU, cpu(1, "runtime.memmove", fmt.Sprintf("runtime.f%d", j), "runtime.mallocgc", callee, function))
		}
		for range 5 {
			s.Allocs = append(s.Allocs, row(100, 100<<10, "runtime.mallocgc", callee, function))
		}
		p.Table.Sites = append(p.Table.Sites, s)
	}
	p.Table.Totals.TotalSeconds, p.Table.Totals.CPUSamples = 400, 40_000
	rules := Rules()
	b.ReportAllocs()
	for b.Loop() {
		r, err := run(b.Context(), p, price, rules, Choice{})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Findings)+r.Hidden.BelowFloor != 200 {
			b.Fatalf("%d findings, %d hidden", len(r.Findings), r.Hidden.BelowFloor)
		}
	}
}
