package retainedsubstring

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// sliced returns what a slice expression takes of a value: a part if it ends where the buffer need
// not end.
func (f *follower) sliced(p *gocode.Place, n *ast.SliceExpr, v value) value {
	if n.High == nil {
		return v
	}
	t := p.TypeOf(n.X)
	if t == nil || !listOrText(t) {
		return v
	}
	elem := int64(1)
	if e := syntax.Elem(t); e != nil && !syntax.Generic(e) {
		elem = syntax.Sizes().Sizeof(e)
	}
	length := width(p, n) * elem
	if v.extent == part && (length == 0 || v.cut.size > 0 && length >= v.cut.size) || length == 0 && !ends(p, n) {
		return v
	}
	if float64(length) > mostShare*f.size {
		return v // most of it
	}
	taken := f.piece(p, n, v)
	if length > 0 {
		taken.cut.size = length
	}
	return taken
}

// width returns the length of a slice expression x[:8] or x[i:i+8]; 0 if it is not constant.
func width(p *gocode.Place, n *ast.SliceExpr) int64 {
	if high, ok := syntax.ConstInt(p, n.High); ok {
		if n.Low == nil {
			return high
		}
		if low, ok := syntax.ConstInt(p, n.Low); ok {
			return high - low
		}
		return 0
	}
	sum, ok := ast.Unparen(n.High).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || n.Low == nil {
		return 0
	}
	for _, pair := range [][2]ast.Expr{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		if types.ExprString(ast.Unparen(pair[0])) == types.ExprString(ast.Unparen(n.Low)) {
			size, _ := syntax.ConstInt(p, pair[1])
			return size
		}
	}
	return 0
}

// ends reports whether a slice expression of unknown length ends before the buffer does, as far as
// its indexes show: x[i:j] with variables, x[:i] where i was searched for. x[:n] is what was filled
// of a buffer, x[1:len(x)-1] most of it.
func ends(p *gocode.Place, n *ast.SliceExpr) bool {
	long := false
	ast.Inspect(n.High, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		long = long || ok && p.CalleeName(call) == "len"
		return !long
	})
	if long || filledTo(p, n.High) {
		return false
	}
	if n.Low != nil {
		_, constant := syntax.ConstInt(p, n.Low)
		if !constant {
			return true
		}
	}
	call, ok := ast.Unparen(syntax.Origin(p, n.High)).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "strings.Index*", "strings.LastIndex*", "bytes.Index*", "bytes.LastIndex*")
}

// filledTo reports whether an index is the number of bytes that a call read or wrote.
func filledTo(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(syntax.Origin(p, e)).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "copy", "*.Read*", "*.Decode*", "*.Encode*", "*.Put*")
}
