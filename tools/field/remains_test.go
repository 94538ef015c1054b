package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
)

// TestCompare: what still matches on the fixed version is the finding that explained the fault, or
// another one.
func TestCompare(t *testing.T) {
	saves := func(f *diagnose.Finding, resource string) *diagnose.Finding {
		f.Saving.Resource = resource
		return f
	}
	by := func(id string, rank int, share float64) *diagnose.Finding {
		f := promising(rank, "m.a", share)
		f.Rule = id
		return f
	}
	unknown := by("x", 1, 0)
	unknown.Saving = nil
	before := by("x", 1, 0.6)
	for _, c := range []struct {
		what     string
		before   *diagnose.Finding
		after    []*diagnose.Finding
		measured *span
		other    bool
		rule     string
	}{
		{"the same", before, []*diagnose.Finding{by("x", 1, 0.5)}, nil, false, "x"},
		{"by another rule", before, []*diagnose.Finding{by("y", 1, 0.6)}, nil, true, "y"},
		{"the same behind another", before, []*diagnose.Finding{by("y", 1, 0.6), by("x", 2, 0.3)}, nil, false, "x"},
		{"a remainder", before, []*diagnose.Finding{by("x", 1, 0.19)}, nil, true, "x"},
		{"the same share of much less", before, []*diagnose.Finding{by("x", 1, 0.6)}, &span{Low: 0.7, High: 0.9}, true, "x"},
		{"the same share of as much", before, []*diagnose.Finding{by("x", 1, 0.6)}, &span{Low: -0.1, High: 0.1}, false, "x"},
		{"a larger share of somewhat less", before, []*diagnose.Finding{by("x", 1, 0.9)}, &span{Low: 0.4, High: 0.6}, false, "x"},
		{"more expensive, as measured", before, []*diagnose.Finding{by("x", 1, 0.1)}, &span{Low: -9, High: -7}, true, "x"},
		{"latency, and CPU was measured", saves(by("x", 1, 0.6), "latency"), []*diagnose.Finding{saves(by("x", 1, 0.5), "latency")}, &span{Low: 0.7, High: 0.9}, false, "x"},
		{"another resource", before, []*diagnose.Finding{saves(by("x", 1, 0.1), "latency")}, nil, false, "x"},
		{"an unknown saving", before, []*diagnose.Finding{unknown}, nil, false, "x"},
	} {
		r := row{verdict: verdict{explaining: []*diagnose.Finding{c.before}}, Fixed: &verdict{explaining: c.after}, Measured: c.measured}
		r.explainedBy(c.before)
		r.Fixed.explainedBy(c.after[0])
		r.compare()
		if r.Fixed.Other != c.other || r.Fixed.Rule != c.rule {
			t.Errorf("%s: other %v by %s", c.what, r.Fixed.Other, r.Fixed.Rule)
		}
	}
	missed := row{Fixed: &verdict{Explained: 1, explaining: []*diagnose.Finding{before}}}
	if missed.compare(); !missed.Fixed.Other {
		t.Error("a fault that was not explained is explained by the same finding")
	}
}

// TestPageOfPairs: the page counts all that still matches, and how many of them are the same.
func TestPageOfPairs(t *testing.T) {
	c := &fieldCase{ID: "01-a", Kind: "cpu", Module: "m", Bad: "v1"}
	fixed := func(id string, saving float64, other bool) row {
		return row{c: c, verdict: verdict{Rank: 1, Explained: 1, Rule: "x", Saving: 0.6}, Fixed: &verdict{Rank: 1, Explained: 1, Rule: id, Saving: saving, Other: other}}
	}
	silent := fixed("x", 0, false)
	silent.Fixed.Explained = 0
	var page bytes.Buffer
	pairs := table{Rows: []row{silent, fixed("x", 0.5, false), fixed("x", 0.1, true), fixed("y", 0.3, true), fixed("y", 0, true)}}
	pairs.write(&page)
	for _, want := range []string{
		"Of 5 fixed versions 4 still have", "In 1 of them it is the finding", "| silent |", "| still: `x`, 60 % before, 50 % now |",
		"| less: `x`, 60 % before, 10 % now |", "| other: `y`, 30 % |", "| other: `y` |",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
}
