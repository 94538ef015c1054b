package offsetpaging

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// query is a call that asks for rows from an offset on.
type query struct {
	place *gocode.Place
	text  string // what names the offset
	loop  string // where it changes
	runs  float64
}

// byOffset matches SQL with an offset as a parameter. SQL has no other use of the word; MySQL and
// SQLite also have LIMIT offset, count. toOffset matches the text before a number that is appended.
const (
	byOffset = `(?i)\boffset\s+(\?|[$:@]\w+|%[dvs])|\blimit\s+(\?|[$:@]\w+|%[dvs])\s*,`
	toOffset = `(?i)\boffset\s+$`
)

// mostCallers is how many callers of a function are searched for the loop.
const mostCallers = 6

// look returns the query with an offset in the function of a place, if a loop around it or around
// its callers changes the offset.
func (s *search) look(p *gocode.Place, stack []*site.Frame) *query {
	var found *query
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil {
			return found == nil
		}
		text, args := s.offsetOf(p, call)
		if len(args) == 0 {
			return true
		}
		at := p.Fset.Position(call.Lparen)
		e, ok := s.pass.Counts.Line(stack[0].Owner.Package, at.Filename, at.Line)
		if !ok || e.PerUnit < leastPages {
			return true
		}
		for _, arg := range args {
			if loop := s.changing(p.Outer(), stack, call, arg); loop != "" {
				found = &query{place: p, text: text, loop: loop, runs: e.PerUnit}
				break
			}
		}
		return found == nil
	})
	return found
}

// offsetOf returns how a call names its offset, and the arguments that may be the offset: for a
// query in SQL all arguments after the text, for a query builder the number.
func (s *search) offsetOf(p *gocode.Place, call *ast.CallExpr) (text string, args []ast.Expr) {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil && fn.Name() != "Sprintf" {
		return "", nil
	}
	if (fn.Name() == "Offset" || fn.Name() == "SetSkip") && len(call.Args) == 1 {
		if t, ok := p.TypeOf(call.Args[0]).Underlying().(*types.Basic); ok && t.Info()&types.IsInteger != 0 {
			return fn.Name() + "(" + syntax.Text(call.Args[0]) + ")", call.Args
		}
	}
	for i, arg := range call.Args {
		for _, v := range flow.Constants(s.pass.Syntax, p, arg) {
			if v.Kind() == constant.String && s.byOffset.MatchString(constant.StringVal(v)) {
				return "OFFSET", call.Args[i+1:]
			}
		}
		if parts := syntax.Operands(syntax.Origin(p, arg)); len(parts) > 1 {
			for j, part := range parts[1:] {
				if sql, ok := syntax.ConstString(p, parts[j]); ok && s.toOffset.MatchString(sql) {
					return "OFFSET", []ast.Expr{part}
				}
			}
		}
	}
	return "", nil
}

// changing returns the words for the loop that changes a value which a call gets: a loop around the
// call or, for a parameter of the function, around the call in a caller; "" if there is none.
func (s *search) changing(p *gocode.Place, stack []*site.Frame, call *ast.CallExpr, arg ast.Expr) string {
	for _, loop := range loops.Around(p, call) {
		if !loops.Invariant(p, loop, arg) {
			return where(p, loop, stack[0])
		}
	}
	for _, v := range variables(p, arg) {
		index := syntax.ParamIndex(syntax.SignatureOf(p), v)
		if index < 0 {
			continue
		}
		for i := 1; i < len(stack) && i <= mostCallers; i++ {
			f := stack[i]
			if f.Function == stack[0].Function {
				continue
			}
			place, ok := s.pass.Syntax.At(f.File, f.Line)
			if !ok || place.Decl == nil {
				break
			}
			for _, up := range syntax.CallsTo(place, stack[0].Function) {
				if index < len(up.Args) {
					return s.changing(place.Outer(), stack[i:], up, up.Args[index])
				}
			}
			break
		}
	}
	return ""
}

func where(p *gocode.Place, loop ast.Node, f *site.Frame) string {
	return fmt.Sprintf("the loop at %s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), syntax.Line(p, loop.Pos()))
}

// variables returns the variables in an expression, and those that local variables in it are
// computed from.
func variables(p *gocode.Place, e ast.Expr) (found []*types.Var) {
	seen := map[types.Object]bool{}
	var follow func(ast.Node)
	follow = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := p.Object(id).(*types.Var)
			if !ok || v.IsField() || seen[v] {
				return true
			}
			seen[v] = true
			found = append(found, v)
			if syntax.Local(p, v) && !syntax.Param(p, v) {
				for _, value := range syntax.Assigned(p, v) {
					follow(value)
				}
			}
			return true
		})
	}
	follow(e)
	return found
}
