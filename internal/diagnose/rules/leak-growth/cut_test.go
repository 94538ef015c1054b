package leakgrowth

import (
	"go/ast"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestCut: assignments that leave elements of a list in a map out, and others.
func TestCut(t *testing.T) {
	const program = `package main

import "slices"

var lists = map[string][]int{}

func forms(k string, i int) {
	list := lists[k]
	lists[k] = append(list[:i], list[i+1:]...) //@ one
	lists[k] = slices.Delete(list, i, i+1)     //@ one
	lists[k] = list[:i]                        //@ cut
	lists[k] = nil                             //@ cut
	kept := list[:0]
	for _, n := range list {
		if n != i {
			kept = append(kept, n)
		}
	}
	lists[k] = kept                                                             //@ cut
	lists[k] = slices.DeleteFunc(list, func(n int) bool { return n == i })      //@ cut
	lists[k] = append(lists[k], i)                                              //@ none
	lists[k] = append(list, i)                                                  //@ none
	lists[k] = slices.Insert(list, 0, i)                                        //@ none
	lists[k] = list                                                             //@ none
}

func main() { forms("a", 1) }
`
	p, names := ruletest.MadeUp(t, program)
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		got := "none"
		for _, n := range place.Nodes {
			a, ok := n.(*ast.AssignStmt)
			if !ok || syntax.Line(place, a.Pos()) != s.Line || !element(a.Lhs[0]) || !cut(place, a.Rhs[0]) {
				continue
			}
			if got = "cut"; single(place, a) {
				got = "one"
			}
		}
		if got != names[s.Line] {
			t.Errorf("line %d: %s, want %s", s.Line, got, names[s.Line])
		}
	}
}
