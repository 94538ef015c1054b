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
	var contexts []string
	for _, from := range received(place) {
		if call, ok := ast.Unparen(from).(*ast.CallExpr); ok && funcname.Match(place.CalleeName(call), "(context.Context).Done") {
			contexts = append(contexts, syntax.Text(syntax.Receiver(call)))
		}
	}
	const cancel = "when its owner is done: call its cancel function (defer cancel()), or derive it from the context of the request instead of context.Background()."
	switch len(contexts) {
	case 0:
	case 1:
		return fmt.Sprintf("They would end with the context %s, but nothing cancels it.", contexts[0]), "Cancel that context " + cancel
	default:
		return fmt.Sprintf("They would end with one of the contexts %s, but nothing cancels these.", strings.Join(contexts, " and ")),
			"Cancel the one that belongs to this work " + cancel
	}
	for _, from := range received(place) {
		v := syntax.Named(place, from)
		if v == nil || !v.IsField() {
			continue
		}
		channel := syntax.Text(from)
		if line, in := unreached(p, place, v); in != "" {
			return fmt.Sprintf("They would end when %s closes %s on line %d, but it returns before that.", in, channel, line),
				fmt.Sprintf("Close %s on all paths of %s: with defer, before the first return.", channel, in)
		}
		if closer := closers(p, place, v); closer != "" {
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
	eachClose(place, field, func(decl *ast.FuncDecl, at token.Pos) {
		if ran, ok := evidence.ExecutionsAt(p, place, at); ok && evidence.Hot(p, ran) {
			return
		}
		if name := nameOf(place, decl); !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return strings.Join(names, " or ")
}

// unreached returns a function that requests run, by the counts, but hardly ever up to the line
// where it closes the channel in a field; "" for none.
func unreached(p *rule.Pass, place *gocode.Place, field *types.Var) (line int, name string) {
	eachClose(place, field, func(decl *ast.FuncDecl, at token.Pos) {
		calls, ok := evidence.ExecutionsAt(p, place, decl.Body.List[0].Pos())
		closes, known := evidence.ExecutionsAt(p, place, at)
		if ok && known && evidence.Hot(p, calls) && !evidence.Hot(p, closes) {
			line, name = syntax.Line(place, at), nameOf(place, decl)
		}
	})
	return line, name
}

// eachClose calls do for the calls of close on the channel in a field, in the package's functions
// other than that of the place.
func eachClose(place *gocode.Place, field *types.Var, do func(decl *ast.FuncDecl, at token.Pos)) {
	for _, f := range place.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl == place.Decl {
				continue
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && place.CalleeName(call) == "close" && len(call.Args) == 1 && syntax.Named(place, call.Args[0]) == field {
					do(decl, call.Pos())
				}
				return true
			})
		}
	}
}

func nameOf(place *gocode.Place, decl *ast.FuncDecl) string {
	return funcname.Short(funcname.Typed(syntax.ProfileName(place.Entry(decl))))
}
