package watched

import (
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/inputs"
)

// Functions remembers what a rule finds about watched functions: rows are many, functions few.
type Functions[T any] struct {
	pass  *rule.Pass
	look  func(*inputs.Function, *Cost) *T
	costs map[string]*Cost
	known map[string]*T
}

// Remember returns the watched functions of a recording about which look finds something; look
// returns nil if there is nothing. It is called once for each function that is asked for.
func Remember[T any](p *rule.Pass, look func(*inputs.Function, *Cost) *T) *Functions[T] {
	return &Functions[T]{pass: p, look: look, costs: Costs(p), known: map[string]*T{}}
}

// Of returns what is found about a function, by its name in profiles; nil for nothing.
func (f *Functions[T]) Of(name string) *T {
	found, seen := f.known[name]
	if !seen {
		if in := f.pass.Inputs.Of(name); in != nil {
			found = f.look(in, f.costs[name])
		}
		f.known[name] = found
	}
	return found
}
