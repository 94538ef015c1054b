package repeatedwork

import (
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
)

// worth reports whether a call costs more than a lookup of its result would.
func worth(p *rule.Pass, c *watched.Cost, f *inputs.Function) bool {
	calls := watched.Calls(p, f)
	seconds, bytes := leastCost, float64(leastBytes)
	if f.Different <= mostVariables && len(f.Params) > 0 {
		seconds, bytes = leastFetched, leastFetchedBytes
	}
	return calls > 0 && (float64(c.Nanoseconds)*1e-9 >= seconds*calls || float64(c.Bytes) >= bytes*calls)
}

// pure returns the confidence that a function's result depends only on its input and that it has no
// side effects; "" when it may have some.
func (s *search) pure(f *inputs.Function, where scope) rule.Confidence {
	if funcname.Match(f.Name, effects.DeterministicFuncs()...) {
		return sure(f.ByValue())
	}
	line := f.Line
	if strings.Contains(f.Name, ".func") {
		line++ // the line of the func keyword belongs to the function around
	}
	place, ok := s.pass.Syntax.At(f.File, line)
	if !ok {
		return ""
	}
	signature := syntax.SignatureOf(place)
	switch {
	case signature == nil || !answers(signature):
		return ""
	case effects.Pure(place):
		return sure(f.ByValue() && signature.Recv() == nil)
	case where == inRequest && f.ByValue() && effects.LooksPure(place) && s.quiet(f.Name) && !effects.ChangesReached(s.pass.Syntax, place):
		return rule.Likely // within a request little changes
	case s.answersTheSame(f) && s.quiet(f.Name) && !s.allocatesOnly(f.Name):
		return rule.Likely
	}
	return ""
}

// addsAgain reports whether a function is a recursion that only adds to sets: a call with an input
// that it had before adds nothing.
func (s *search) addsAgain(f *found) bool {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	return ok && f.recursive && effects.AddsToSets(place)
}

// shared reports whether several lines call a function and nearly all of its time passes through
// one of its lines: one finding at that line is better than one at each caller.
func (s *search) shared(name string) bool {
	const most = 0.8
	c := s.costs[name]
	callers, lines := map[gocode.Pos]int64{}, map[gocode.Pos]int64{}
	var total int64
	for _, r := range c.Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i < 0 || i+1 >= len(r.Stack) {
			continue
		}
		total += r.Value
		lines[gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}] += r.Value
		callers[gocode.Pos{File: r.Stack[i+1].File, Line: r.Stack[i+1].Line}] += r.Value
	}
	largest := func(m map[gocode.Pos]int64) (n int64) {
		for _, v := range m {
			n = max(n, v)
		}
		return n
	}
	return total > 0 && float64(largest(callers)) < most*float64(total) && float64(largest(lines)) >= most*float64(total)
}

// quiet reports whether the profile shows no side effects below a function.
func (s *search) quiet(name string) bool {
	fine, file := effects.PureBelow(s.costs[name].Rows, func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
	})
	return fine && !file
}

func sure(is bool) rule.Confidence {
	if is {
		return rule.Measured
	}
	return rule.Likely
}

// answers reports whether a function returns something that is worth keeping: more than an error or
// a number of bytes, and nothing that is changed by its use.
func answers(s *types.Signature) bool {
	if makesWorker(s) {
		return false
	}
	for v := range s.Results().Variables() {
		if !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
			return s.Results().Len() == 1 || !types.Identical(v.Type(), types.Typ[types.Int])
		}
	}
	return false
}
