package changed

import (
	"maps"
	"slices"
	"strings"
)

const (
	// leastTokens of a function make it known by its code.
	leastTokens = 40
	// alike is the part of its code that a function under another name must have, alikeNamed that
	// of one whose name differs in case alone.
	alike, alikeNamed = 0.8, 0.35
)

// renamed returns the function that has taken the place of one that is gone: it is new in the
// package, and has most of its code; nil if there is none.
func (p *pair) renamed(was *function) *function {
	there, here := p.new.packageOf(was), was.file.pkg
	if there == nil {
		return nil
	}
	old := was.code()
	if len(old) < leastTokens {
		return nil
	}
	var best *function
	most := 0.0
	for _, key := range slices.Sorted(maps.Keys(there.funcs)) {
		f := there.funcs[key][0]
		if len(here.funcs[key]) > 0 {
			continue
		}
		part := shared(old, f.code())
		least := alike
		if strings.EqualFold(f.decl.Name.Name, was.decl.Name.Name) {
			least = alikeNamed
		}
		if part >= least && part > most {
			best, most = f, part
		}
	}
	return best
}

// code is the tokens of a function's body, without the names of local variables.
func (f *function) code() []string {
	return f.file.tokens(f.decl.Body.Pos(), f.decl.Body.End(), f.scope().local)
}

// shared is the part of the longer list that is in both, in any order.
func shared(a, b []string) float64 {
	left := map[string]int{}
	for _, t := range a {
		left[t]++
	}
	n := 0
	for _, t := range b {
		if left[t] > 0 {
			left[t]--
			n++
		}
	}
	return float64(n) / float64(max(len(a), len(b), 1))
}
