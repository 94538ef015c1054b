package changed

import (
	"go/ast"
	"go/token"
	"strings"
)

// block reads statements in their order. What follows one that may return, or that locks, is around
// the rest.
func (r *reader) block(list []ast.Stmt, a around) {
	for i, s := range list {
		a = r.statement(s, list[:i], a)
	}
}

// statement reads one statement, and returns what is around those after it. Those before it say
// what a condition is about.
func (r *reader) statement(s ast.Stmt, before []ast.Stmt, a around) around {
	switch s := s.(type) {
	case *ast.BlockStmt:
		r.block(s.List, a)
	case *ast.LabeledStmt:
		return r.statement(s.Stmt, before, a)
	case *ast.IfStmt:
		return r.ifStatement(s, before, a)
	case *ast.ForStmt:
		r.forLoop(s, a)
	case *ast.RangeStmt:
		r.expressions(s.X, a)
		verb := "loops over"
		if complete(s.Body) {
			verb = "loops over all of"
		}
		r.emit(KindLoop, r.norm(unconverted(s.X)), verb, r.shown(s.X), s.Pos(), a)
		r.block(s.Body.List, a.inLoop())
	case *ast.SwitchStmt:
		r.switchStatement(s, before, a)
	case *ast.TypeSwitchStmt:
		r.typeSwitch(s, a)
	case *ast.SelectStmt:
		r.selectStatement(s, a)
	case *ast.GoStmt:
		r.goroutine(s, a)
	case *ast.DeferStmt:
		r.deferred(s, a)
	case *ast.SendStmt:
		r.emit(KindChannel, "send "+r.norm(s.Chan), "sends to", r.file.short(s.Chan, 40), s.Pos(), a)
		r.expressions(s.Value, a)
	case *ast.ExprStmt:
		r.expressions(s.X, a)
		return r.lockCall(s.X, a)
	case *ast.AssignStmt:
		r.assignment(s, a)
	case *ast.DeclStmt:
		r.declaration(s, a)
	case nil:
	default:
		r.expressions(s, a)
	}
	return a
}

// goroutine reads a go statement. The new goroutine holds no locks.
func (r *reader) goroutine(s *ast.GoStmt, a around) {
	free := a
	free.held, free.names = nil, nil
	if _, ok := s.Call.Fun.(*ast.FuncLit); ok {
		r.emit(KindGoroutine, "func", "starts a goroutine", "with a function literal", s.Pos(), a)
		r.expressions(s.Call, free)
		return
	}
	at, target := len(*r.out), r.scope.target(s.Call)
	r.emit(KindGoroutine, r.norm(s.Call.Fun), "starts a goroutine", "for "+r.calleeName(s.Call.Fun), s.Pos(), a)
	if at < len(*r.out) {
		(*r.out)[at].target = target
	}
	for _, arg := range s.Call.Args {
		r.expressions(arg, a)
	}
	r.enter(target, s.Pos(), free)
}

// shown is the source of what a loop is over: of a literal, its type.
func (r *reader) shown(e ast.Expr) string {
	if lit, ok := e.(*ast.CompositeLit); ok && lit.Type != nil {
		return article(r.file.short(lit.Type, 40)) + " literal"
	}
	return r.file.short(e, 50)
}

func (r *reader) ifStatement(s *ast.IfStmt, before []ast.Stmt, a around) around {
	if s.Init != nil {
		a = r.statement(s.Init, before, a)
		before = append(before[:len(before):len(before)], s.Init)
	}
	r.expressions(s.Cond, a)
	yes, no := r.condition(s.Cond, before, false), r.condition(s.Cond, before, true)
	r.block(s.Body.List, a.with(yes))
	if s.Else != nil {
		r.statement(s.Else, before, a.with(no))
	}
	switch exit := leaves(s.Body); {
	case exit != "" && s.Else == nil:
		switch {
		case yes.isError || exit != "return" && exit != "break":
		case a.loops > 0:
			r.emit(KindCondition, "return "+yes.key, stopsEarly, yes.text, s.Pos(), a)
		case exit == "return":
			r.emit(KindCondition, "return "+yes.key, returnsEarly, yes.text, s.Pos(), a)
		}
		return a.with(no)
	case s.Else != nil:
		if block, ok := s.Else.(*ast.BlockStmt); ok && leaves(block) != "" {
			return a.with(yes)
		}
	}
	return a
}

// leaves returns the word of the statement with which a block always leaves: "" if it goes on.
func leaves(b *ast.BlockStmt) string {
	if len(b.List) == 0 {
		return ""
	}
	switch s := b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt:
		return "return"
	case *ast.BranchStmt:
		return s.Tok.String()
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
				return "panic"
			}
		}
	}
	return ""
}

func (r *reader) forLoop(s *ast.ForStmt, a around) {
	if s.Init != nil {
		r.statement(s.Init, nil, a)
	}
	key, name := "for", ""
	if s.Cond != nil {
		key, name = r.norm(s.Cond), r.file.short(s.Cond, 50)
	}
	verb := "loops while"
	if over := countedOver(s); over != nil {
		key, name, verb = r.norm(unconverted(over)), r.file.short(over, 50), "loops over"
		if complete(s.Body) {
			verb = "loops over all of"
		}
	} else if s.Cond == nil {
		verb, name = "has", "a loop without a condition"
	}
	r.emit(KindLoop, key, verb, name, s.Pos(), a)
	inner := a.inLoop()
	if s.Cond != nil {
		r.expressions(s.Cond, inner)
	}
	if s.Post != nil {
		r.statement(s.Post, nil, inner)
	}
	r.block(s.Body.List, inner)
}

// complete reports whether the body of a loop never leaves it early.
func complete(body *ast.BlockStmt) bool {
	whole := true
	var walk func(n ast.Node, inner bool)
	walk = func(n ast.Node, inner bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				whole = false
			case *ast.BranchStmt:
				if n.Label != nil || n.Tok == token.BREAK && !inner || n.Tok == token.GOTO {
					whole = false
				}
			case *ast.ForStmt:
				walk(n.Body, true)
				return false
			case *ast.RangeStmt:
				walk(n.Body, true)
				return false
			case *ast.SwitchStmt:
				walk(n.Body, true)
				return false
			case *ast.TypeSwitchStmt:
				walk(n.Body, true)
				return false
			case *ast.SelectStmt:
				walk(n.Body, true)
				return false
			}
			return true
		})
	}
	walk(body, false)
	return whole
}

// unconverted returns x of []byte(x).
func unconverted(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		if _, list := call.Fun.(*ast.ArrayType); list {
			return call.Args[0]
		}
	}
	return e
}

// countedOver returns x of a loop with the condition i < len(x).
func countedOver(s *ast.ForStmt) ast.Expr {
	c, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.LSS {
		return nil
	}
	call, ok := c.Y.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "len" {
		return nil
	}
	return call.Args[0]
}

func (r *reader) switchStatement(s *ast.SwitchStmt, before []ast.Stmt, a around) {
	if s.Init != nil {
		a = r.statement(s.Init, before, a)
	}
	if s.Tag != nil {
		r.expressions(s.Tag, a)
	}
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		inner := a
		for _, e := range clause.List {
			r.expressions(e, a)
		}
		if len(clause.List) == 1 && s.Tag == nil {
			inner = a.with(r.condition(clause.List[0], before, false))
		} else if len(clause.List) > 0 && s.Tag != nil {
			tag, first := r.file.short(s.Tag, 30), r.file.short(clause.List[0], 30)
			inner = a.with(condition{key: r.norm(s.Tag) + " == " + r.norm(clause.List[0]), text: tag + " == " + first})
		}
		r.block(clause.Body, inner)
	}
}

func (r *reader) typeSwitch(s *ast.TypeSwitchStmt, a around) {
	if s.Init != nil {
		a = r.statement(s.Init, nil, a)
	}
	r.statement(s.Assign, nil, a)
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		inner := a
		if len(clause.List) > 0 {
			typ := r.file.short(clause.List[0], 40)
			inner = a.with(condition{key: "type " + typ, text: "its argument is " + article(typ)})
		}
		r.block(clause.Body, inner)
	}
}

func (r *reader) selectStatement(s *ast.SelectStmt, a around) {
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CommClause)
		if !ok {
			continue
		}
		if clause.Comm == nil {
			r.emit(KindChannel, "default", "has", "a default case in its select", clause.Pos(), a)
		} else {
			r.statement(clause.Comm, nil, a)
		}
		r.block(clause.Body, a)
	}
}

// deferred reads a defer statement. A lock that it releases is held until the end.
func (r *reader) deferred(s *ast.DeferStmt, a around) {
	lit, ok := s.Call.Fun.(*ast.FuncLit)
	if ok {
		r.block(lit.Body.List, a)
		return
	}
	if sel, ok := s.Call.Fun.(*ast.SelectorExpr); ok && len(s.Call.Args) == 0 {
		switch sel.Sel.Name {
		case "Unlock", "RUnlock":
			return
		}
	}
	n := len(*r.out)
	r.expressions(s.Call, a)
	if n < len(*r.out) && (*r.out)[n].kind == KindCall && strings.HasPrefix((*r.out)[n].verb, "calls") {
		op := &(*r.out)[n]
		op.kind, op.verb = KindDefer, "defers"
		op.key = "defer " + op.key
	}
}

// lockCall returns what is around the statements after a call of Lock or Unlock.
func (r *reader) lockCall(e ast.Expr, a around) around {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return a
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return a
	}
	switch sel.Sel.Name {
	case "Lock", "RLock":
		return a.lock(r.norm(sel.X), r.file.short(sel.X, 50))
	case "Unlock", "RUnlock":
		return a.unlock(r.norm(sel.X))
	}
	return a
}

// assignment reads an assignment; one that adds to a text in a loop copies the text.
func (r *reader) assignment(s *ast.AssignStmt, a around) {
	for _, e := range s.Rhs {
		r.expressions(e, a)
	}
	for _, e := range s.Lhs {
		r.expressions(e, a)
	}
	for i, e := range s.Lhs {
		if len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN && r.isZero(s.Rhs[i]) {
			r.clears(e, s.Rhs[i], a)
		}
	}
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || a.loops == 0 {
		return
	}
	left := r.norm(s.Lhs[0])
	if list, ok := appended(s.Rhs[0]); ok && r.norm(list) == left {
		r.emit(KindStore, "append "+left, "appends to", r.file.short(list, 40), s.Pos(), a)
	}
	if !r.isText(s.Lhs[0], s.Rhs[0]) {
		return
	}
	sum, ok := s.Rhs[0].(*ast.BinaryExpr)
	if s.Tok == token.ADD_ASSIGN || s.Tok == token.ASSIGN && ok && sum.Op == token.ADD && r.file.text(leftmost(sum)) == r.file.text(s.Lhs[0]) {
		r.emit(KindConcat, left, "adds to the string", r.file.short(s.Lhs[0], 40), s.Pos(), a)
	}
}

// appended returns x of append(x, y).
func appended(e ast.Expr) (list ast.Expr, ok bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil, false
	}
	id, ok := call.Fun.(*ast.Ident)
	return call.Args[0], ok && id.Name == "append"
}

// clears reads an assignment of nothing to an element or a field.
func (r *reader) clears(left, value ast.Expr, a around) {
	switch left.(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		r.emit(KindStore, r.norm(left), "sets", r.file.short(left, 40)+" to "+r.file.short(value, 20), left.Pos(), a)
	}
}

// isZero reports whether the syntax shows that a value is the zero value of its type.
func (r *reader) isZero(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "nil" || strings.HasPrefix(strings.ToLower(x.Name), "zero")
	case *ast.SelectorExpr:
		return strings.HasPrefix(strings.ToLower(x.Sel.Name), "zero")
	case *ast.CompositeLit:
		return len(x.Elts) == 0 && x.Type != nil && r.norm(x.Type) != "struct { }"
	}
	return false
}

func leftmost(e *ast.BinaryExpr) ast.Expr {
	for {
		x, ok := e.X.(*ast.BinaryExpr)
		if !ok || x.Op != token.ADD {
			return e.X
		}
		e = x
	}
}

// isText reports whether the syntax shows that one of two expressions is a string.
func (r *reader) isText(a, b ast.Expr) bool {
	return r.scope.typeOf(a) == "string" || r.scope.typeOf(b) == "string"
}

// declaration reads variables: of types that collect text, of arrays, and their values.
func (r *reader) declaration(s *ast.DeclStmt, a around) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, e := range v.Values {
			r.expressions(e, a)
		}
		if v.Type == nil {
			continue
		}
		switch typ := r.file.text(v.Type); {
		case typ == "strings.Builder" || typ == "bytes.Buffer":
			r.emit(KindAllocate, "buffer", "collects its output in", article(typ), v.Pos(), a)
		case strings.HasPrefix(typ, "[") && !strings.HasPrefix(typ, "[]"):
			r.emit(KindAllocate, r.norm(v.Type), "uses", article(typ), v.Pos(), a)
		}
	}
}
