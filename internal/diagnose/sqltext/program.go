package sqltext

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Program finds the statements in the source of a recording, which must have syntax and counts.
type Program struct {
	Pass    *rule.Pass
	helpers map[string]*helper // by the full name; nil for other functions
}

// Of returns the statements of a recording.
func Of(p *rule.Pass) Program { return Program{Pass: p, helpers: map[string]*helper{}} }

// Executions returns how often the line of a place runs for each unit of work.
func (s Program) Executions(p *gocode.Place) float64 {
	e, ok := s.Pass.Counts.Line(p.Pkg.Path(), p.Fset.Position(p.Nodes[0].Pos()).Filename, p.Line)
	if !ok {
		return 0
	}
	return e.PerUnit
}

// Text returns the only constant that an expression can have; "" if it is not known.
func (s Program) Text(p *gocode.Place, e ast.Expr) string {
	if all := s.texts(p, e); len(all) == 1 {
		return all[0]
	}
	return ""
}

// texts returns the constant strings that an expression can have.
func (s Program) texts(p *gocode.Place, e ast.Expr) (all []string) {
	for _, v := range flow.Constants(s.Pass.Syntax, p, e) {
		if v.Kind() != constant.String {
			return nil
		}
		all = append(all, constant.StringVal(v))
	}
	return all
}

// Prepared returns the text of the statement that a call executes as its receiver, and the call
// that prepares it; "" if it is not known.
func (s Program) Prepared(p *gocode.Place, call *ast.CallExpr) (string, *flow.Argument) {
	to := syntax.Receiver(call)
	if to == nil {
		return "", nil
	}
	return s.preparedAs(p, to)
}

// preparedAs returns the text of a prepared statement, and the call that prepares it, also of one
// that a transaction uses: tx.Stmt(stmt).
func (s Program) preparedAs(p *gocode.Place, stmt ast.Expr) (string, *flow.Argument) {
	for _, from := range flow.Sources(s.Pass.Syntax, p, stmt) {
		made, ok := ast.Unparen(from.Value).(*ast.CallExpr)
		if !ok || len(made.Args) == 0 {
			continue
		}
		last := made.Args[len(made.Args)-1]
		switch name := called(from.Place, made); {
		case strings.HasPrefix(name, "Prepare"):
			return s.Text(from.Place, last), &from
		case (name == "Stmt" || name == "StmtContext") && last != stmt:
			return s.preparedAs(from.Place, last)
		}
	}
	return "", nil
}

// Written reports whether the main module has statements that write to a table and that are
// executed more than most times for each unit of work, or may be. It leaves out the text own, and
// the call that executes it.
func (s Program) Written(table, own string, except *ast.CallExpr, most float64) bool {
	others := map[string]bool{}
	for _, text := range s.Pass.Syntax.Texts(func(text string) bool { return len(text) < 1<<16 && Writes(text, table) }) {
		if text.Value != own && !strings.Contains(own, text.Value) && !s.executedHere(text, most) {
			others[text.Value] = true
		}
	}
	may := func(fn *types.Func) bool {
		return fn != nil && (executes(fn.Name()) || s.helperOf(fn, deepestHelper) != nil)
	}
	for _, p := range s.Pass.Syntax.Calls(may) {
		for _, c := range p.Calls() {
			if c == except || !may(p.Callee(c)) || s.helps(p, c) {
				continue
			}
			for _, text := range s.executed(p, c) {
				if !Writes(text, table) {
					continue
				}
				if s.Executions(p) > most {
					return true
				}
				delete(others, text)
			}
		}
	}
	return len(others) > 0
}

// executed returns the constant texts that a call may execute: an argument, or the statement that
// it was prepared as.
func (s Program) executed(p *gocode.Place, call *ast.CallExpr) (all []string) {
	for _, arg := range call.Args {
		if syntax.IsString(p, arg) {
			all = append(all, s.texts(p, arg)...)
		}
	}
	if text, _ := s.Prepared(p, call); len(all) == 0 && text != "" {
		all = append(all, text)
	}
	return all
}

// executedHere reports whether a text is a part of one that the function around it composes in a
// local variable and executes itself, if the function is called at most so many times for each unit
// of work.
func (s Program) executedHere(t gocode.Text, most float64) bool {
	p := t.Place
	if p == nil || p.Decl == nil || p.Decl.Body == nil || len(p.Nodes) == 0 {
		return false
	}
	runs, ok := s.Pass.Counts.Line(p.Pkg.Path(), p.Fset.Position(p.Nodes[0].Pos()).Filename, p.Line)
	if !ok || runs.Calls > most {
		return false
	}
	v := composedIn(p, t.Expr)
	if v == nil || !syntax.Local(p, v) {
		return false
	}
	here := false
	for _, id := range syntax.Reads(p, v) {
		call := executing(p, id)
		here = here || call
		if !call && composedIn(p, id) != v {
			return false
		}
	}
	return here
}

// composedIn returns the variable that a statement around an expression assigns to; nil for none.
func composedIn(p *gocode.Place, e ast.Expr) (v *types.Var) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && syntax.Within(a.Rhs[0], e) {
			v = syntax.LocalVar(p, a.Lhs[0])
		}
		return true
	})
	return v
}

// executing reports whether an expression is in an argument of a call that executes a statement.
func executing(p *gocode.Place, e ast.Expr) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && executes(called(p, call)) {
			for _, arg := range call.Args {
				found = found || syntax.Within(arg, e)
			}
		}
		return !found
	})
	return found
}

// executes reports whether a name is that of a function that executes statements.
func executes(name string) bool {
	return strings.Contains(name, "Exec") || strings.Contains(name, "Query")
}

func called(p *gocode.Place, call *ast.CallExpr) string {
	if fn := p.Callee(call); fn != nil {
		return fn.Name()
	}
	return ""
}
