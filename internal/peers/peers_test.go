package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedProfilesAreWhatTheyClaim makes a small series and sums it.
func TestGeneratedProfilesAreWhatTheyClaim(t *testing.T) {
	dir := t.TempDir()
	one, two, sum := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "sum")
	var out bytes.Buffer
	for _, job := range [][]string{
		{"generate", "500", "300", "12", "1", "7", one, two},
		{"merge", sum, one, two},
		{"top", one},
		{"diff", one, two},
	} {
		if err := worker(job, &out); err != nil {
			t.Fatalf("%v: %v", job, err)
		}
	}
	if !strings.Contains(out.String(), "example.org/shop") {
		t.Errorf("top printed\n%s", &out)
	}
	var totals []int64
	for _, file := range []string{one, two, sum} {
		p, err := decodeFile(file)
		if err != nil {
			t.Fatal(err)
		}
		totals = append(totals, p.Total(1))
		if file == one && (p.NumSamples() != 500 || len(p.Labels(0)) != 1) {
			t.Errorf("%d samples, labels %v", p.NumSamples(), p.Labels(0))
		}
	}
	if totals[0]+totals[1] != totals[2] || totals[0] == totals[1] {
		t.Errorf("totals %v", totals)
	}
	if inlined := countInlined(t, one); inlined == 0 {
		t.Error("no inlined calls")
	}
}

func countInlined(t *testing.T, file string) (n int) {
	t.Helper()
	p, err := decodeFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Locations {
		n += max(0, len(l.Lines)-1)
	}
	return n
}

func TestTableShowsRatios(t *testing.T) {
	var out bytes.Buffer
	err := printTable(&out, []row{{what: "top", names: [2]string{"peer", "hone"}, usages: [2]usage{{cpu: 4, peak: 300}, {cpu: 0.1, peak: 50}}, target: "≥ 40×"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "40.0×") || !strings.Contains(out.String(), "6.0×") {
		t.Errorf("table:\n%s", &out)
	}
}

func TestMedian(t *testing.T) {
	if m := median([]float64{9, 1, 5}); m != 5 {
		t.Errorf("median of three: %v", m)
	}
	if m := median([]float64{4, 1, 2, 9}); m != 3 {
		t.Errorf("median of four: %v", m)
	}
}

func TestUnknownJobsAreErrors(t *testing.T) {
	if err := worker([]string{"fly", "x"}, nil); err == nil {
		t.Error("no error")
	}
	if err := worker([]string{"generate", "1", "2"}, nil); err == nil {
		t.Error("no error for missing numbers")
	}
	if _, err := decodeFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a missing file")
	}
}
