package rewrite

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// steps rewrites a local string that several statements build, and one reads when it is complete,
// into bytes to which each statement appends: that creates one string instead of one for each
// statement and each number.
func steps(s *site, n ast.Node) (*proposal, error) {
	stmt, ok := n.(ast.Stmt)
	if !ok {
		return nil, nil
	}
	v := s.grown(stmt)
	if v == nil {
		return nil, nil
	}
	t := text{site: s, variable: v}
	if !t.collect() || t.made() < 2 {
		return nil, nil // saving one string is not worth a rewrite
	}
	p := &proposal{risk: ByContext, why: "the string is read once, after all of its parts are in place"}
	for _, step := range append([]step{t.first}, t.steps...) {
		lines, ok := t.appends(step)
		if !ok || s.commented(step.stmt) || !s.universal(step.stmt.Pos(), "append", "make", "byte", "int64") {
			return nil, nil
		}
		if step.stmt == t.first.stmt {
			lines = append([]string{fmt.Sprintf("%s := make([]byte, 0, %d)", v.Name(), t.capacity())}, lines...)
		}
		p.edits = append(p.edits, edit{step.stmt.Pos(), step.stmt.End(), strings.Join(lines, "\n")})
	}
	if !s.universal(t.read.Pos(), "string") {
		return nil, nil
	}
	p.edits = append(p.edits, edit{t.read.Pos(), t.read.End(), "string(" + v.Name() + ")"})
	return p, nil
}

// text is a string variable that grows.
type text struct {
	site     *site
	variable *types.Var
	first    step // its declaration
	steps    []step
	read     *ast.Ident
}

// step is a statement that adds parts to a text.
type step struct {
	stmt  ast.Stmt
	parts []ast.Expr // of type string
	rare  bool       // it is in a branch, which may not be taken
}

// grown returns the local string variable that a statement declares or adds to, or nil.
func (s *site) grown(stmt ast.Stmt) *types.Var {
	var id *ast.Ident
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		if len(stmt.Lhs) != 1 || len(stmt.Rhs) != 1 {
			return nil
		}
		id, _ = stmt.Lhs[0].(*ast.Ident)
	case *ast.DeclStmt:
		d, ok := stmt.Decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
			return nil
		}
		if spec := d.Specs[0].(*ast.ValueSpec); len(spec.Names) == 1 {
			id = spec.Names[0]
		}
	}
	if id == nil {
		return nil
	}
	v, ok := s.pkg.TypesInfo.ObjectOf(id).(*types.Var)
	if !ok || !isString(v.Type()) || v.Parent() == nil || v.Parent() == s.pkg.Types.Scope() {
		return nil
	}
	return v
}

// universal reports whether predeclared names have their usual meaning at a place.
func (s *site) universal(at token.Pos, names ...string) bool {
	scope := s.pkg.Types.Scope().Innermost(at)
	for _, name := range names {
		if scope == nil {
			return false
		}
		if _, obj := scope.LookupParent(name, at); obj == nil || obj.Parent() != types.Universe {
			return false
		}
	}
	return true
}

// collect finds the declaration, the statements that add to it and the one place that reads it; it
// returns false if the variable is used in any other way, or read before it is complete.
func (t *text) collect() bool {
	s := t.site
	fine := true
	var path []ast.Node
	var block ast.Node // of the declaration
	ast.Inspect(s.fn, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			fine = false
		}
		id, ok := n.(*ast.Ident)
		if !ok || s.pkg.TypesInfo.ObjectOf(id) != t.variable {
			return true
		}
		switch {
		case s.pkg.TypesInfo.Defs[id] != nil:
			block, t.first = declaration(path)
			fine = fine && block != nil
		case block == nil || !slices.Contains(path, block):
			fine = false
		default:
			fine = fine && t.use(path, slices.Index(path, block))
		}
		return true
	})
	if !fine || t.read == nil || len(t.steps) == 0 {
		return false
	}
	for i := range t.steps {
		if t.read.Pos() < t.steps[i].stmt.End() {
			return false
		}
	}
	return true
}

// declaration returns the statement at the end of a path that declares a name, and the list of
// statements that it is in; nil if it is not in such a list: a parameter, the start of an if.
func declaration(path []ast.Node) (block ast.Node, first step) {
	at := len(path) - 1
	if n, ok := path[at-1].(*ast.AssignStmt); ok && listed(path[at-2]) && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
		return path[at-2], step{stmt: n, parts: n.Rhs}
	}
	if at < 4 {
		return nil, step{}
	}
	// A statement, a declaration, its one specification, the name.
	n, isDecl := path[at-3].(*ast.DeclStmt)
	spec, isSpec := path[at-1].(*ast.ValueSpec)
	if isDecl && isSpec && listed(path[at-4]) && len(n.Decl.(*ast.GenDecl).Specs) == 1 && len(spec.Names) == 1 {
		return path[at-4], step{stmt: n, parts: spec.Values}
	}
	return nil, step{}
}

// listed reports whether a node is a list of statements.
func listed(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	}
	return false
}

// use records a use of the variable at the end of a path: it adds to the variable, or is the one
// that reads it. The path's node at block is the list with the declaration.
func (t *text) use(path []ast.Node, block int) bool {
	at := len(path) - 1
	if assign, ok := path[at-1].(*ast.AssignStmt); ok && slices.Contains(assign.Lhs, ast.Expr(path[at].(*ast.Ident))) {
		if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 || !listed(path[at-2]) || !within(path[block+1:at-1], true) {
			return false
		}
		parts := assign.Rhs
		if assign.Tok == token.ASSIGN { // line = line + part: the variable occurs again on the right
			sum := t.site.operands(assign.Rhs[0])
			if len(sum) < 2 || !t.site.is(sum[0], t.variable) {
				return false
			}
			parts = sum[1:]
		} else if assign.Tok != token.ADD_ASSIGN {
			return false
		}
		for _, p := range parts {
			if t.site.mentions(p, t.variable) {
				return false
			}
		}
		t.steps = append(t.steps, step{stmt: assign, parts: parts, rare: branched(path[block+1 : at-1])})
		return true
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].stmt.Pos() <= path[at].Pos() && path[at].Pos() < t.steps[n-1].stmt.End() {
		return true // on the right of line = line + part
	}
	if unary, ok := path[at-1].(*ast.UnaryExpr); ok && unary.Op == token.AND || t.read != nil || !within(path[block+1:at-1], false) {
		return false
	}
	t.read = path[at].(*ast.Ident)
	return true
}

// branched reports whether nodes have a branch, and no loop, which would run it often.
func branched(path []ast.Node) bool {
	found := false
	for _, n := range path {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.IfStmt, *ast.CaseClause:
			found = true
		}
	}
	return found
}

// within reports whether nodes have no function literal, and no loop unless loops are allowed.
func within(path []ast.Node, loops bool) bool {
	for _, n := range path {
		switch n.(type) {
		case *ast.FuncLit, *ast.SelectStmt:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			if !loops {
				return false
			}
		}
	}
	return true
}

// operands returns the operands of a sum, in order; an operand that is constant as a whole is one.
func (s *site) operands(e ast.Expr) []ast.Expr {
	sum, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD || s.constant(e) {
		return []ast.Expr{e}
	}
	return append(s.operands(sum.X), s.operands(sum.Y)...)
}

// made is the number of strings that the statements create, without those in branches.
func (t *text) made() (n int) {
	for i, step := range append([]step{t.first}, t.steps...) {
		if step.rare {
			continue
		}
		sum := 0
		for _, p := range step.parts {
			for _, o := range t.site.operands(p) {
				sum++
				if call, ok := ast.Unparen(o).(*ast.CallExpr); ok && (appendForms()[t.site.callee(call)] != "" || t.site.callee(call) == "fmt.Sprintf") {
					n++
				}
			}
		}
		if i > 0 || sum > 1 {
			n++
		}
	}
	return n
}

// capacity is the size of the constant parts, and a word for each other part, so that a short text
// is never moved to the heap.
func (t *text) capacity() int {
	const word, block, most = 24, 64, 256
	n := 0
	for _, step := range append([]step{t.first}, t.steps...) {
		for _, p := range step.parts {
			for _, o := range t.site.operands(p) {
				pieces := []piece{{expr: "?"}}
				if call, ok := ast.Unparen(o).(*ast.CallExpr); ok && t.site.callee(call) == "fmt.Sprintf" {
					if list, err := t.site.pieces(call); err == nil {
						pieces = list
					}
				}
				for _, p := range pieces {
					if p.expr != "" {
						n += word
					}
					n += len(p.text)
				}
			}
		}
	}
	return min((n+block-1)/block*block, most)
}

// appends returns the statements that replace a step; false if the parts of a sum could change each
// other.
func (t *text) appends(step step) (lines []string, ok bool) {
	s := t.site
	name := t.variable.Name()
	variable, calls := 0, 0
	for _, part := range step.parts {
		for _, o := range s.operands(part) {
			variable += s.variables(o)
			if !s.quiet(o) {
				calls++
			}
			list, err := s.appendsOf(name, o)
			if err != nil {
				return nil, false
			}
			for _, l := range list {
				lines = append(lines, name+" = "+l)
			}
		}
	}
	return lines, calls == 0 || variable <= 1
}

// variables returns the number of values in an operand that are not constant: the values of a
// format count one by one.
func (s *site) variables(e ast.Expr) (n int) {
	if s.constant(e) {
		return 0
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || s.callee(call) != "fmt.Sprintf" {
		return 1
	}
	if _, err := s.pieces(call); err != nil {
		return 1 // it stays one call
	}
	for _, a := range call.Args[1:] {
		if !s.constant(a) {
			n++
		}
	}
	return n
}

// appendsOf returns the expressions that append an operand to a []byte, in order.
func (s *site) appendsOf(dest string, e ast.Expr) ([]string, error) {
	if v := s.pkg.TypesInfo.Types[e].Value; v != nil {
		text := constant.StringVal(v)
		switch {
		case text == "":
			return nil, nil
		case len(text) == 1 && text[0] >= ' ' && text[0] <= '~':
			return []string{"append(" + dest + ", " + strconv.QuoteRune(rune(text[0])) + ")"}, nil
		}
		return []string{"append(" + dest + ", " + s.text(e) + "...)"}, nil
	}
	if text, ok := s.appending(dest, e); ok {
		return []string{text}, nil
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || s.callee(call) != "fmt.Sprintf" {
		return []string{"append(" + dest + ", " + s.text(e) + "...)"}, nil
	}
	pieces, err := s.pieces(call)
	if err == nil {
		var lines []string
		for _, p := range pieces {
			lines = append(lines, p.appended(dest))
		}
		return lines, nil
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.pkg.Module == nil || s.pkg.Module.GoVersion == "" || olderThan(s.pkg.Module.GoVersion, 19) {
		return nil, errors.New("fmt.Appendf is newer than the module's version of Go")
	}
	args := s.text(call)[call.Args[0].Pos()-call.Pos():]
	return []string{s.text(fun.X) + ".Appendf(" + dest + ", " + args}, nil
}

// quiet reports whether evaluating an expression runs no code that could change a variable: it
// consists of names, fields, indexes, conversions, and calls of functions that only compute.
func (s *site) quiet(e ast.Expr) bool {
	fine := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fine = false
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.ARROW
		case *ast.CallExpr:
			name := s.callee(n)
			switch {
			case s.pkg.TypesInfo.Types[n.Fun].IsType(), name == "len", name == "cap", strings.HasPrefix(name, "strconv."):
			case slices.Contains([]string{"strings.ToLower", "strings.ToUpper", "strings.TrimSpace", "strings.Repeat", "strings.Join", "strings.ReplaceAll",
				"(*strings.Replacer).Replace", "(time.Time).Format", "(time.Duration).String"}, name):
			case name == "fmt.Sprintf":
				_, err := s.pieces(n)
				fine = fine && err == nil
			default:
				fine = false
			}
		}
		return fine
	})
	return fine
}

// commented reports whether a statement contains a comment, which would be lost.
func (s *site) commented(stmt ast.Stmt) bool {
	return slices.ContainsFunc(s.file.Comments, func(c *ast.CommentGroup) bool { return stmt.Pos() < c.Pos() && c.End() <= stmt.End() })
}
