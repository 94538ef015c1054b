package historyreplayed

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// rows are events that a database keeps: all rows of a key of a table that only grows.
type rows struct {
	table string
	keys  []string
}

// stored returns the replay of rows of a database by a loop around a line, or by one that goes
// through what the line reads; nil for none.
func (s *search) stored(f *site.Frame, place, p *gocode.Place) (found *replay) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		var from ast.Expr
		switch loop := n.(type) {
		case *ast.RangeStmt:
			from = loop.X
		case *ast.ForStmt:
			next, ok := loops.OverRows(p, loop)
			if !ok {
				return found == nil
			}
			from = syntax.Receiver(next)
		default:
			return found == nil
		}
		call, ok := syntax.Origin(p, from).(*ast.CallExpr)
		if !ok || found != nil {
			return found == nil
		}
		in := syntax.Line(p, n.Pos()) <= place.Line && place.Line <= syntax.Line(p, n.End())
		if read := syntax.Line(p, call.Pos()) <= place.Line && place.Line <= syntax.Line(p, call.End()); in || read {
			found = s.replayed(f, p, n, from, call)
		}
		return found == nil
	})
	return found
}

// replayed returns the replay of the rows that a call reads; nil if a loop over them does something
// else.
func (s *search) replayed(f *site.Frame, p *gocode.Place, loop ast.Node, list ast.Expr, call *ast.CallExpr) *replay {
	l, counted := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	if !counted || l.Iterations < least || l.Entries <= 0 {
		return nil
	}
	object := s.folded(p, loop, call)
	if object == "" {
		return nil
	}
	read := s.history(p, call, l.Iterations/perChange*l.Entries)
	if read == nil {
		return nil
	}
	return &replay{list: list, loop: loop, object: object, events: l.Iterations, rows: read}
}

// history returns the rows that a call reads, itself or in a function that it calls, if they are
// all of a key, in an order, of a table to which the program only adds rows, at most so many for
// each unit of work.
func (s *search) history(p *gocode.Place, call *ast.CallExpr, most float64) *rows {
	text := s.query(p, call)
	a, ts := sqltext.AccessOf(text), sqltext.Tokens(text)
	if a == nil || a.Verb != "select" || a.Sums || !slices.Contains(ts, "order") || slices.Contains(ts, "limit") || slices.Contains(ts, "desc") {
		return nil
	}
	added := false
	for _, t := range s.pass.Syntax.Texts(func(text string) bool { return sqltext.Writes(text, a.Table) }) {
		normal := sqltext.Normal(t.Value)
		if !strings.HasPrefix(normal, "insert into ") || strings.Contains(normal, " conflict") || strings.Contains(normal, " duplicate ") {
			return nil
		}
		added = true
	}
	if !added || s.sql.Written(a.Table, text, nil, most) {
		return nil
	}
	return &rows{table: a.Table, keys: a.Keys}
}

// query returns the text of the only query that a call sends, itself or in the function that it
// calls; "" if it is not known.
func (s *search) query(p *gocode.Place, call *ast.CallExpr) (text string) {
	if sent := s.sql.Sent(p, call); sent != nil {
		return sent.Text
	}
	fn := p.Callee(call)
	if fn == nil {
		return ""
	}
	in := s.sql.Declared(fn)
	if in == nil || in.Decl == nil || in.Decl.Body == nil {
		return ""
	}
	sent := 0
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if q := s.sql.Sent(in, c); q != nil {
			text = q.Text
			sent++
		}
		return true
	})
	if sent != 1 {
		return ""
	}
	return text
}

// folded returns the new object to which alone a loop applies rows, and whose state it does not
// only extend by an element for each; "" for other loops.
func (s *search) folded(p *gocode.Place, loop ast.Node, list *ast.CallExpr) string {
	var into *types.Var
	fine, folds := true, false
	changes := func(e ast.Expr) {
		v, _ := syntax.Var(p, e)
		switch {
		case v == nil || syntax.Inside(loop, v.Pos()) || v.Type().String() == "error":
		case into == nil || into == v:
			into = v
		default:
			fine = false
		}
	}
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.SendStmt, *ast.GoStmt:
			fine = false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				changes(lhs)
			}
		case *ast.IncDecStmt:
			changes(n.X)
		case *ast.CallExpr:
			for i, arg := range append(slices.Clone(n.Args), syntax.Receiver(n)) {
				if v := s.object(p, loop, arg); v != nil {
					changes(arg)
					folds = folds || s.foldsIn(p, n, i)
				}
			}
		}
		return fine
	})
	if !fine || into == nil {
		return ""
	}
	folds = folds || foldsInto(p, loops.Body(loop), into)
	id := declaring(p, into)
	if !folds || id == nil {
		return ""
	}
	return s.fresh(p, id, list, loop.Pos())
}

// object returns the variable of a type of the program, declared outside of a loop, that an
// argument is, or whose address it is; nil for others.
func (s *search) object(p *gocode.Place, loop ast.Node, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	v := syntax.LocalVar(p, e)
	if v == nil || syntax.Inside(loop, v.Pos()) || syntax.Param(p, v) || !s.own(v.Type()) {
		return nil
	}
	return v
}

func declaring(p *gocode.Place, v *types.Var) *ast.Ident {
	for _, id := range syntax.Uses(p, v) {
		return id
	}
	return nil
}

// foldsIn reports whether the function that a call calls changes the state of its argument i, or of
// its receiver after the last one, other than by an element for each call. Of a method of an
// interface, one of those that it may be is enough.
func (s *search) foldsIn(p *gocode.Place, call *ast.CallExpr, i int) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	var candidates []*gocode.Place
	if in, ok := s.pass.Syntax.Declared(fn); ok {
		candidates = append(candidates, in)
	} else if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		for _, in := range s.pass.Syntax.Methods(fn.Name()) {
			if method, ok := in.Info.Defs[in.Decl.Name].(*types.Func); ok && awaited.Implements(method, fn) {
				candidates = append(candidates, in)
			}
		}
	}
	return slices.ContainsFunc(candidates, func(in *gocode.Place) bool {
		v := parameterAt(in, i, len(call.Args))
		return in.Decl != nil && in.Decl.Body != nil && v != nil && foldsInto(in, in.Decl.Body, v)
	})
}

// parameterAt returns the parameter of a function for argument i of a call, or its receiver after
// the last one.
func parameterAt(in *gocode.Place, i, args int) *types.Var {
	sig := syntax.SignatureOf(in)
	switch {
	case sig == nil:
		return nil
	case i == args:
		return sig.Recv()
	case i < sig.Params().Len():
		return sig.Params().At(i)
	}
	return nil
}

// foldsInto reports whether code changes a part of an object other than by one more element: it
// adds to a number, replaces or deletes a value.
func foldsInto(p *gocode.Place, body *ast.BlockStmt, object *types.Var) (folds bool) {
	part := func(e ast.Expr) bool {
		v, part := syntax.Var(p, e)
		return v == object && part
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			folds = folds || part(n.X)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				_, element := ast.Unparen(lhs).(*ast.IndexExpr)
				appended := false
				if i < len(n.Rhs) {
					call, ok := ast.Unparen(n.Rhs[i]).(*ast.CallExpr)
					appended = ok && p.CalleeName(call) == "append"
				}
				folds = folds || part(lhs) && !appended && (!element || n.Tok != token.ASSIGN)
			}
		case *ast.CallExpr:
			folds = folds || p.CalleeName(n) == "delete" && len(n.Args) > 0 && part(n.Args[0])
		}
		return !folds
	})
	return folds
}

// describeRows fills in the words for rows of a database.
func (r *replay) describeRows(c *finder.Case) {
	c.Confidence = rule.Likely // others may write to the table
	by := strings.Join(r.rows.keys, ", ")
	c.Cause = fmt.Sprintf("%s reads all rows of %s by %s, %s each time, and the loop on line %d applies them to %s, a new object, from the first one on. The program only adds rows to %s: all but the last few are the same as the last time, and their number grows.",
		syntax.FuncName(c.Place), r.rows.table, by, units.Number(r.events), syntax.Line(c.Place, r.loop.Pos()), r.object, r.rows.table)
	c.Fix = fmt.Sprintf("Store the object with the number of the last row that was applied to it (a snapshot), every hundred rows or so, and read and apply only the rows after that. Or keep the object in memory by %s, and apply each row to it where it is added.", by)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s rows each time", units.Number(r.events))})
}
