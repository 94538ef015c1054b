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
type Program struct{ Pass *rule.Pass }

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
	for _, from := range flow.Sources(s.Pass.Syntax, p, to) {
		made, ok := ast.Unparen(from.Value).(*ast.CallExpr)
		if !ok || !strings.HasPrefix(called(from.Place, made), "Prepare") || len(made.Args) == 0 {
			continue
		}
		return s.Text(from.Place, made.Args[len(made.Args)-1]), &from
	}
	return "", nil
}

// Written reports whether the main module has statements that write to a table and that are
// executed more than most times for each unit of work, or may be. It leaves out the text own, and
// the call that executes it.
func (s Program) Written(table, own string, except *ast.CallExpr, most float64) bool {
	others := map[string]bool{}
	for _, text := range s.Pass.Syntax.Strings(func(text string) bool { return len(text) < 1<<16 && Writes(text, table) }) {
		if text != own && !strings.Contains(own, text) {
			others[text] = true
		}
	}
	for _, p := range s.Pass.Syntax.Calls(func(fn *types.Func) bool { return executes(fn.Name()) }) {
		for _, c := range p.Calls() {
			if c == except || !executes(called(p, c)) {
				continue
			}
			for _, arg := range c.Args {
				if !syntax.IsString(p, arg) {
					continue
				}
				for _, text := range s.texts(p, arg) {
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
	}
	return len(others) > 0
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
