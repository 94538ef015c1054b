package columns_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hone-go/hone/profile/internal/columns"
)

func TestSetsOfLocations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	room := make([]int32, 30)
	for range 5000 {
		set, bits := make([]byte, 20), columns.NewSet(20)
		for i := range set {
			if r.IntN(4) == 0 {
				set[i] = 1
				bits.Add(int32(i))
			}
		}
		stack := make([]int32, r.IntN(30))
		for i := range stack {
			stack[i] = r.Int32N(20)
		}
		last := -1
		var picked []int32
		for i, l := range stack {
			if set[l] != 0 {
				last, picked = i, append(picked, l)
			}
		}
		if got := columns.LastOf(stack, set); got != last {
			t.Fatalf("LastOf(%v, %v) = %d, want %d", stack, set, got, last)
		}
		if got := columns.ContainsAny(stack, set); got != (last >= 0) {
			t.Fatalf("ContainsAny(%v, %v) = %v", stack, set, got)
		}
		if got := room[:columns.Pick(room, stack, bits)]; !slices.Equal(got, picked) {
			t.Fatalf("Pick(%v, %v) = %v, want %v", stack, set, got, picked)
		}
	}
}

func TestRowsWithLocationsOfASet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var runs columns.Runs
	for range 200 {
		set, bits := make([]byte, 150), columns.NewSet(150)
		for i := range set {
			if r.IntN(8) == 0 {
				set[i] = 1
				bits.Add(int32(i))
			}
		}
		var c columns.Stacks
		n := 1 + r.IntN(64)
		longest := 1 + r.IntN(12)
		for range n {
			length := r.IntN(longest)
			if r.IntN(100) == 0 {
				length = 1000 + r.IntN(3000)
			}
			stack := c.Reserve(length)
			for i := range stack {
				stack[i] = r.Int32N(150)
			}
			c.Commit(length)
		}
		if r.IntN(2) == 0 { // rows may share a stack
			c.Spans[r.IntN(n)] = c.Spans[r.IntN(n)]
		}
		first := r.IntN(n)
		got := runs.With(&c, bits, first, n-first)
		for j := range 64 {
			want := first+j < n && columns.ContainsAny(c.Row(first+j), set)
			if got>>j&1 != 0 != want {
				t.Fatalf("row %d of %d: %t, want %t", first+j, n, !want, want)
			}
		}
	}
}
