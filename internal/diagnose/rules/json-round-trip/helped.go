package jsonroundtrip

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// mostHelpers is the number of functions between the one that has the text and the codec.
const mostHelpers = 2

// helped returns a line for functions that leave the encoding and the decoding to others of their
// package: text, err := toJSON(v) … fromJSON(text, &w).
func helped(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *pair {
		for _, call := range place.Calls() {
			if found, ok := pairOf(place, call); ok {
				return &found
			}
		}
		return nil
	})
	codecs := functions()
	frame := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if !funcname.Match(r.Stack[i-1].Function, codecs...) {
				continue
			}
			for at := i + 1; at <= i+mostHelpers && at < len(r.Stack); at++ {
				if k := r.Stack[at].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && lines.At(r.Stack[at]) != nil {
					return at
				}
			}
		}
		return -1
	}
	return []finder.Line{{Start: finder.Frames(frame), Judge: func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		describe(c, *found)
		return true
	}}}
}

func describe(c *finder.Case, found pair) {
	p := c.Place
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.4, High: 0.95} // converting by reflection remains
	c.Cause = fmt.Sprintf("%s encodes a value on line %d, and %s decodes the text on line %d; the text has no other use.",
		symbol.Short(p.CalleeName(found.out)), syntax.Line(p, found.out.Pos()), symbol.Short(p.CalleeName(found.in)), syntax.Line(p, found.in.Pos()))
	c.Fix = "Pass the value itself from one function to the other: assign the fields, or map them by reflection once for each type. A decoder for the first format that fills the final type needs no text in between."
}

// returnsText returns the package with which a function encodes the text that it returns, whatever
// it does before; nil for functions that return another text on some path.
func returnsText(p *gocode.Place, levels int) (by *types.Package) {
	other := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if _, literal := n.(*ast.FuncLit); literal {
			return false
		}
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || other {
			return !other
		}
		if len(ret.Results) == 0 {
			other = true
			return false
		}
		e := ret.Results[0]
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name == "nil" {
			return true
		}
		call, ok := syntax.Origin(p, e).(*ast.CallExpr)
		if !ok {
			other = true
			return false
		}
		pkg := encoder(p, call, levels)
		other = other || pkg == nil || by != nil && by != pkg
		by = pkg
		return true
	})
	if other {
		return nil
	}
	return by
}

// encoder returns the package whose Marshal a call is, or ends in.
func encoder(p *gocode.Place, call *ast.CallExpr, levels int) *types.Package {
	if named(p, call, "Marshal") {
		return p.Callee(call).Pkg()
	}
	if fn := p.Callee(call); fn != nil && levels > 1 {
		if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
			return returnsText(p.Entry(decl), levels-1)
		}
	}
	return nil
}

// decodes returns the package with which a function of the package decodes the argument that e is,
// if it has no other use for it; nil for other calls.
func decodes(p *gocode.Place, call *ast.CallExpr, e ast.Expr, levels int) *types.Package {
	fn := p.Callee(call)
	if fn == nil || levels == 0 || fn.Signature().Variadic() && len(call.Args) < fn.Signature().Params().Len()-1 {
		return nil
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil
	}
	for i, arg := range call.Args {
		if ast.Unparen(arg) != ast.Unparen(e) || i >= fn.Signature().Params().Len() {
			continue
		}
		in := p.Entry(decl)
		t := text{place: in, seen: map[*types.Var]bool{}, levels: levels - 1}
		t.variable(fn.Signature().Params().At(i))
		if len(t.ins) == 1 && len(t.outs) == 0 && !t.other {
			return t.by(t.ins[0])
		}
	}
	return nil
}
