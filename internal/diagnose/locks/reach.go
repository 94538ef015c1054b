package locks

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// mostReached is how many functions below a section are searched: a section that calls everything
// is not explained by one of them.
const mostReached = 60

// reached is a function below a section: a declared one, also of another package or behind an
// interface, or a function literal that the section is given.
type reached struct {
	place *gocode.Place
	body  *ast.BlockStmt
	line  int    // of the section, that leads there
	given string // who passes the function, or the one above it, to the section's function; ""
}

// reaches returns the functions below a section to a depth of calls, nearest first.
func (s *Section) reaches(code *gocode.Syntax) (all []reached) {
	if code == nil {
		return nil
	}
	seen := map[*ast.BlockStmt]bool{}
	var next []reached
	add := func(p *gocode.Place, call *ast.CallExpr, line int, given string) {
		for _, t := range targets(code, p, call) {
			if given != "" {
				t.given = given
			}
			if t.body == nil || seen[t.body] || len(all) >= mostReached {
				continue
			}
			seen[t.body] = true
			t.line = line
			all, next = append(all, t), append(next, t)
		}
	}
	for _, call := range s.Calls() {
		add(s.place, call, syntax.Line(s.place, call.Lparen), "")
	}
	for range mostCalls {
		level := next
		next = nil
		for _, r := range level {
			ast.Inspect(r.body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit, *ast.GoStmt:
					return false
				case *ast.CallExpr:
					add(r.place, n, r.line, r.given)
				}
				return true
			})
		}
	}
	return all
}

// targets returns the functions with source that a call may call.
func targets(code *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (all []reached) {
	fn := p.Callee(call)
	if fn == nil {
		for _, from := range flow.Sources(code, p, call.Fun) {
			for _, t := range valueOf(code, from.Place, from.Value) {
				if t.place.Outer() != p.Outer() {
					t.given = syntax.FuncName(from.Outer()) + " (" + syntax.Where(from.Place, from.Value.Pos()) + ")"
				}
				all = append(all, t)
			}
		}
		return all
	}
	if in, ok := code.Declared(fn); ok && in.Decl != nil {
		return []reached{{place: in, body: in.Decl.Body}}
	}
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return nil
	}
	for _, in := range code.Methods(fn.Name()) {
		method, ok := in.Object(in.Decl.Name).(*types.Func)
		if ok && awaited.Implements(method, fn) {
			all = append(all, reached{place: in, body: in.Decl.Body})
		}
	}
	return all
}

// valueOf returns the function that a value is: a literal, a function or a method.
func valueOf(code *gocode.Syntax, p *gocode.Place, e ast.Expr) []reached {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return []reached{{place: p, body: e.Body}}
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil
	}
	fn, ok := p.Object(id).(*types.Func)
	if !ok {
		return nil
	}
	if in, ok := code.Declared(fn); ok && in.Decl != nil {
		return []reached{{place: in, body: in.Decl.Body}}
	}
	return nil
}

// deep returns the first wait for something outside of the program in the functions below a
// section.
func (s *Section) deep(p *rule.Pass) []Wait {
	for _, r := range s.reaches(p.Syntax) {
		var found *Wait
		ast.Inspect(r.body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.GoStmt:
				return false
			case *ast.CallExpr:
				if name := r.place.CalleeName(n); found == nil && s.asks(name) && !unused(p, r.place, n.Pos()) {
					found = &Wait{Line: r.line, For: name, in: r.name() + " (" + syntax.Where(r.place, n.Pos()) + ")", given: r.given}
				}
			}
			return found == nil
		})
		if found != nil {
			return []Wait{*found}
		}
	}
	return nil
}

// name returns what a reached function is called in a sentence.
func (r *reached) name() string {
	decl := r.place.Outer().Decl
	switch {
	case decl == nil:
		return "a function"
	case decl.Body != r.body:
		return "a function in " + decl.Name.Name
	}
	return decl.Name.Name
}

// holding returns the function below a section that is around a line of the trace; nil for none.
func holding(code *gocode.Syntax, below []reached, l exectrace.Line) *reached {
	if len(below) == 0 {
		return nil
	}
	at, ok := code.At(l.File, l.Line)
	if !ok {
		return nil
	}
	for i := range below {
		if below[i].body == bodyOf(at.Func) {
			return &below[i]
		}
	}
	return nil
}

// bodyOf returns the body of a function declaration or literal; nil for others.
func bodyOf(fn ast.Node) *ast.BlockStmt {
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		return fn.Body
	case *ast.FuncLit:
		return fn.Body
	}
	return nil
}

// LeadsTo returns the line of a section in a file that leads to a line of the trace: the source
// leads from it to the function around that line, or a profile shows it there. 0 for none.
func (s *Section) LeadsTo(p *rule.Pass, file string, l exectrace.Line) int {
	if l.File == file && l.Line > s.From && l.Line < s.To {
		return l.Line
	}
	if line := s.below(p, file)[traced.Generic(l.Function)]; line > 0 {
		return line
	}
	if r := holding(p.Syntax, s.reaches(p.Syntax), l); r != nil {
		return r.line
	}
	return 0
}
