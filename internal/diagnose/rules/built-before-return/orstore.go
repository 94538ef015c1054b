package builtbeforereturn

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// LoadOrStore gets the value before it looks for the key: who calls it without a Load first makes
// a value each time, and mostly drops it.

// leastCalls is the minimum number of calls whose inputs say how many values are kept.
const leastCalls = 100

// orStores finds values that a function makes for LoadOrStore, which mostly finds the key.
func (s *search) orStores(p *gocode.Place) (all []*early) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !loadsOrStores(p, call) {
			return true
		}
		if found := s.orStore(p, call); found != nil {
			all = append(all, found)
		}
		return true
	})
	return all
}

// loadsOrStores reports whether a call is of a method that stores a value unless there is one.
func loadsOrStores(p *gocode.Place, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && len(call.Args) >= 2 && p.Info.Selections[sel] != nil && slices.Contains([]string{"LoadOrStore", "GetOrSet", "GetOrAdd", "PeekOrAdd", "ContainsOrAdd", "SetIfAbsent"}, sel.Sel.Name)
}

// orStore returns what a function makes for such a call; nil if most of it is kept.
func (s *search) orStore(p *gocode.Place, call *ast.CallExpr) *early {
	sel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	value := ast.Unparen(call.Args[1])
	if v := syntax.LocalVar(p, value); v != nil {
		if len(syntax.Reads(p, v)) != 1 {
			return nil
		}
		value = ast.Unparen(syntax.Origin(p, value))
	}
	if _, function := p.TypeOf(value).Underlying().(*types.Signature); function {
		return nil // called only if there is no value
	}
	made, isCall := value.(*ast.CallExpr)
	if !object(value) && (!isCall || !computed(p, made)) {
		return nil
	}
	kept, known := s.stored(p, call, made)
	if !known || kept > mostKept {
		return nil
	}
	found := &early{in: syntax.FuncName(p), name: syntax.Short(syntax.Text(value)), line: syntax.Line(p, call.Pos()), test: syntax.Text(call.Fun),
		kept: kept, method: sel.Sel.Name, place: p, lines: []span{{syntax.Line(p, value.Pos()), syntax.Line(p, value.End())}}}
	if isCall && !object(value) {
		found.callee = p.CalleeName(made)
	}
	return found
}

// computed reports whether a call seems to do nothing but make a value.
func computed(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || effects.Impure(fn) || effects.Changes(fn) {
		return false
	}
	if decl := p.Declaration(fn); decl != nil {
		return decl.Body != nil && effects.ChangesNothing(p.Entry(decl))
	}
	return funcname.Match(p.CalleeName(call), funcname.TypedAll(effects.DeterministicFuncs())...) ||
		slices.ContainsFunc([]string{"New", "Must", "Compile", "Parse"}, func(word string) bool { return strings.HasPrefix(fn.Name(), word) })
}

// stored returns the share of values that a LoadOrStore keeps: by the code that runs if it does, or
// by the inputs of the function that makes the value, or of the function around.
func (s *search) stored(p *gocode.Place, call, made *ast.CallExpr) (share float64, known bool) {
	runs, ok := evidence.ReachedAt(s.pass, p, call.Pos())
	if !ok || runs <= 0 {
		return 0, false
	}
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok && len(a.Lhs) == 2 {
		if n, ok := s.absent(p, syntax.LocalVar(p, a.Lhs[1]), runs); ok {
			return n / runs, true
		}
	}
	if s.pass.Inputs == nil {
		return 0, false
	}
	calls := 1.0 // of LoadOrStore, for each call of the function
	if entered, ok := evidence.ReachedAt(s.pass, p, p.Decl.Body.List[0].Pos()); ok && entered > 0 {
		calls = runs / entered
	}
	for i := range s.pass.Inputs.Functions {
		in := &s.pass.Inputs.Functions[i]
		if in.Calls < leastCalls || in.Hashed < in.Calls || !in.ByValue() {
			continue
		}
		switch name := syntax.Profiled(p, in.Name); {
		case made != nil && name == p.CalleeName(made) && s.mostly(p, made, runs):
			return float64(in.Different) / float64(in.Calls), true
		case in.Name == syntax.ProfileName(p):
			share, known = float64(in.Different)/(calls*float64(in.Calls)), true
		}
	}
	return share, known
}

// mostly reports whether most calls of a function of the package are that call, which runs so
// often.
func (s *search) mostly(p *gocode.Place, call *ast.CallExpr, runs float64) bool {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || len(decl.Body.List) == 0 {
		return false
	}
	all, ok := evidence.ReachedAt(s.pass, p, decl.Body.List[0].Pos())
	return ok && runs >= 0.6*all
}

// absent returns how often the code after a LoadOrStore runs that is for new values, by the
// variable that says whether there was one: if loaded { return }, if !loaded { … }.
func (s *search) absent(p *gocode.Place, loaded *types.Var, runs float64) (n float64, known bool) {
	if loaded == nil {
		return 0, false
	}
	ast.Inspect(p.Decl.Body, func(node ast.Node) bool {
		test, ok := node.(*ast.IfStmt)
		if !ok || len(test.Body.List) == 0 || known {
			return !known
		}
		cond, not := ast.Unparen(test.Cond), false
		if u, ok := cond.(*ast.UnaryExpr); ok {
			cond, not = u.X, true
		}
		if syntax.LocalVar(p, cond) != loaded {
			return true
		}
		n, known = evidence.ReachedAt(s.pass, p, test.Body.List[0].Pos())
		if !not {
			n = runs - n
		}
		return false
	})
	return max(0, n), known
}
