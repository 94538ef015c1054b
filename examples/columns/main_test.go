package main

import (
	"bytes"
	"testing"
)

// TestQueries compares the answers with sums over a small table.
func TestQueries(t *testing.T) {
	table := generate(100)
	totals := table.running(10, 60)
	var all int64
	for p := range uint16(products) {
		cents, sum := table.between(10, 60, p)
		var own int64
		for _, c := range cents {
			own += c
		}
		if own != sum {
			t.Errorf("product %d: %d cents, but the prices add up to %d", p, sum, own)
		}
		all += sum
	}
	if last := totals[len(totals)-1]; last != all || len(totals) != 50 {
		t.Errorf("%d totals up to %d, want 50 up to %d", len(totals), last, all)
	}
}

// TestRunPrintsTheSame: two runs answer alike, also with fewer rows than a query reads.
func TestRunPrintsTheSame(t *testing.T) {
	for _, rows := range []int{1, 1000, queried + 10} {
		var a, b bytes.Buffer
		if err := run(&a, rows, 3); err != nil {
			t.Fatal(err)
		}
		if err := run(&b, rows, 3); err != nil || a.String() != b.String() || a.Len() == 0 {
			t.Errorf("%d rows: %q and %q, %v", rows, a.String(), b.String(), err)
		}
	}
}
