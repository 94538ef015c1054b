package rewrite

import (
	"errors"
	"go/ast"
	"go/types"
	"strings"
)

// logLevel tests the level before a call of log/slog whose arguments would be put into interfaces
// for nothing:
//
//	if slog.Default().Enabled(context.Background(), slog.LevelDebug) { slog.Debug("sent", "id", id) }
//
// The functions of slog test the level before they do anything else (log/slog, Logger.log), so the
// test only comes earlier.
func logLevel(s *site, n ast.Node) (*proposal, error) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	name, method := strings.CutPrefix(s.callee(call), "(*log/slog.Logger).")
	if !method {
		if name, ok = strings.CutPrefix(name, "log/slog."); !ok {
			return nil, nil
		}
	}
	level, withContext := strings.CutSuffix(name, "Context")
	switch level {
	case "Debug", "Info", "Warn", "Error":
	default:
		return nil, nil
	}
	stmt, ok := s.parent(1).(*ast.ExprStmt)
	if !ok || !s.inList(stmt) {
		return nil, errors.New("the call is not a statement of a block")
	}
	if s.guarded() {
		return nil, errors.New("the level is tested around it")
	}
	for _, arg := range call.Args {
		if !s.harmless(arg) {
			return nil, errors.New("an argument calls something, or reads through a pointer, an index or a map: what that does would be left out with the level off")
		}
	}
	lib, ok := s.qualify("log/slog", call.Pos())
	if !ok {
		return nil, errors.New("another name hides the package slog there")
	}
	logger, on := lib+".Default()", call.Pos()
	if method {
		to := call.Fun.(*ast.SelectorExpr).X
		if !s.harmless(to) {
			return nil, errors.New("the logger is not a plain variable")
		}
		logger = s.text(to)
	}
	ctx := ""
	if withContext {
		ctx = s.text(call.Args[0])
	} else if lib, ok := s.qualify("context", on); ok {
		ctx = lib + ".Background()"
	} else {
		return nil, errors.New("another name hides the package context there")
	}
	test := "if " + logger + ".Enabled(" + ctx + ", " + lib + ".Level" + level + ") {\n"
	return &proposal{risk: ByContext, why: "the logger asks the same before it does anything else, and the arguments do nothing but name values",
		edits: []edit{{stmt.Pos(), stmt.Pos(), test}, {stmt.End(), stmt.End(), "\n}"}}}, nil
}

// inList reports whether a statement is in a list of statements, so that an if may replace it.
func (s *site) inList(stmt ast.Stmt) bool {
	switch p := s.parent(2).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return p.Comm != stmt
	}
	return false
}

// guarded reports whether an if around the node tests whether a level is enabled.
func (s *site) guarded() bool {
	for _, n := range s.path {
		branch, ok := n.(*ast.IfStmt)
		if !ok {
			continue
		}
		found := false
		ast.Inspect(branch.Cond, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && strings.Contains(sel.Sel.Name, "Enabled") {
				found = true
			}
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// harmless reports whether evaluating an expression has no effect and cannot panic: constants,
// variables, fields that are reached without a pointer, conversions of them that cannot fail, and
// len of strings, slices and maps.
func (s *site) harmless(e ast.Expr) bool {
	if s.constant(e) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		sel := s.pkg.TypesInfo.Selections[e]
		if sel == nil { // a name of another package
			_, isVar := s.pkg.TypesInfo.Uses[e.Sel].(*types.Var)
			return isVar
		}
		return sel.Kind() == types.FieldVal && !sel.Indirect() && s.harmless(e.X)
	case *ast.CallExpr:
		if len(e.Args) != 1 {
			return false
		}
		if s.pkg.TypesInfo.Types[e.Fun].IsType() {
			switch s.typeOf(e).Underlying().(type) {
			case *types.Basic:
				_, basic := s.typeOf(e.Args[0]).Underlying().(*types.Basic)
				return basic && s.harmless(e.Args[0])
			}
			return false
		}
		return s.callee(e) == "len" && s.harmless(e.Args[0])
	}
	return false
}
