package prefix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/prefix"
)

// stacksOf builds a profile of random stacks of up to most frames of that many functions. Many
// share a long first part.
func stacksOf(t *testing.T, seed uint64, rows, functions, most int) *profile.Profile {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	var stack []profile.FrameSpec // the outermost first
	for row := range rows {
		stack = stack[:r.IntN(len(stack)+1)]
		for n := r.IntN(most + 1); len(stack) < n; {
			stack = append(stack, profile.FrameSpec{Function: fmt.Sprintf("f%d", r.IntN(functions))})
		}
		leafFirst := slices.Clone(stack)
		slices.Reverse(leafFirst)
		b.AddLabeled(leafFirst, []profile.Label{{Key: "row", Num: int64(row)}}, 1) // equal stacks are rows of their own
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDivide divides all nodes, and compares the rows of each with those whose stacks start as it
// does.
func TestDivide(t *testing.T) {
	for _, inverted := range []bool{false, true} {
		for seed, shape := range [][3]int{{0, 1, 1}, {1, 1, 4}, {3000, 3, 12}, {3000, 40, 9}, {400, 2, 300}, {60, 1, 400}, {5000, 1, 2}} {
			p := stacksOf(t, uint64(seed), shape[0], shape[1], shape[2])
			stack := func(row int32) []int32 {
				s := slices.Clone(p.Stack(int(row)))
				if !inverted {
					slices.Reverse(s)
				}
				return s
			}
			o := prefix.New(p, inverted)
			rows := slices.Clone(o.Rows())
			slices.Sort(rows)
			for i, row := range rows {
				if int(row) != i {
					t.Fatalf("%v: row %d is missing", shape, i)
				}
			}
			type node struct {
				lo, hi int
				depth  uint32
			}
			nodes := 0
			for left := []node{{0, p.NumSamples(), 0}}; len(left) > 0; nodes++ {
				if nodes == 50 {
					o.Trim()
				}
				n := left[0]
				left = left[1:]
				before := slices.Clone(o.Rows())
				var changed []int
				ends := o.Divide(n.lo, n.hi, n.depth, nil, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						changed = append(changed, i)
					}
				})
				for i, row := range o.Rows() {
					if row != before[i] && !slices.Contains(changed, i) {
						t.Fatalf("%v: position %d changed, which was not reported", shape, i)
					}
				}
				if n.lo == n.hi {
					continue
				}
				if !slices.IsSorted(ends) || ends[len(ends)-1] != n.hi {
					t.Fatalf("%v: %+v is divided at %v", shape, n, ends)
				}
				for lo := n.lo; len(ends) > 0; lo, ends = ends[0], ends[1:] {
					location := o.Location(lo, n.depth)
					for i := lo; i < ends[0]; i++ {
						s := stack(o.Rows()[i])
						if got := o.Location(i, n.depth); got != location || (got < 0) != (uint32(len(s)) == n.depth) || got >= 0 && s[n.depth] != got {
							t.Fatalf("%v: location %d at depth %d of %v, in the child of location %d", shape, got, n.depth, s, location)
						}
					}
					if ends[0] > lo && location >= 0 {
						left = append(left, node{lo, ends[0], n.depth + 1})
					}
				}
			}
			t.Logf("%v, inverted %v: %d nodes", shape, inverted, nodes)
		}
	}
}

// TestNodesAreFew: rows that share a location are in one child, except for a few.
func TestNodesAreFew(t *testing.T) {
	p := stacksOf(t, 1, 5000, 3, 30)
	o := prefix.New(p, false)
	lo, hi := 0, p.NumSamples()
	for depth := uint32(0); hi-lo > 100; depth++ {
		seen := map[int32]bool{}
		largest, from := [2]int{}, lo
		for _, end := range o.Divide(lo, hi, depth, nil, func(int, int) {}) {
			if l := o.Location(from, depth); l >= 0 && seen[l] {
				t.Fatalf("depth %d: location %d has two children of %d rows", depth, l, hi-lo)
			} else {
				seen[l] = true
			}
			if end-from > largest[1]-largest[0] {
				largest = [2]int{from, end}
			}
			from = end
		}
		lo, hi = largest[0], largest[1]
	}
}
