package allforone

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lookup is the use of one element of a list that a call makes.
type lookup struct {
	place *gocode.Place
	call  *ast.CallExpr // makes the list
	list  *types.Var

	loop  *ast.RangeStmt // puts the elements into a map, or searches one
	into  *types.Var     // the map; nil for a search
	reads []ast.Node     // of the map
	test  *ast.FuncLit   // of a search by a function of package slices

	calls    float64 // for each unit of work
	elements float64 // of each list
}

// key names the call in the recording.
func (l *lookup) key() string { return l.place.Fset.Position(l.call.Lparen).String() }

// line returns the line at which the list is used.
func (l *lookup) line() int {
	if l.test != nil {
		return syntax.Line(l.place, l.test.Pos())
	}
	return syntax.Line(l.place, l.loop.Pos())
}

// lookupAt returns the lookup that a line is a part of: that of the call which makes the list, of
// the map, or of the loop. nil for none.
func lookupAt(at *gocode.Place) (found *lookup) {
	if at.Decl == nil || at.Decl.Body == nil {
		return nil
	}
	ast.Inspect(syntax.Body(at), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if found != nil || !ok || len(a.Rhs) != 1 {
			return found == nil
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		v := syntax.LocalVar(at, a.Lhs[0])
		if !ok || v == nil || !lists(v.Type()) || parses(at, call) || len(syntax.Assigned(at, v)) > 1 {
			return true
		}
		l := &lookup{place: at, call: call, list: v}
		if l.uses() && l.on(at.Line) {
			found = l
		}
		return found == nil
	})
	return found
}

func lists(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, basic := s.Elem().Underlying().(*types.Basic)
	return !basic
}

// parses reports whether a call gets bytes or a reader: the elements come from these.
func parses(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion || p.Callee(call) == nil {
		return true
	}
	for _, arg := range call.Args {
		t := p.TypeOf(arg)
		if t == nil {
			return true
		}
		if s, ok := t.Underlying().(*types.Slice); ok && syntax.StringOrBytes(s) {
			return true
		}
		if m, _, _ := types.LookupFieldOrMethod(t, true, nil, "Read"); m != nil {
			return true
		}
	}
	return false
}

// readsText reports whether a function cuts a text into parts, decodes it, or reads files.
func readsText(p *gocode.Place) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || funcname.Match(p.CalleeName(call), "strings.Split*", "strings.Lines", "strings.Fields*", "bytes.Split*", "bytes.Lines", "bytes.Fields*",
				"bufio.New*", "encoding/*", "os.*", "io.*", "(*regexp.Regexp).Find*")
		}
		return !found
	})
	return found
}

func (l *lookup) on(line int) bool {
	p := l.place
	if line == syntax.Line(p, l.call.Lparen) {
		return true
	}
	if l.into != nil && line == syntax.Line(p, l.into.Pos()) {
		return true
	}
	return l.loop != nil && syntax.Line(p, l.loop.Pos()) <= line && line <= syntax.Line(p, l.loop.End())
}

// uses reports whether all that the function does with the list is to look elements up.
func (l *lookup) uses() bool {
	p := l.place
	around := syntax.FuncAround(p, l.call)
	for _, id := range syntax.Uses(p, l.list) {
		if syntax.FuncAround(p, id) != around {
			return false
		}
		if syntax.Defines(p, id) {
			continue
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.RangeStmt:
			if l.loop != nil || l.test != nil || !loopsAlike(p, n, l.call) {
				return false
			}
			l.loop = n
		case *ast.CallExpr:
			if !l.called(n) {
				return false
			}
		case *ast.BinaryExpr, *ast.IndexExpr:
			if len(loops.Around(p, id)) > len(loops.Around(p, l.call)) {
				return false
			}
		default:
			return false
		}
	}
	switch {
	case l.test != nil:
		return l.loop == nil
	case l.loop == nil:
		return false
	}
	return l.fills() && l.reading() || l.searches()
}

// loopsAlike reports whether two nodes are in the same loops.
func loopsAlike(p *gocode.Place, a, b ast.Node) bool {
	return len(loops.Around(p, a)) == len(loops.Around(p, b))
}

// called reports whether a call that gets the list is fine: of its length, or one that searches it.
func (l *lookup) called(call *ast.CallExpr) bool {
	p := l.place
	name := p.CalleeName(call)
	if name == "len" {
		return true
	}
	if !funcname.Match(name, "slices.IndexFunc", "slices.ContainsFunc") || l.test != nil || l.loop != nil || !loopsAlike(p, call, l.call) {
		return false
	}
	lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 || len(lit.Type.Params.List) != 1 || len(lit.Type.Params.List[0].Names) != 1 {
		return false
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	element, _ := p.Object(lit.Type.Params.List[0].Names[0]).(*types.Var)
	if !ok || len(ret.Results) != 1 || element == nil || !equals(p, ret.Results[0], element, lit, token.EQL) {
		return false
	}
	l.test = lit
	return true
}

// fills reports whether all that the loop does is to put each element into a map.
func (l *lookup) fills() bool {
	if len(l.loop.Body.List) != 1 {
		return false
	}
	a, ok := l.loop.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
		return false
	}
	to, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
	if !ok {
		return false
	}
	v := syntax.LocalVar(l.place, to.X)
	if v == nil || syntax.Param(l.place, v) {
		return false
	}
	if _, isMap := v.Type().Underlying().(*types.Map); !isMap {
		return false
	}
	l.into = v
	return true
}

// reading notes where the function looks entries of the map up; it returns false if it does
// something else with the map.
func (l *lookup) reading() bool {
	p := l.place
	for _, id := range syntax.Uses(p, l.into) {
		if syntax.Defines(p, id) || syntax.Within(l.loop, id) {
			continue
		}
		switch n := syntax.Parent(p, id).(type) {
		case *ast.IndexExpr:
			if n.X != ast.Expr(id) || !loopsAlike(p, n, l.call) || syntax.Defines(p, n) || id.Pos() < l.loop.Pos() {
				return false
			}
			l.reads = append(l.reads, n)
		case *ast.CallExpr:
			if p.CalleeName(n) != "len" {
				return false
			}
		default:
			return false
		}
	}
	return len(l.reads) > 0
}

// searches reports whether the loop stops at the element whose part equals something else: if
// x.ID == id { return x }, or if x.ID != id { continue }; return x.
func (l *lookup) searches() bool {
	p, list := l.place, l.loop.Body.List
	l.into, l.reads = nil, nil
	if len(list) == 0 {
		return false
	}
	test, ok := list[0].(*ast.IfStmt)
	if !ok || test.Init != nil || test.Else != nil || len(test.Body.List) == 0 {
		return false
	}
	element, _ := l.element()
	if element == nil {
		return false
	}
	last := test.Body.List[len(test.Body.List)-1]
	if len(list) == 1 {
		return stops(last) && equals(p, test.Cond, element, l.loop, token.EQL)
	}
	next, ok := last.(*ast.BranchStmt)
	return ok && next.Tok == token.CONTINUE && len(test.Body.List) == 1 && stops(list[len(list)-1]) && equals(p, test.Cond, element, l.loop, token.NEQ)
}

func (l *lookup) element() (*types.Var, bool) {
	if l.loop.Value == nil {
		return nil, false
	}
	v := syntax.LocalVar(l.place, l.loop.Value)
	return v, v != nil
}

func stops(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK
	}
	return false
}

// equals reports whether a condition compares a part of an element with what is the same for all.
func equals(p *gocode.Place, cond ast.Expr, element *types.Var, around ast.Node, op token.Token) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != op {
		return false
	}
	for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		of := side[0]
		if call, ok := ast.Unparen(of).(*ast.CallExpr); ok && len(call.Args) == 0 && syntax.Receiver(call) != nil {
			of = syntax.Receiver(call) // x.ID()
		}
		if v, _ := syntax.Var(p, of); v != element {
			continue
		}
		_, constant := p.Const(side[1])
		return !constant && loops.FromOutside(p, around, side[1])
	}
	return false
}
