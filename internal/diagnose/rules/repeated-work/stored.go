package repeatedwork

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
)

// A table has an entry for each group, node or tenant that the program has met. For each request
// the entry is computed and stored, though the table has it, and the same, since the first one.

// leastStored is the cost of a call, in seconds, that a lookup before it saves.
const leastStored = 100e-9

// storedAgain judges functions of the program that only compute, whose result the caller stores in
// a map that it keeps, and that returned the same for each input: then the map has it.
func (s *search) storedAgain(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.Calls < fewCalls || in.InRequest < fewCalls || !proved(in) || in.Compared < fewCalls || !s.own(in) || changes(in) || hashesSecrets(in) {
		return nil
	}
	f := &found{Function: in, where: stored, confidence: rule.Likely, repeats: 1 - float64(in.Stable)/float64(in.Calls)}
	if f.repeats < fewRepeat || float64(in.Identical) > 1.1*float64(in.Stable) || s.share(in.Name) < leastShare || !s.inMostRequests(in) {
		return nil
	}
	if float64(c.Nanoseconds)*1e-9 < leastStored*watched.Calls(s.pass, in) || !s.onlyComputes(in) {
		return nil
	}
	if f.table = s.storedIn(in.Name); f.table == "" {
		return nil
	}
	f.words = few(in, in.Stable)
	return f
}

// inMostRequests reports whether most of the different requests that lead to a function bring
// inputs that another one brought: the load does not repeat them.
func (s *search) inMostRequests(in *inputs.Function) bool {
	all := s.pass.Inputs
	targets := cmp.Or(in.Targets, all.Targets)
	requests := float64(all.Requests) * float64(targets) / float64(max(all.Targets, 1))
	if in.Stopped && in.StoppedAfter > 0 || targets < fewestTargets || requests <= 0 {
		return false
	}
	perRequest := max(1, float64(in.StablePerRequest)/requests)
	return perInput*float64(in.Stable) <= float64(targets)*perRequest
}

// onlyComputes reports whether neither the syntax of a function nor the profile shows that it does
// more than compute its result.
func (s *search) onlyComputes(in *inputs.Function) bool {
	p, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	sig := syntax.SignatureOf(p)
	return sig != nil && answers(sig) && !takesFunction(sig) && effects.ChangesNothing(p) && s.quiet(in.Name)
}

// storedIn returns the map in which all callers of a function that the profile shows store its
// result; "" if one of them does not, or also reads the map: it may compare the old with the new.
func (s *search) storedIn(name string) (table string) {
	seen := map[gocode.Pos]bool{}
	for _, r := range s.costs[name].Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i < 0 || i+1 >= len(r.Stack) {
			return ""
		}
		at := r.Stack[i+1]
		pos := gocode.Pos{File: at.File, Line: at.Line}
		if seen[pos] {
			continue
		}
		seen[pos] = true
		p, ok := s.pass.Syntax.At(at.File, at.Line)
		if !ok || p.Decl == nil || p.Func != p.Decl {
			return ""
		}
		calls := syntax.CallsTo(p, name)
		if len(calls) != 1 {
			return ""
		}
		to := storing(p, calls[0])
		if to == nil || !s.keeps(p, at.Function, to) || readElsewhere(p, to) {
			return ""
		}
		table = syntax.Text(to)
	}
	return table
}

// storing returns the element of a map that is set to the result of a call; nil for none.
func storing(p *gocode.Place, call *ast.CallExpr) (to *ast.IndexExpr) {
	v := syntax.Result(p, call)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return to == nil
		}
		for i, lhs := range a.Lhs {
			at, ok := ast.Unparen(lhs).(*ast.IndexExpr)
			if !ok || !syntax.IsMap(p.TypeOf(at.X)) {
				continue
			}
			from := ast.Unparen(a.Rhs[i])
			if from == ast.Expr(call) || v != nil && syntax.LocalVar(p, from) == v && len(syntax.Assigned(p, v)) == 1 {
				to = at
			}
		}
		return to == nil
	})
	return to
}

// keeps reports whether the map of an element is one of the package, or of a receiver that is the
// same in many requests.
func (s *search) keeps(p *gocode.Place, function string, to *ast.IndexExpr) bool {
	v := kept.Var(p, to.X)
	if v == nil || !v.IsField() {
		return v != nil
	}
	in := s.pass.Inputs.Of(function)
	return in != nil && in.Calls >= fewCalls && float64(in.Stable) <= (1-fewRepeat)*float64(in.Calls)
}

// readElsewhere reports whether a function uses the map of an element other than to set it.
func readElsewhere(p *gocode.Place, to *ast.IndexExpr) bool {
	v, uses := kept.Var(p, to.X), 0
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && kept.Var(p, e) == v {
			uses++
			return false
		}
		return true
	})
	return uses != 1
}

func (f *found) describeStored(m *rule.Match, name string) {
	m.Cause = fmt.Sprintf("%s computes again what %s has already: %s. It returned the same each time, and the caller stores it under the same key.", name, f.table, f.words)
	m.Fix = fmt.Sprintf("Look whether %s is there before the work, or do the work only where the key is new. Drop the entries when what %s reads, besides its input, changes.", f.table, name)
}
