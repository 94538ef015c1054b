package rewrite

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/modernize"
	"golang.org/x/tools/go/packages"
)

// repeat turns a loop that pads a string with one piece until it is long enough into
// strings.Repeat:
//
//	for len(s) < n { s = string(c) + s }
func repeat(s *site, n ast.Node) (*proposal, error) {
	loop, ok := n.(*ast.ForStmt)
	if !ok || loop.Init != nil || loop.Post != nil || len(loop.Body.List) != 1 {
		return nil, nil
	}
	cond, ok := loop.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS {
		return nil, nil
	}
	text, ok := s.lenOf(cond.X)
	if !ok || !s.pure(cond.Y) || s.mentions(cond.Y, text) {
		return nil, nil
	}
	grow, ok := loop.Body.List[0].(*ast.AssignStmt)
	if !ok || len(grow.Lhs) != 1 || !s.is(grow.Lhs[0], text) {
		return nil, nil
	}
	var piece ast.Expr
	front := false
	switch sum, isSum := grow.Rhs[0].(*ast.BinaryExpr); {
	case grow.Tok == token.ADD_ASSIGN:
		piece = grow.Rhs[0]
	case grow.Tok != token.ASSIGN || !isSum || sum.Op != token.ADD:
		return nil, nil
	case s.is(sum.Y, text):
		piece, front = sum.X, true
	case s.is(sum.X, text):
		piece = sum.Y
	default:
		return nil, nil
	}
	if !s.neverEmpty(piece) || s.mentions(piece, text) {
		return nil, errors.New("the piece may be empty, and the loop would not end")
	}
	lib, ok := s.qualify("strings", loop.Pos())
	if !ok {
		return nil, errors.New("another name hides the package strings there")
	}
	name, limit := text.Name(), s.text(cond.Y)
	pad := s.freeName("pad")
	if _, simple := cond.Y.(*ast.Ident); !simple {
		limit = "(" + limit + ")"
	}
	count := "(" + limit + "-len(" + name + ")+len(" + pad + ")-1)/len(" + pad + ")"
	repeated := lib + ".Repeat(" + pad + ", " + count + ")"
	sum := repeated + " + " + name
	if !front {
		sum = name + " + " + repeated
	}
	return &proposal{risk: ByContext, why: "the piece is the same in each iteration and never empty",
		edits: []edit{{loop.Pos(), loop.End(), "if " + s.text(cond) + " {\n" + pad + " := " + s.text(piece) + "\n" + name + " = " + sum + "\n}"}}}, nil
}

// lenOf returns the local string variable whose length an expression is.
func (s *site) lenOf(e ast.Expr) (*types.Var, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || s.callee(call) != "len" {
		return nil, false
	}
	id, ok := call.Args[0].(*ast.Ident)
	if !ok {
		return nil, false
	}
	v, ok := s.pkg.TypesInfo.Uses[id].(*types.Var)
	return v, ok && isString(v.Type()) && v.Parent() != s.pkg.Types.Scope()
}

func (s *site) is(e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && s.pkg.TypesInfo.Uses[id] == v
}

func (s *site) mentions(e ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && s.pkg.TypesInfo.Uses[id] == v {
			found = true
		}
		return true
	})
	return found
}

// neverEmpty reports whether a string expression has at least one byte: a constant that is not
// empty, or string(r) of a rune.
func (s *site) neverEmpty(e ast.Expr) bool {
	if v := s.pkg.TypesInfo.Types[e].Value; v != nil {
		return v.Kind() == constant.String && constant.StringVal(v) != ""
	}
	conv, ok := e.(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.pkg.TypesInfo.Types[conv.Fun].IsType() || !isString(s.typeOf(conv)) || !s.pure(conv.Args[0]) {
		return false
	}
	b, ok := s.typeOf(conv.Args[0]).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// builder replaces a string that grows in a loop by a strings.Builder, as go fix does. The analyzer
// is Go's own (golang.org/x/tools/go/analysis/passes/modernize), and checks whether the string is
// read or captured in between.
func builder(s *site, n ast.Node) (*proposal, error) {
	if n != ast.Node(s.fn) {
		return nil, nil
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{modernize.StringsBuilderAnalyzer}, []*packages.Package{s.pkg}, nil)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, root := range graph.Roots {
		for _, d := range root.Diagnostics {
			if len(d.SuggestedFixes) != 1 || d.Pos < s.fn.Pos() || d.Pos >= s.fn.End() {
				continue
			}
			var some []edit
			touches := false
			for _, e := range d.SuggestedFixes[0].TextEdits {
				if e.Pos < s.fn.Pos() {
					continue // an import: they are put in order at the end
				}
				some = append(some, edit{e.Pos, e.End, string(e.NewText)})
				touches = touches || s.lines[s.line(e.Pos)]
			}
			if touches && !overlaps(edits, some) {
				edits = append(edits, some...)
			}
		}
	}
	if len(edits) == 0 {
		return nil, errors.New("the string is read or kept while it grows, or it is not a local variable")
	}
	return &proposal{edits: edits, risk: ByContext, why: "the string is only read when the loop is over"}, nil
}

// olderThan reports whether a go directive ("1.20", "1.26.8") is before 1.minor.
func olderThan(version string, minor int) bool {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "1" {
		return len(parts) < 2
	}
	n, err := strconv.Atoi(parts[1])
	return err != nil || n < minor
}
