package repeatedwork

import (
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
)

// onTheWay returns the name of the map in which a recursion over a graph marks the nodes on the way
// to the current one, if that is all that it changes, and with what confidence its result depends
// only on the node: it returned the same each time, and never came to a marked node. With cycles,
// the result could depend on the way.
func (s *search) onTheWay(in *inputs.Function) (marks string, sure rule.Confidence) {
	const fewest, perInput = 1000, 4
	if !proved(in) || in.Compared < fewest || in.Different*perInput > in.Calls {
		return "", ""
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return "", ""
	}
	sig := syntax.SignatureOf(place)
	if sig == nil || !plain(sig.Results()) {
		return "", ""
	}
	m := effects.MarksOf(place)
	if m == nil || s.meets(place, m) || !keyed(sig, in, m) {
		return "", ""
	}
	return m.Var().Name(), rule.Likely
}

// plain reports whether results are numbers, truth values and texts, with or without an error.
func plain(results *types.Tuple) bool {
	values := 0
	for v := range results.Variables() {
		_, basic := v.Type().Underlying().(*types.Basic)
		if !basic && !syntax.IsError(v.Type()) {
			return false
		}
		if basic {
			values++
		}
	}
	return values > 0
}

// keyed reports whether the inputs that were counted are the nodes: all parameters but the marks
// were hashed by value, or are pointers.
func keyed(sig *types.Signature, in *inputs.Function, m *effects.Marks) bool {
	i, nodes := 0, 0
	for v := range sig.Params().Variables() {
		if v.Name() == "" || v.Name() == "_" {
			continue
		}
		if i == len(in.Params) || in.Params[i] == inputs.NotTaken {
			return false
		}
		_, pointer := v.Type().Underlying().(*types.Pointer)
		if !m.Has(v) && (in.Params[i] == inputs.ByValue || pointer) {
			nodes++
		}
		i++
	}
	return nodes > 0
}

// meets reports whether a recursion came to a node that was marked, or if that is not known.
func (s *search) meets(p *gocode.Place, m *effects.Marks) bool {
	tests, ok := m.Tests()
	if !ok || s.pass.Counts == nil {
		return true
	}
	for test, marked := range tests {
		if len(test.Body.List) == 0 {
			return true
		}
		runs, known := evidence.ReachedAt(s.pass, p, test.Body.List[0].Pos())
		if !known {
			return true
		}
		if !marked {
			all, known := evidence.ReachedAt(s.pass, p, test.Pos())
			if runs = all - runs; !known {
				return true
			}
		}
		if runs > 0 {
			return true
		}
	}
	return false
}
