package syntax

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// ConversionFuncs are the functions that convert a string to a slice of runes or bytes, or count
// its runes for len([]rune(s)), as profiles name them.
func ConversionFuncs() []string {
	return []string{"runtime.stringtoslicerune", "runtime.stringtoslicebyte", "runtime.countrunes"}
}

// ReadConversions returns the conversions on the line from a string to a slice of runes or bytes
// that nothing changes or keeps: the slice, or a variable that refers to it, is only indexed,
// sliced, iterated over or measured.
func ReadConversions(p *gocode.Place) (found []*ast.CallExpr) {
	for _, call := range Calls(p) {
		if t, ok := p.Conversion(call); ok && len(call.Args) == 1 && IsString(p, call.Args[0]) && isText(t) && readOnly(p, call, 0) {
			found = append(found, call)
		}
	}
	return found
}

// isText reports whether a type is a slice of runes or bytes.
func isText(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int32 || b.Kind() == types.Uint8)
}

// readOnly reports whether a slice, given as an expression, is only read.
func readOnly(p *gocode.Place, e ast.Expr, depth int) bool {
	switch n := Parent(p, e).(type) {
	case *ast.IndexExpr:
		if ast.Unparen(n.X) != ast.Unparen(e) {
			return false
		}
		switch outer := Parent(p, n).(type) {
		case *ast.UnaryExpr:
			return outer.Op != token.AND
		case *ast.IncDecStmt:
			return false
		}
		return !Defines(p, n)
	case *ast.SliceExpr:
		return ast.Unparen(n.X) == ast.Unparen(e) && readOnly(p, n, depth)
	case *ast.RangeStmt:
		return ast.Unparen(n.X) == ast.Unparen(e)
	case *ast.CallExpr:
		if _, ok := p.Conversion(n); ok {
			return IsString(p, n)
		}
		name := p.CalleeName(n)
		return name == "len" || name == "cap"
	case *ast.AssignStmt, *ast.ValueSpec:
		v := LocalVar(p, OrBad(AssignedTo(p, e)))
		if v == nil || depth > 0 || IsResult(p, v) || len(Assigned(p, v)) != 1 {
			return false
		}
		for _, id := range Reads(p, v) {
			if !readOnly(p, id, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
