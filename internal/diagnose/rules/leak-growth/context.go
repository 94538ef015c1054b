package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// mostCancelled is the largest share of a line's contexts that are cancelled, as counted, for the
// others to be a leak.
const mostCancelled = 0.9

// derives are the functions that derive contexts which have to be cancelled.
var derives = []string{"context.WithCancel", "context.WithCancelCause", "context.WithTimeout*", "context.WithDeadline*"}

// uncancelled returns what retains the contexts that a line derives from another, if their cancel
// functions are never or seldom called; nil otherwise. A context that can be cancelled is in the
// map of its parent's children until one of the two is cancelled (context.propagateCancel).
func uncancelled(pass *rule.Pass, s *site.Site, p *gocode.Place) *keep {
	for _, call := range p.Calls() {
		name := p.CalleeName(call)
		if !funcname.Match(name, derives...) {
			continue
		}
		if why := neverCancelled(pass, s, p, call); why != "" {
			return &keep{
				words: fmt.Sprintf("A context stays registered with its parent until its cancel function is called, and %s.", why),
				fix:   "Call the cancel function where the operation ends, on all paths: defer cancel() on the next line.",
			}
		}
	}
	return nil
}

// neverCancelled returns the reason why contexts of a call stay in memory; "" if they do not, or
// nothing shows that they do.
func neverCancelled(pass *rule.Pass, s *site.Site, p *gocode.Place, call *ast.CallExpr) string {
	cancel := secondResult(p, call)
	if cancel == nil {
		return ""
	}
	if id, ok := cancel.(*ast.Ident); ok && id.Name == "_" {
		return "the function drops it"
	}
	v := syntax.Named(p, cancel)
	if v == nil {
		return ""
	}
	derived, counted := evidence.Executions(pass, s.Frame)
	called, calls, elsewhere := 0.0, 0, false
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if syntax.Named(p, n.Fun) == v {
					ran, _ := evidence.ExecutionsAt(pass, p, n.Pos())
					calls, called = calls+1, called+ran.PerUnit
				}
				for _, arg := range n.Args {
					elsewhere = elsewhere || syntax.Named(p, arg) == v
				}
			case *ast.AssignStmt, *ast.ReturnStmt, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
				elsewhere = elsewhere || passesOn(p, n, v)
			}
			return true
		})
	}
	switch {
	case elsewhere:
		return ""
	case calls == 0:
		return "nothing calls " + syntax.Text(cancel)
	case counted && derived.PerUnit > 0 && called < mostCancelled*derived.PerUnit:
		return fmt.Sprintf("%s is called for %s of them", syntax.Text(cancel), units.Percent(called/derived.PerUnit))
	}
	return ""
}

// secondResult returns what the second result of a call is assigned to; nil if it is not assigned.
func secondResult(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	for _, n := range p.Enclosing(call) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && len(a.Lhs) == 2 && ast.Unparen(a.Rhs[0]) == call {
			return ast.Unparen(a.Lhs[1])
		}
	}
	return nil
}

// passesOn reports whether a statement or a part of a literal gives the value of v to something
// else, which may call it.
func passesOn(p *gocode.Place, n ast.Node, v *types.Var) bool {
	var values []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if id, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); !ok || id.Name != "_" {
				values = append(values, rhs)
			}
		}
	case *ast.ReturnStmt:
		values = n.Results
	case *ast.KeyValueExpr:
		values = []ast.Expr{n.Value}
	case *ast.CompositeLit:
		values = n.Elts
	case *ast.SendStmt:
		values = []ast.Expr{n.Value}
	}
	for _, value := range values {
		if syntax.Named(p, value) == v {
			return true
		}
	}
	return false
}

const (
	// mostContexts is the part of a line's live memory that contexts must be for them to explain
	// it.
	mostContexts = 0.5
	// leastDerived is the part of it that the contexts of one line must be for that to be blamed;
	// the rest are those that other code derives from them.
	leastDerived = 0.1
)

// contexts returns the line that derives the contexts of which most of a line's live memory is, and
// what retains them; it is one of the same module, whose contexts the line may derive others from.
// The memory shows that nobody cancels them, also where the source does not, as when cancel
// functions are collected in a list. The standard library cancels its own.
func contexts(pass *rule.Pass, g growth) (at *site.Site, k *keep) {
	var all, part int64
	for _, r := range g.live {
		if all += r.Value; deriver(r) != nil {
			part += r.Value
		}
	}
	if float64(part) < mostContexts*float64(all) {
		return nil, nil
	}
	bytes := map[*site.Site]int64{}
	for _, s := range pass.Table.Sites {
		for _, r := range s.Live {
			f := deriver(r)
			if f == nil || f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency || f.Owner.Module != g.Owner.Module {
				continue
			}
			by := pass.Site(f)
			if bytes[by] += r.Value; at == nil || bytes[by] > bytes[at] {
				at = by
			}
		}
	}
	if at == nil || float64(bytes[at]) < leastDerived*float64(all) {
		return nil, nil
	}
	return at, &keep{
		words: fmt.Sprintf("%s of it is in contexts that %s derives, and in those derived from them. A context stays registered with its parent until its cancel function is called, and on some path nobody calls it.",
			units.Percent(float64(part)/float64(all)), symbol.Short(at.Function)),
		fix: "Call the cancel function of each context where its operation ends, on all paths, also after success: for a response, when its body is closed.",
	}
}

// deriver returns the frame that derives the context that a row allocates for; nil if it does not
// derive one that has to be cancelled.
func deriver(r *site.Row) *site.Frame {
	i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Owner.Package != "context" })
	if i <= 0 || !slices.ContainsFunc(r.Stack[:i], func(f *site.Frame) bool { return funcname.Match(f.Function, derives...) }) {
		return nil
	}
	return r.Stack[i]
}
