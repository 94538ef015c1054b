package copiedbeforecheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// copied is a copy of a value that a check, after it, mostly makes needless.
type copied struct {
	stmt     ast.Stmt
	v        *types.Var // that has the copy
	from     ast.Expr   // what is copied
	callees  []string   // that copy, as profiles name them
	check    *ast.IfStmt
	compares bool // the copy is changed, and compared with the original
	locked   bool // a lock is released between the copy and the check
	runs     float64
	kept     float64 // copies that are needed
}

// blocks finds such copies in a declaration.
func (s *search) blocks(p *gocode.Place) (all []*copied) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok {
			for i, stmt := range b.List {
				if c := s.copied(p, stmt); c != nil && s.needless(p, c, b.List[i+1:]) {
					all = append(all, c)
				}
			}
		}
		return true
	})
	return all
}

// copied returns the copy that a statement of a block makes; nil for none.
func (s *search) copied(p *gocode.Place, stmt ast.Stmt) *copied {
	var call *ast.CallExpr
	var v *types.Var
	switch n := stmt.(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 || len(n.Lhs) > 2 {
			return nil
		}
		e := ast.Unparen(n.Rhs[0])
		if t, ok := e.(*ast.TypeAssertExpr); ok {
			e = ast.Unparen(t.X)
		}
		call, _ = e.(*ast.CallExpr)
		if n.Tok == token.DEFINE {
			v = syntax.LocalVar(p, n.Lhs[0])
		}
	case *ast.ExprStmt:
		call, _ = ast.Unparen(n.X).(*ast.CallExpr)
	case *ast.IfStmt: // if err := copier.Copy(&c, &v); err != nil
		if init, ok := n.Init.(*ast.AssignStmt); ok && len(init.Rhs) == 1 {
			call, _ = ast.Unparen(init.Rhs[0]).(*ast.CallExpr)
		}
	}
	if call == nil {
		return nil
	}
	found := &copied{stmt: stmt, v: v, callees: callees(p, call)}
	if to, from := flow.CopyInto(p, call); to != nil {
		found.v, found.from = to, from
	} else if v != nil {
		found.from, _ = s.copies.CopyOf(p, call)
	}
	if found.v == nil || found.from == nil || later.Sets(p, found.v) > 1 || syntax.IsResult(p, found.v) {
		return nil
	}
	if u, ok := ast.Unparen(found.from).(*ast.UnaryExpr); ok {
		found.from = u.X
	}
	e, ok := evidence.ExecutionsAt(s.pass, p, stmt.Pos())
	if !ok || !evidence.Hot(s.pass, e) || !stored(p, found.from) {
		return nil
	}
	found.runs = e.PerUnit
	return found
}

// stored reports whether an expression names a value that is there without the copy.
func stored(p *gocode.Place, e ast.Expr) bool {
	v, _ := syntax.Var(p, e)
	return v != nil
}

// callees returns the functions that make a copy, as profiles name them: the one that is called,
// and those that a helper encodes and decodes with.
func callees(p *gocode.Place, call *ast.CallExpr) (names []string) {
	names = []string{"encoding/json.Marshal", "encoding/json.Unmarshal", "encoding/json.(*Encoder).Encode", "encoding/json.(*Decoder).Decode",
		"encoding/gob.(*Encoder).Encode", "encoding/gob.(*Decoder).Decode"}
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return names
	}
	path := fn.Pkg().Path()
	if fn.Pkg().Name() == "main" {
		path = "main"
	}
	name := path + "." + fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		t := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
		if rest, ok := strings.CutPrefix(t, "*"); ok {
			t = "(*" + rest + ")"
		}
		name = path + "." + t + "." + fn.Name()
	}
	return append(names, name)
}

// needless reports whether a check among the statements after a copy mostly makes it needless.
func (s *search) needless(p *gocode.Place, c *copied, rest []ast.Stmt) bool {
	in := flow.ReadingOfVar(s.pass.Syntax, p, c.v, syntax.Pointed(p.TypeOf(c.from)), c.stmt)
	if len(in.Given) > 0 || in.Returned && len(in.Returns) == 0 {
		return false
	}
	var needs []ast.Node
	for _, use := range slices.Concat(in.Others, in.Returns) {
		if use.Decl == p.Decl {
			needs = append(needs, use.Node)
		}
	}
	if slices.ContainsFunc(in.Others, func(use flow.Access) bool { return use.Decl != p.Decl }) {
		calls, ok := s.changing(p, c)
		if !ok {
			return false
		}
		needs = append(needs, calls...)
	}
	needs = append(needs, reordered(p, c)...)
	for i, stmt := range rest {
		check, ok := stmt.(*ast.IfStmt)
		if !ok || failed(p, check) || !usedAfter(p, c, check) {
			continue
		}
		c.compares = equal(p, check.Cond, c)
		before, after := s.split(p, c, check, rest[i+1:], needs)
		if !before {
			return false
		}
		if after <= mostKept*c.runs {
			c.check, c.kept = check, after
			return s.still(p, c)
		}
	}
	return false
}

// changing returns the calls that get the copy, or a part of it, and change or keep it in another
// function. It reports false if the copy gets there in another way.
func (s *search) changing(p *gocode.Place, c *copied) (calls []ast.Node, ok bool) {
	for _, id := range syntax.Uses(p, c.v) {
		if syntax.Within(c.stmt, id) {
			continue
		}
		in := flow.ReadingOf(s.pass.Syntax, p, id, syntax.Pointed(p.TypeOf(c.from)))
		if !slices.ContainsFunc(in.Others, func(use flow.Access) bool { return use.Decl != p.Decl }) {
			continue
		}
		i := slices.IndexFunc(p.Enclosing(id), func(n ast.Node) bool { _, is := n.(*ast.CallExpr); return is })
		if i < 0 {
			return nil, false
		}
		calls = append(calls, p.Enclosing(id)[i])
	}
	return calls, true
}

// reordered returns the calls that may change the order or the elements of a copied list: those
// that get it, but for some that only read.
func reordered(p *gocode.Place, c *copied) (calls []ast.Node) {
	if _, slice := c.v.Type().Underlying().(*types.Slice); !slice {
		return nil
	}
	for _, id := range syntax.Uses(p, c.v) {
		call, ok := syntax.Parent(p, id).(*ast.CallExpr)
		if !ok || syntax.Within(c.stmt, id) {
			continue
		}
		if _, conversion := p.Conversion(call); !conversion && !funcname.Match(p.CalleeName(call), "len", "cap", "slices.Equal*", "slices.Contains*", "slices.Index*",
			"slices.Compare*", "slices.M*", "slices.BinarySearch*", "bytes.*", "reflect.DeepEqual") {
			calls = append(calls, call)
		}
	}
	return calls
}

// usedAfter reports whether the copy is used after the condition of a check, and never in a
// function literal, which may run later.
func usedAfter(p *gocode.Place, c *copied, check *ast.IfStmt) bool {
	found := false
	for _, id := range syntax.Uses(p, c.v) {
		for _, n := range p.Enclosing(id) {
			if lit, ok := n.(*ast.FuncLit); ok && !syntax.Within(lit, c.stmt) {
				return false
			}
		}
		found = found || id.Pos() > check.Cond.End()
	}
	return found
}

// failed reports whether a check is of the error of the copy.
func failed(p *gocode.Place, check *ast.IfStmt) bool {
	b, ok := ast.Unparen(check.Cond).(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && syntax.IsError(p.TypeOf(b.X))
}

// split says how often the copy is needed if a check decides that, and reports whether nothing
// needs it before. What needs it is in the body of the check, or after a check that leaves.
func (s *search) split(p *gocode.Place, c *copied, check *ast.IfStmt, rest []ast.Stmt, needs []ast.Node) (fine bool, kept float64) {
	leaves := len(check.Body.List) > 0 && check.Else == nil && leaving(check.Body.List[len(check.Body.List)-1])
	var gated ast.Node
	for _, n := range needs {
		switch {
		case n.Pos() < check.Body.Pos():
			if !c.compares || !within(p, c, n) {
				return false, 0
			}
			continue
		case syntax.Within(check.Body, n):
			gated = check.Body
		case !leaves || n.Pos() < check.End():
			return true, c.runs
		}
	}
	if gated != nil {
		if leaves && slices.ContainsFunc(needs, func(n ast.Node) bool { return n.Pos() > check.End() }) || len(check.Body.List) == 0 {
			return true, c.runs
		}
		kept, ok := evidence.ReachedAt(s.pass, p, check.Body.List[0].Pos())
		if !ok {
			kept = c.runs
		}
		return true, kept
	}
	if !leaves || len(rest) == 0 {
		return true, c.runs
	}
	kept, ok := evidence.ReachedAt(s.pass, p, rest[0].Pos())
	if !ok {
		kept = c.runs
	}
	return true, kept
}

// leaving reports whether a statement leaves the block.
func leaving(stmt ast.Stmt) bool {
	b, ok := stmt.(*ast.BranchStmt)
	return ok && (b.Tok == token.CONTINUE || b.Tok == token.BREAK) || syntax.Departs(stmt, true)
}

// within reports whether a use of the copy only sets a part of it.
func within(p *gocode.Place, c *copied, n ast.Node) bool {
	is := func(e ast.Expr) bool {
		v, part := syntax.Var(p, e)
		return v == c.v && part
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return len(n.Lhs) == 1 && is(n.Lhs[0])
	case *ast.IncDecStmt:
		return is(n.X)
	case *ast.CallExpr:
		name := p.CalleeName(n)
		return (name == "delete" || name == "maps.Copy") && len(n.Args) > 0 && syntax.LocalVar(p, n.Args[0]) == c.v
	}
	return false
}

// equal reports whether a condition compares the copy with what it is a copy of.
func equal(p *gocode.Place, cond ast.Expr, c *copied) bool {
	if u, ok := ast.Unparen(cond).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		cond = u.X
	}
	call, ok := ast.Unparen(cond).(*ast.CallExpr)
	if !ok || p.Callee(call) == nil || !strings.Contains(p.Callee(call).Name(), "Equal") {
		return false
	}
	args := call.Args
	if recv := syntax.Receiver(call); recv != nil && p.Callee(call).Signature().Recv() != nil {
		args = append(args[:len(args):len(args)], recv)
	}
	copy, original := false, false
	for _, arg := range args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			arg = u.X
		}
		copy = copy || syntax.LocalVar(p, arg) == c.v
		original = original || syntax.Same(p, arg, c.from)
	}
	return copy && original
}

// still reports whether the original is the same when the check runs: nothing in between changes
// it. It notes that a lock is released there.
func (s *search) still(p *gocode.Place, c *copied) bool {
	root, _ := syntax.Var(p, c.from)
	shared, changed := root.Parent() == p.Pkg.Scope(), false
	same := later.UnchangedBut(p, c.stmt, c.check.Body, later.Inputs(p, c.from), func(call *ast.CallExpr) bool {
		if syntax.OnMutex(p, call) && strings.HasSuffix(p.Callee(call).Name(), "Unlock") {
			c.locked = true
			return true
		}
		decl := p.Declaration(p.Callee(call))
		changed = changed || shared && decl != nil && decl.Body != nil && !effects.ChangesNothing(p.Entry(decl))
		return false
	})
	return same && !changed
}
