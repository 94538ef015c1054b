package stacks

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/site"
)

// Callee returns the function that the charged line called on the way to the leaf; "" when the line
// itself is the leaf, or the row has no charged line.
func Callee(r *site.Row) string {
	if r.Owner <= 0 || r.Owner >= len(r.Stack) {
		return ""
	}
	return r.Stack[r.Owner-1].Function
}

// Calls reports whether the charged line itself called one of the named functions. Deeper frames do
// not count: they are calls of other lines.
func Calls(r *site.Row, patterns ...string) bool {
	callee := Callee(r)
	return callee != "" && funcname.Match(callee, patterns...)
}

// Leaf reports whether the charged line is the leaf of the row. Heap profiles lack the runtime's
// frames at the leaf, so there such a row is what the line allocates without a call: concatenation,
// conversion, make, boxing.
func Leaf(r *site.Row) bool { return r.Owner == 0 }

// Depth returns the index in the row's stack, leaf first, of the frame nearest the leaf that
// matches one of the patterns; the charged frame's index when none does.
func Depth(r *site.Row, patterns []string) int {
	owner := r.Owner
	if owner < 0 {
		owner = len(r.Stack)
	}
	for i := range owner {
		if funcname.Match(r.Stack[i].Function, patterns...) {
			return i
		}
	}
	return owner
}

// Select returns the rows for which keep holds.
func Select(rows []*site.Row, keep func(*site.Row) bool) []*site.Row {
	var kept []*site.Row
	for _, r := range rows {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Sum adds up the values and counts of rows.
func Sum(rows []*site.Row) (value, count int64) {
	for _, r := range rows {
		value += r.Value
		count += r.Count
	}
	return value, count
}

// Largest returns the row with the largest value; nil if there are none.
func Largest(rows []*site.Row) *site.Row {
	var most *site.Row
	for _, r := range rows {
		if most == nil || r.Value > most.Value {
			most = r
		}
	}
	return most
}

// Initial reports whether a row is from a package's initialisation, at the charged line or above
// it: that code runs once.
func Initial(r *site.Row) bool {
	for _, f := range r.Stack[max(r.Owner, 0):] {
		if funcname.IsInit(f.Function) {
			return true
		}
	}
	return false
}

// Reaches returns a function that reports whether the charged line of a row reaches one of the
// named functions only through packages named by prefixes ("fmt.", "io."). With a buffer in
// between, which is in another package, it reports false.
func Reaches(through []string, functions ...string) func(*site.Row) bool {
	return func(r *site.Row) bool {
		for i := r.Owner - 1; i >= 0; i-- {
			name := r.Stack[i].Function
			if funcname.Match(name, functions...) {
				return true
			}
			ok := false
			for _, prefix := range through {
				ok = ok || strings.HasPrefix(name, prefix)
			}
			if !ok {
				return false
			}
		}
		return false
	}
}

// Steady reports whether a row is of code that may run any number of times: it is not in a
// package's initialisation, not under a sync.Once, and does not fill a sync.Pool, whose misses
// other rules report.
func Steady(r *site.Row) bool { return SteadyFrom(r, r.Owner) }

// SteadyFrom is Steady for a line above the charged one, by the index of its frame: a sync.Once
// below that line may belong to an object which the line creates again and again.
func SteadyFrom(r *site.Row, line int) bool {
	if Initial(r) {
		return false
	}
	for i, f := range r.Stack[max(r.Owner, 0):] {
		once := max(r.Owner, 0)+i >= line && funcname.Match(f.Function, "sync.(*Once).*", "sync.OnceFunc*", "sync.OnceValue*")
		if once || funcname.Match(f.Function, "sync.(*Pool).Get") {
			return false
		}
	}
	return true
}

// Key names the first frames of a stack, at most so many, by function and line: rows with the same
// key are judged in the same way.
func Key(stack []*site.Frame, most int) string {
	var b strings.Builder
	for _, f := range stack[:min(len(stack), most)] {
		fmt.Fprintf(&b, "%s:%d\n", f.Function, f.Line)
	}
	return b.String()
}

// Outermost returns the index of the outermost frame of a stack, leaf first, that matches one of
// the patterns; -1 for none.
func Outermost(stack []*site.Frame, patterns ...string) int {
	for i := len(stack) - 1; i >= 0; i-- {
		if funcname.Match(stack[i].Function, patterns...) {
			return i
		}
	}
	return -1
}
