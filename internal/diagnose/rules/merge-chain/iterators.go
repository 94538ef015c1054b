package mergechain

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// mostCalls is how often a merger may ask its two sources for each call of itself. One that
	// evaluates both, such as the node of an expression, asks twice.
	mostCalls = 1.2
	// longStack is the number of frames of a stack that the runtime may have cut off: it records
	// 128, and 64 before Go 1.23.
	longStack = 60
)

// merger is a line on which an iterator asks one of its two sources for the next element, by the
// method or function that it is itself.
type merger struct {
	name  string
	built string // the statement that adds a level
	where string
}

// outermost returns the frame of a row that is the outermost call of a merger that calls itself for
// its sources; -1 for none.
func outermost(mergers *finder.Lines[merger]) func(*site.Row) int {
	return func(r *site.Row) int {
		for i := len(r.Stack) - 1; i > 0; i-- {
			f := r.Stack[i]
			if k := f.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && nested(r.Stack[:i+1]) > 1 && mergers.At(f) != nil {
				return i
			}
		}
		return -1
	}
}

// nested returns how many frames of a stack are of the function that is outermost in it.
func nested(stack []*site.Frame) (n int) {
	for _, f := range stack {
		if f.Function == stack[len(stack)-1].Function {
			n++
		}
	}
	return n
}

// mergerAt returns the merger that a line is part of; nil for none, and where no loop makes a chain
// of mergers.
func mergerAt(p *rule.Pass, place *gocode.Place) *merger {
	asks, makes := sources(place)
	if len(asks) < 2 || makes == nil {
		return nil
	}
	here, calls := false, 0.0
	for _, call := range asks {
		here = here || syntax.Line(place, call.Lparen) == place.Line
		n, ok := evidence.ReachedAt(p, place, call.Pos())
		if !ok {
			return nil
		}
		calls += n
	}
	body := bodyOf(place.Func)
	if !here || len(body.List) == 0 {
		return nil
	}
	entries, ok := evidence.ReachedAt(p, place, body.List[0].Pos())
	if !ok || calls > mostCalls*entries {
		return nil
	}
	built := chain(place, makes)
	if built == nil {
		return nil
	}
	return &merger{name: syntax.FuncName(place), built: text(built), where: syntax.Where(place, built.Pos())}
}

// text returns a statement that builds a chain as sentences show it.
func text(n ast.Node) string {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return syntax.Short(types.ExprString(n.Lhs[0]) + " = " + types.ExprString(n.Rhs[0]))
	case ast.Expr:
		return syntax.Text(n)
	}
	return ""
}

func bodyOf(fn ast.Node) *ast.BlockStmt {
	switch f := fn.(type) {
	case *ast.FuncDecl:
		return f.Body
	case *ast.FuncLit:
		return f.Body
	}
	return nil
}

// sources returns the calls by which the function of a place asks two or more sources, for what it
// returns itself: the same method of different fields, or different functions that the function
// around a literal got. makes reports whether an expression makes such a merger.
func sources(p *gocode.Place) (asks []*ast.CallExpr, makes func(ast.Expr) bool) {
	body := bodyOf(p.Func)
	if body == nil || p.Decl == nil {
		return nil, nil
	}
	of := map[*types.Var]bool{}
	var recv *types.Var
	if sig := syntax.SignatureOf(p); p.Func == ast.Node(p.Decl) && sig != nil {
		recv = sig.Recv()
	}
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var source *types.Var
		if recv != nil {
			source = field(p, call, recv)
		} else if v := syntax.LocalVar(p, call.Fun); v != nil && !syntax.Inside(p.Func, v.Pos()) && syntax.Inside(p.Decl.Type, v.Pos()) {
			source = v
		}
		if source != nil {
			of[source] = true
			asks = append(asks, call)
		}
		return true
	})
	if len(of) != 2 {
		return nil, nil
	}
	if recv != nil {
		return asks, func(e ast.Expr) bool { return creates(p, e, base(recv.Type())) }
	}
	return asks, func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		fn := p.Callee(callOr(call))
		return ok && fn != nil && p.Declaration(fn) == p.Decl
	}
}

func callOr(call *ast.CallExpr) *ast.CallExpr {
	if call == nil {
		return &ast.CallExpr{Fun: &ast.BadExpr{}}
	}
	return call
}

// field returns the field of the receiver on which a call calls the place's own method.
func field(p *gocode.Place, call *ast.CallExpr, recv *types.Var) *types.Var {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != p.Decl.Name.Name {
		return nil
	}
	of, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
	if !ok || syntax.LocalVar(p, of.X) != recv {
		return nil
	}
	v, _ := p.Object(of.Sel).(*types.Var)
	return v
}

// base returns the declared type that a type, or what it points to, is.
func base(t types.Type) *types.TypeName {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// creates reports whether an expression is a new value of a type: a literal, or a call of a
// function of the package that has one.
func creates(p *gocode.Place, e ast.Expr, typ *types.TypeName) (found bool) {
	if typ == nil {
		return false
	}
	root := ast.Node(e)
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl.Body == nil {
			return false
		}
		root = decl.Body
	}
	ast.Inspect(root, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		found = found || ok && p.TypeOf(lit) != nil && base(p.TypeOf(lit)) == typ
		return !found
	})
	return found
}

// chain returns the code of the package that adds a level for each source: a loop that replaces a
// merger by one of itself and another source, or a function that merges the first source with what
// it returns for all others. nil for neither.
func chain(p *gocode.Place, makes func(ast.Expr) bool) (built ast.Node) {
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || built != nil {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if built == nil && replaced(in, n) && makes(n.Rhs[0]) {
						built = n
					}
				case *ast.CallExpr:
					if built == nil && ofRest(in, n, decl) && makes(n) {
						built = n
					}
				}
				return built == nil
			})
		}
	}
	return built
}

// replaced reports whether a statement of a loop gives a variable from outside of the loop a value
// that is made from it: all = merge(all, next).
func replaced(p *gocode.Place, a *ast.AssignStmt) bool {
	if a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	around := loops.Around(p, a)
	if v == nil || len(around) == 0 || syntax.Inside(around[0], v.Pos()) {
		return false
	}
	uses := false
	ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		uses = uses || ok && p.Object(id) == v
		return !uses
	})
	return uses
}

// ofRest reports whether a call has an argument that is a call of the function around it for the
// rest of its list: merge(all[0], Merge(all[1:]...)).
func ofRest(p *gocode.Place, call *ast.CallExpr, decl *ast.FuncDecl) bool {
	for _, arg := range call.Args {
		inner, ok := ast.Unparen(arg).(*ast.CallExpr)
		if !ok || p.Callee(inner) == nil || p.Declaration(p.Callee(inner)) != decl {
			continue
		}
		for _, rest := range inner.Args {
			s, ok := ast.Unparen(rest).(*ast.SliceExpr)
			if !ok || s.High != nil || s.Low == nil {
				continue
			}
			if n, ok := syntax.ConstInt(p, s.Low); ok && n == 1 {
				return true
			}
		}
	}
	return false
}

func (m *merger) judge(c *finder.Case) bool {
	frames, samples, cut := 0.0, 0.0, false
	for _, r := range c.CPU {
		n := 0
		for _, f := range r.Stack {
			if f.Function == c.Site.Function {
				n++
			}
		}
		frames += float64(n) * float64(r.Value)
		samples += float64(r.Value)
		cut = cut || len(r.Stack) >= longStack
	}
	if samples == 0 || frames < leastLevels*samples {
		return false
	}
	levels := units.Number(float64(int(frames / samples)))
	if cut {
		levels = "at least " + levels
	}
	c.Cause = fmt.Sprintf("%s merges two sources, one of which is such a merger itself: %s (%s) adds a level for each source. "+
		"An element passes through %s levels on average, a call for each.", m.name, m.built, m.where, levels)
	c.Fix = "Use one merger with a heap (container/heap) of all sources: log2(n) comparisons for each element. Or merge halves: merge(merge(first half), merge(second half))."
	c.Confidence = rule.Likely // the code does not show how many elements each source has
	c.Evidence = append(c.Evidence, rule.Evidence{What: "levels of calls in the recorded stacks", Value: levels + " on average"})
	return true
}
