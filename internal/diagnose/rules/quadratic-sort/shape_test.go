package quadraticsort

import (
	"go/ast"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestSortedBy: two nested loops that sort, by the way they compare and move elements.
func TestSortedBy(t *testing.T) {
	const src = `package main

type item struct{ score int }

type board struct{ items []*item }

type sorter interface {
	Less(i, j int) bool
	Swap(i, j int)
}

func before(a, b *item) bool { return a.score < b.score }

func (b *board) swap(i, j int) { b.items[i], b.items[j] = b.items[j], b.items[i] }

func methods(s sorter, n int) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			if s.Less(j, i) { //@ s
				s.Swap(i, j)
			}
		}
	}
}

func insertion(xs []item) {
	for i := 1; i < len(xs); i++ {
		cur := xs[i]
		j := i - 1
		for ; j >= 0 && xs[j].score > cur.score; j-- {
			xs[j+1] = xs[j] //@ xs
		}
		xs[j+1] = cur
	}
}

func temporary(ys []int) {
	for i := range ys {
		for j := range ys {
			if ys[i] < ys[j] { //@ ys
				t := ys[i]
				ys[i] = ys[j]
				ys[j] = t
			}
		}
	}
}

func (b *board) helpers() {
	for i := range b.items {
		for j := range len(b.items) - i - 1 {
			if before(b.items[j+1], b.items[j]) { //@ b.items
				b.swap(j, j+1)
			}
		}
	}
}

func parallel(keys, vals []int) {
	for i := range keys {
		for j := i + 1; j < len(keys); j++ {
			if vals[i] < vals[j] { //@ vals
				vals[i], vals[j] = vals[j], vals[i]
				keys[i], keys[j] = keys[j], keys[i]
			}
		}
	}
}

func extract(rest []item) (out []item) {
	for len(rest) > 0 {
		best := 0
		for i := range rest {
			if rest[i].score < rest[best].score { //@ rest
				best = i
			}
		}
		out = append(out, rest[best])
		rest = append(rest[:best], rest[best+1:]...)
	}
	return out
}

func ordered(all []item) (out []item) {
	for _, x := range all {
		at := len(out)
		for i, o := range out {
			if o.score > x.score { //@ out
				at = i
				break
			}
		}
		out = append(out, item{})
		copy(out[at+1:], out[at:])
		out[at] = x
	}
	return out
}

func ranks(all []item) (n int) {
	for _, x := range all {
		for _, y := range all {
			if y.score < x.score { //@ none
				n++
			}
		}
	}
	return n
}

func queue(work []item) (n int) {
	for len(work) > 0 {
		best := 0
		for i := range work {
			if work[i].score < work[best].score { //@ -
				best = i
			}
		}
		n++
		work = append(work, item{n})
		work = append(work[:best], work[best+1:]...)
	}
	return n
}

func main() {}
`
	for want, place := range ruletest.Places(t, src) {
		var nest []ast.Stmt
		for _, n := range place.Enclosing(place.Loop()) {
			if loop, ok := n.(*ast.ForStmt); ok {
				nest = append(nest, loop)
			} else if loop, ok := n.(*ast.RangeStmt); ok {
				nest = append(nest, loop)
			}
		}
		if len(nest) == 0 {
			t.Fatalf("%s: no loop around", want)
		}
		outer := nest[0]
		for _, n := range nest {
			if n != place.Loop() {
				outer = n
			}
		}
		got := "none"
		if list := sortedBy(place, outer, place.Loop()); list != nil {
			got = syntax.Text(list)
		}
		if want == "-" {
			want = "none"
		}
		if got != want {
			t.Errorf("line %d sorts %s, want %s", place.Line, got, want)
		}
	}
}
