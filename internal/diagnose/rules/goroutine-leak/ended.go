package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// ended says how the program could end the goroutines that wait at a line, if the source shows a
// way that it does not use: a function that closes a channel that they receive from, or that
// cancels their context; "" for none. started is the go statement; nil if that is not known.
func ended(p *rule.Pass, s *site.Site, started *site.Frame) advice {
	place := p.Place(s)
	if place == nil {
		return advice{}
	}
	contexts := contexts(place)
	all := received(place)
	if len(all) == 1 && ticks(place, all[0]) {
		return ticksOnly(all[0])
	}
	for _, from := range all {
		a := notCalled(p, cancels(p, place, from), started)
		if len(contexts) == 0 {
			a = openChannel(p, place, from, started)
		}
		if a.cause != "" {
			return a
		}
	}
	if a := unclosed(p, started); a.cause != "" {
		return a
	}
	const cancel = "when its owner is done: call its cancel function (defer cancel()), or derive it from the context of the request instead of context.Background()."
	switch len(contexts) {
	case 0:
		return advice{}
	case 1:
		return advice{fmt.Sprintf("They would end with the context %s, but nothing cancels it.", contexts[0]), "Cancel that context " + cancel, false}
	}
	return advice{fmt.Sprintf("They would end with one of the contexts %s, but nothing cancels these.", strings.Join(contexts, " and ")),
		"Cancel the one that belongs to this work " + cancel, false}
}

// ticksOnly is the advice for goroutines that wait for a ticker or a timer alone.
func ticksOnly(from ast.Expr) advice {
	of := "the ticker"
	if sel, ok := ast.Unparen(from).(*ast.SelectorExpr); ok {
		of = syntax.Text(sel.X)
	}
	return advice{fmt.Sprintf("They wait for %s alone. Stop does not close that channel: a stopped ticker leaves whoever receives from it waiting, and a running one never ends the loop.", syntax.Text(from)),
		fmt.Sprintf("Give the loop an end: select between %s and a context's Done, which whoever stops %s cancels, and stop it in the goroutine itself with defer.", syntax.Text(from), of), false}
}

// contexts returns the contexts for whose end the statement on a line waits.
func contexts(place *gocode.Place) (names []string) {
	for _, from := range received(place) {
		if call, ok := ast.Unparen(from).(*ast.CallExpr); ok && funcname.Match(place.CalleeName(call), "(context.Context).Done") {
			names = append(names, syntax.Text(syntax.Receiver(call)))
		}
	}
	return names
}

// openChannel says what would close a channel that goroutines receive from; "" if that is not
// known.
func openChannel(p *rule.Pass, place *gocode.Place, from ast.Expr, started *site.Frame) advice {
	v := channel(p, place, from)
	if v == nil {
		return localChannel(p, place, from)
	}
	e := closers(place, v)
	if line, in := unreached(p, e); in != "" {
		return advice{fmt.Sprintf("They would end when %s closes %s on line %d, but it returns before that.", in, syntax.Text(from), line),
			fmt.Sprintf("Close %s on all paths of %s: with defer, before the first return.", syntax.Text(from), in), false}
	}
	return notCalled(p, e, started)
}

// ending is a statement of the package that ends goroutines which wait.
type ending struct {
	place *gocode.Place
	decl  *ast.FuncDecl
	at    token.Pos
	does  string // in words: "closes w.stop"
}

func (e *ending) name() string {
	return symbol.Short(funcname.Typed(syntax.ProfileName(e.place.Entry(e.decl))))
}

// closers returns the statements of the package that close the channel in a field, without those of
// the function of the place.
func closers(place *gocode.Place, field *types.Var) (all []ending) {
	eachCall(place, func(decl *ast.FuncDecl, call *ast.CallExpr) {
		if place.CalleeName(call) == "close" && len(call.Args) == 1 && syntax.Named(place, call.Args[0]) == field {
			all = append(all, ending{place, decl, call.Pos(), "closes " + syntax.Text(call.Args[0])})
		}
	})
	return all
}

// unreached returns a function that requests run, by the counts, but hardly ever up to the line
// where it closes a channel; "" for none.
func unreached(p *rule.Pass, all []ending) (line int, name string) {
	for _, e := range all {
		calls, ok := evidence.ExecutionsAt(p, e.place, e.decl.Body.List[0].Pos())
		closes, known := evidence.ExecutionsAt(p, e.place, e.at)
		if ok && known && evidence.Hot(p, calls) && !evidence.Hot(p, closes) {
			line, name = syntax.Line(e.place, e.at), e.name()
		}
	}
	return line, name
}

// eachCall visits the calls in the functions of a package other than that of the place.
func eachCall(place *gocode.Place, visit func(decl *ast.FuncDecl, call *ast.CallExpr)) {
	for _, f := range place.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl == place.Decl {
				continue
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					visit(decl, call)
				}
				return true
			})
		}
	}
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
