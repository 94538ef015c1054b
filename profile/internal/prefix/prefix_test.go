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
			o := prefix.New(p, inverted, seed%2 > 0, make([]int64, p.NumSamples()))
			rows := slices.Clone(o.Rows())
			slices.Sort(rows)
			for i, row := range rows {
				if int(row) != i {
					t.Fatalf("%v: row %d is missing", shape, i)
				}
			}
			nodes := 0
			for left := []prefix.Node{o.Root()}; len(left) > 0; nodes++ {
				if nodes == 50 {
					o.Trim()
				}
				n := left[0]
				left = left[1:]
				before := slices.Clone(o.Rows())
				var changed []int
				children := o.Divide(n, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						changed = append(changed, i)
					}
				})
				for i, row := range o.Rows() {
					if row != before[i] && !slices.Contains(changed, i) {
						t.Fatalf("%v: position %d changed, which was not reported", shape, i)
					}
				}
				if n.Lo == n.Hi {
					continue
				}
				lo := n.Lo
				for i, c := range children.List {
					if c.Hi <= lo || c.Hi > n.Hi {
						t.Fatalf("%v: %+v is divided at %v", shape, n, children.List)
					}
					for at := int(lo); at < int(c.Hi); at++ {
						s := stack(o.Rows()[at])
						if got := o.Location(at, n.Depth); got != c.Location || (got < 0) != (uint32(len(s)) == n.Depth) || got >= 0 && s[n.Depth] != got {
							t.Fatalf("%v: location %d at depth %d of %v, in the child of location %d", shape, got, n.Depth, s, c.Location)
						}
					}
					if c.Location >= 0 {
						child := children.Node(i, lo)
						child.Depth++
						left = append(left, child)
					}
					lo = c.Hi
				}
				if lo != n.Hi {
					t.Fatalf("%v: %+v is divided at %v", shape, n, children.List)
				}
				kept := slices.Clone(children.List)
				again := o.Divide(n, func(lo, hi int) { t.Fatalf("%v: %d to %d are sorted again", shape, lo, hi) })
				if !slices.EqualFunc(kept, again.List, func(a, b prefix.Child) bool { return a.Hi == b.Hi && a.Location == b.Location }) {
					t.Fatalf("%v: %+v is divided at %v, then at %v", shape, n, kept, again.List)
				}
			}
			t.Logf("%v, inverted %v: %d nodes", shape, inverted, nodes)
		}
	}
}

// TestNodesAreFew: rows that share a location are in one child, except for a few.
func TestNodesAreFew(t *testing.T) {
	p := stacksOf(t, 1, 5000, 3, 30)
	o := prefix.New(p, false, false, make([]int64, p.NumSamples()))
	for n := o.Root(); n.Hi-n.Lo > 100; n.Depth++ {
		seen := map[int32]bool{}
		var largest prefix.Node
		lo := n.Lo
		children := o.Divide(n, func(int, int) {})
		for i, c := range children.List {
			if c.Location >= 0 && seen[c.Location] {
				t.Fatalf("depth %d: location %d has two children of %d rows", n.Depth, c.Location, n.Hi-n.Lo)
			}
			seen[c.Location] = true
			if c.Hi-lo > largest.Hi-largest.Lo {
				largest = children.Node(i, lo)
			}
			lo = c.Hi
		}
		n = largest
	}
}
