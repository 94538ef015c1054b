package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// ended says how the program could end the goroutines that wait at a line, if the source shows a
// way that it does not use: a function that closes a channel that they receive from, or a context
// that nothing cancels; "" for none.
func ended(p *rule.Pass, s *site.Site) (cause, fix string) {
	place := p.Place(s)
	if place == nil {
		return "", ""
	}
	for _, from := range received(place) {
		if call, ok := ast.Unparen(from).(*ast.CallExpr); ok && funcname.Match(place.CalleeName(call), "(context.Context).Done") {
			return fmt.Sprintf("They would end with the context %s, but nothing cancels it.", syntax.Text(syntax.Receiver(call))),
				"Cancel that context when its owner is done: call its cancel function (defer cancel()), or derive it from the context of the request instead of context.Background()."
		}
	}
	for _, from := range received(place) {
		v := syntax.Named(place, from)
		if v == nil || !v.IsField() {
			continue
		}
		if closer := closers(p, place, v); closer != "" {
			channel := syntax.Text(from)
			return fmt.Sprintf("They would end when %s closes %s, which is not called for them.", closer, channel),
				fmt.Sprintf("Call %s on all paths when the goroutine's owner is done (defer it where the owner is created), or end the goroutine with the context of the request.", closer)
		}
	}
	return "", ""
}

// received returns the channels that the statement on a line receives from. For a select that
// starts there, they are those of its cases.
func received(p *gocode.Place) (from []ast.Expr) {
	add := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
				from = append(from, u.X)
			}
			return true
		})
	}
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if comm := c.(*ast.CommClause).Comm; comm != nil {
					add(comm)
				}
			}
			return from
		case *ast.RangeStmt:
			if t := p.TypeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Chan); ok {
					return []ast.Expr{n.X}
				}
			}
		case *ast.ExprStmt, *ast.AssignStmt:
			add(n)
		}
	}
	return from
}

// closers returns the functions of the package that close the channel in a field, without those
// that, by the counts, requests run; "" for none.
func closers(p *rule.Pass, place *gocode.Place, field *types.Var) string {
	var names []string
	for _, f := range place.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl == place.Decl {
				continue
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || place.CalleeName(call) != "close" || len(call.Args) != 1 || syntax.Named(place, call.Args[0]) != field {
					return true
				}
				if ran, ok := evidence.ExecutionsAt(p, place, call.Pos()); !ok || !evidence.Hot(p, ran) {
					if name := funcname.Short(funcname.Typed(syntax.ProfileName(place.Entry(decl)))); !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
				return true
			})
		}
	}
	return strings.Join(names, " or ")
}
