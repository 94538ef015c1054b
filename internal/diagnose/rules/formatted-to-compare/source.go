package formattedtocompare

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// source is a call that decodes a value from a text.
type source struct {
	text    string // the expression of the text, or of what the decoder reads
	by      string // the function
	where   string
	stream  bool
	changed bool // a function assigns to parts of the value
}

// decoded returns the call that decodes the value that is encoded later, in the function or in all
// of its callers; nil for none.
func decoded(s *gocode.Syntax, p *gocode.Place, e ast.Expr, levels int) *source {
	v := subject(p, e)
	if v == nil || p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	found := into(p, v)
	if found == nil {
		found = parsed(p, v)
	}
	if found == nil && levels > 0 {
		found = passed(s, p, v, levels)
	}
	if found != nil {
		found.changed = found.changed || partSet(p, v)
	}
	return found
}

// subject returns the variable whose whole value an expression is, also by a method that returns
// its receiver's type, such as one that sorts it; nil for others.
func subject(p *gocode.Place, e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return syntax.LocalVar(p, e)
	case *ast.UnaryExpr:
		return subject(p, e.X)
	case *ast.StarExpr:
		return subject(p, e.X)
	case *ast.CallExpr:
		recv := syntax.Receiver(e)
		if recv != nil && len(e.Args) == 0 && p.TypeOf(recv) != nil && p.TypeOf(e) != nil && types.Identical(bare(p.TypeOf(recv)), bare(p.TypeOf(e))) {
			return subject(p, recv)
		}
	}
	return nil
}

func bare(t types.Type) types.Type {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		return ptr.Elem()
	}
	return t
}

// into returns the call in a function that decodes into a variable; nil for none.
func into(p *gocode.Place, v *types.Var) (found *source) {
	decoders := funcname.TypedAll(codecs.Decoders())
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || !funcname.Match(p.CalleeName(call), decoders...) {
			return found == nil
		}
		to := call.Args[len(call.Args)-1]
		if len(call.Args) > 1 {
			to = call.Args[1]
		}
		if subject(p, to) != v {
			return true
		}
		found = &source{by: symbol.Short(p.CalleeName(call)), where: syntax.Where(p, call.Pos())}
		if len(call.Args) > 1 {
			found.text = syntax.Text(call.Args[0])
			return false
		}
		found.text, found.stream = "its reader", true
		if made, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr); ok && len(made.Args) > 0 && strings.HasSuffix(p.CalleeName(made), ".NewDecoder") {
			found.text = syntax.Text(made.Args[0])
		}
		return false
	})
	return found
}

// parsed returns the call of a function of the package that returned a variable's value, if the
// function decodes it from its parameter; nil for others.
func parsed(p *gocode.Place, v *types.Var) *source {
	stmt, _ := syntax.Declared(p, v)
	set, ok := stmt.(*ast.AssignStmt)
	if !ok || len(set.Rhs) != 1 || syntax.LocalVar(p, set.Lhs[0]) != v {
		return nil
	}
	call, ok := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return nil
	}
	in := p.Entry(decl)
	var found *source
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || found != nil || len(ret.Results) == 0 {
			return found == nil
		}
		if w := subject(in, ret.Results[0]); w != nil {
			if found = into(in, w); found != nil {
				found.changed = partSet(in, w)
			}
		}
		return true
	})
	if found == nil {
		return nil
	}
	for i, arg := range call.Args {
		if i < fn.Signature().Params().Len() && fn.Signature().Params().At(i).Name() == found.text {
			found.text, found.by, found.where = syntax.Text(arg), fn.Name(), syntax.Where(p, call.Pos())
			return found
		}
	}
	return nil
}

// passed returns what decoded the value that callers pass, if all of them pass a decoded one.
func passed(s *gocode.Syntax, p *gocode.Place, v *types.Var, levels int) (found *source) {
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || s == nil {
		return nil
	}
	for _, at := range s.Calls(func(f *types.Func) bool { return f == self }) {
		for _, call := range at.Calls() {
			if at.Callee(call) != self {
				continue
			}
			arg := flow.ArgumentFor(p, call, v)
			if arg == nil {
				return nil
			}
			from := decoded(s, at.Outer(), arg, levels-1)
			if from == nil {
				return nil
			}
			if found == nil || from.changed {
				found = from
			}
		}
	}
	return found
}

// partSet reports whether a function assigns to a part of a variable's value.
func partSet(p *gocode.Place, v *types.Var) bool {
	set := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				of, part := syntax.Var(p, lhs)
				set = set || part && of == v
			}
		case *ast.IncDecStmt:
			of, part := syntax.Var(p, n.X)
			set = set || part && of == v
		}
		return !set
	})
	return set
}
