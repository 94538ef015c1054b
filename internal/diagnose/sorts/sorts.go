package sorts

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Functions of the standard library that sort, as profiles name them.
func Functions() []string {
	return []string{"sort.Sort", "sort.Stable", "sort.Slice", "sort.SliceStable", "sort.Strings", "sort.Ints", "sort.Float64s", "slices.Sort*"}
}

// Sorting reports whether a function, as a profile names it, sorts a list: one of [Functions], or a
// method Sort. It excludes slices.Sorted, which has no list before.
func Sorting(function string) bool {
	return funcname.Match(function, Functions()...) && !funcname.Match(function, "slices.Sorted*") || strings.HasSuffix(function, ".Sort")
}

// List returns what a call sorts, its receiver or first argument, without conversions; nil when the
// call does not sort.
func List(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	if fn.Signature().Recv() != nil {
		if fn.Name() != "Sort" || len(call.Args) > 0 {
			return nil
		}
		return syntax.Receiver(call)
	}
	if len(call.Args) == 0 || fn.Pkg() == nil || fn.Pkg().Path() != "sort" && fn.Pkg().Path() != "slices" || !Sorting(fn.Pkg().Path()+"."+fn.Name()) {
		return nil
	}
	list := ast.Unparen(call.Args[0])
	for range 2 {
		if c, ok := list.(*ast.CallExpr); ok && len(c.Args) == 1 { // a conversion, sort.Reverse
			list = ast.Unparen(c.Args[0])
		}
	}
	return list
}

// Collects reports whether a function, as a profile names it, sorts elements into a new list.
func Collects(function string) bool { return funcname.Match(function, "slices.Sorted*") }

// Collected returns the sequence whose elements a call of slices.Sorted, SortedFunc or
// SortedStableFunc sorts into a new list; nil for other calls.
func Collected(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if len(call.Args) == 0 || !Collects(p.CalleeName(call)) {
		return nil
	}
	return ast.Unparen(call.Args[0])
}
