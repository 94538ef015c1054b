package copiedperbranch

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestStepOf: a loop that keeps a copy of its state for each iteration.
func TestStepOf(t *testing.T) {
	const head = `package main

import "slices"

var _ = slices.Clone[[]int]

func use(all [][]int) int { return len(all) }

func main() {}

`
	for _, c := range []struct {
		code string
		want bool
	}{
		{"func F(n int) int {\n\tv := make([]int, n)\n\tvar all [][]int\n\tfor d := range n {\n\t\tall = append(all, slices.Clone(v)) //@ 1 | runtime.memmove\n\t\tv[d] = d\n\t}\n\treturn use(all)\n}", true},
		{"func F(n int) int {\n\tv := make([]int, n)\n\tvar all [][]int\n\tfor d := range n {\n\t\tpart := v[:d]\n\t\tc := make([]int, len(part)) //@ 1 | runtime.memmove\n\t\tcopy(c, part)\n\t\tall = append(all, c)\n\t\tv[d] = d\n\t}\n\treturn all[n-1][0]\n}", true},
		{"func F(n int) int {\n\tv := make([]int, n)\n\tall := make([][]int, n)\n\tfor d := range n {\n\t\tall[d] = append([]int(nil), v...) //@ 1 | runtime.memmove\n\t\tfor k := range d {\n\t\t\tv[k] = d\n\t\t}\n\t}\n\treturn all[n-1][0]\n}", true},
		{"func f(n int) ([][]int, int) {\n\tv := make([]int, n)\n\tall := make([][]int, n)\n\tfor d := range n {\n\t\tc := make([]int, len(v)) //@ 1 | runtime.memmove\n\t\tv[d] = d\n\t\tcopy(c, v)\n\t\tall[d] = c\n\t}\n\treturn all, 1\n}\n\nfunc F(n int) int {\n\tall, k := f(n)\n\treturn use(all) + k\n}", true},
		{"func f(n int) [][]int {\n\tv := make([]int, n)\n\tall := make([][]int, n)\n\tfor d := range n {\n\t\tc := make([]int, len(v)) //@ 1 | runtime.memmove\n\t\tv[d] = d\n\t\tcopy(c, v)\n\t\tall[d] = c\n\t}\n\treturn all\n}\n\nfunc F(n int) [][]int { return f(n) }", false},
		// Returned: the states are the result.
		{"func F(n int) [][]int {\n\tv := make([]int, n)\n\tvar all [][]int\n\tfor d := range n {\n\t\tall = append(all, slices.Clone(v)) //@ 1 | runtime.memmove\n\t\tv[d] = d\n\t}\n\treturn all\n}", false},
		// A new list in each step.
		{"func F(n int) int {\n\tv := make([]int, n)\n\tvar all [][]int\n\tfor d := range n {\n\t\tall = append(all, slices.Clone(v)) //@ 1 | runtime.memmove\n\t\tv = make([]int, n)\n\t\tv[d] = d\n\t}\n\treturn use(all)\n}", false},
		// Nothing in it changes.
		{"func F(v []int, n int) int {\n\tvar all [][]int\n\tfor range n {\n\t\tall = append(all, slices.Clone(v)) //@ 1 | runtime.memmove\n\t}\n\treturn use(all)\n}", false},
	} {
		p, _ := ruletest.MadeUp(t, head+c.code+"\n")
		place := p.Place(p.Table.Sites[0])
		got := false
		for _, made := range copiesOn(p, place.Outer()) {
			got = got || stepOf(place.Outer(), made) != nil
		}
		if got != c.want {
			t.Errorf("%s\n\tkeeps states: %v", c.code, got)
		}
	}
}
