package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile/pairing"
)

// TestShare: a function with nearly all samples has nearly all of the cost, and processes that
// differ widen the variance.
func TestShare(t *testing.T) {
	cost := func(values ...int64) (costs []pairing.Cost) {
		for _, v := range values {
			costs = append(costs, pairing.Cost{Value: v, Variance: float64(v) * 10})
		}
		return costs
	}
	for _, tt := range []struct {
		costs, totals   []pairing.Cost
		value, variance float64
	}{
		{cost(1000), cost(1000), 1, 0},
		{cost(500), cost(1000), 0.5, 0.0025},
		{cost(500, 500), cost(1000, 1000), 0.5, 0.00125},
		{cost(400, 600), cost(1000, 1000), 0.5, 0.01},
		{cost(0), cost(1000), 0, 0},
		{cost(0), cost(0), 0, 0},
	} {
		value, variance := share(tt.costs, tt.totals)
		if math.Abs(value-tt.value) > 1e-12 || math.Abs(variance-tt.variance) > 1e-12 {
			t.Errorf("%v of %v: %v ± %v², want %v, %v", tt.costs, tt.totals, value, variance, tt.value, tt.variance)
		}
	}
}

func TestChangedLines(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     []int
	}{
		{"abc", "abc", nil},
		{"abc", "aXc", []int{2}},
		{"abc", "abXYc", []int{3, 4}},
		{"abcd", "acd", []int{2}}, // b is gone: the line after it
		{"abc", "ab", []int{3}},   // the last line is gone
		{"abcde", "aXcYe", []int{2, 4}},
		{"", "ab", []int{1, 2}},
		{"xbcy", "bc", []int{1, 2}},
	} {
		lines := func(s string) []string { return strings.Split(s, "") }
		if got := changedLines(lines(tt.old), lines(tt.new)); !slices.Equal(got, tt.want) {
			t.Errorf("%q to %q: %v, want %v", tt.old, tt.new, got, tt.want)
		}
	}
	long := func(s string) []string { return slices.Repeat([]string{s}, mostMiddle+1) }
	if got := changedLines(long("a"), long("b")); len(got) != mostMiddle+1 {
		t.Errorf("a long file that is all new: %d lines", len(got))
	}
}

// TestNearestChange: the change of a function, or that of its nearest caller that changed.
func TestNearestChange(t *testing.T) {
	old, new := t.TempDir(), t.TempDir()
	const text = "package p\n\nfunc Outer() {\n\tfor range 100 {\n\t\tinner()\n\t}\n}\n\nfunc inner() {\n\tx++\n}\n\nfunc Other() {\n\tx--\n}\n"
	write := func(dir, text string) {
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(old, text)
	for _, tt := range []struct {
		what, from, to string
		line           int
		want           int
		ok             bool
	}{
		{"nothing", "", "", 5, 0, false},
		{"the function itself", "x++", "x += 2", 10, 10, true},
		{"the function, another line", "range 100", "range 110", 5, 4, true},
		{"another function", "x--", "x -= 2", 5, 0, false},
		{"a comment", "\tx++", "\t// why\n\tx++", 11, 0, false},
		{"a line that is gone", "\t\tinner()\n", "", 4, 5, true},
		{"no Go", "package", "pack age", 5, 0, false},
	} {
		write(new, strings.Replace(text, tt.from, tt.to, 1))
		c := &changes{old, new, map[string][]changedFunc{}}
		if line, ok := c.line(filepath.Join(new, "p.go"), tt.line); line != tt.want || ok != tt.ok {
			t.Errorf("%s: line %d, %v; want %d, %v", tt.what, line, ok, tt.want, tt.ok)
		}
		if _, ok := c.line(filepath.Join(new, "missing.go"), 1); ok {
			t.Errorf("%s: a file that is missing changed", tt.what)
		}
	}
	if c := (*changes)(nil); c.nearest(nil, "cpu", "p.inner") != nil {
		t.Error("no sides have a change")
	}
}
