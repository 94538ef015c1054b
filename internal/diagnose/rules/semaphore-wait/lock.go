package semaphorewait

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lock is a limit of one: a channel with room for one value, or a semaphore of weight one.
type lock struct {
	name string // "k.slot"
	made string // "keys.go:12"
	// meanwhile says what the holder waits for, in a sentence with a space before it; "" if that is
	// not known.
	meanwhile string
	line      int // that waits
}

// lockAt returns the lock that requests wait for at a place; nil where more than one may pass, and
// where the source does not show how many.
func lockAt(p *rule.Pass, at *requests.PlaceTime, place *gocode.Place, file string) *lock {
	if p.Syntax == nil {
		return nil
	}
	var limit ast.Expr
	if at.Object == requests.Semaphore {
		for _, call := range syntax.CallsOf(place, "(*golang.org/x/sync/semaphore.Weighted).Acquire") {
			limit = syntax.Receiver(call)
		}
	} else {
		limit = channelAt(place)
	}
	if limit == nil {
		return nil
	}
	made := single(p, place, limit)
	if made == "" {
		return nil
	}
	l := &lock{name: syntax.Text(limit), made: made}
	if end := release(place, limit); end != token.NoPos {
		s := locks.Between(place, limit.End(), end, limit)
		l.line, l.meanwhile, _ = s.Meanwhile(p, file)
	}
	return l
}

// channelAt returns the channel that the statement on a line sends to or receives from, also in a
// select that starts there; nil for none.
func channelAt(p *gocode.Place) (found ast.Expr) {
	visit := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SendStmt:
				found = n.Chan
			case *ast.UnaryExpr:
				if n.Op == token.ARROW && found == nil && !syntax.Times(p, n.X) && syntax.Named(p, n.X) != nil {
					found = n.X
				}
			}
			return true
		})
	}
	for _, n := range p.Nodes {
		if syntax.Line(p, n.Pos()) != p.Line {
			continue
		}
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, c := range n.Body.List {
				if c := c.(*ast.CommClause); c.Comm != nil {
					visit(c.Comm)
				}
			}
			return found
		case *ast.SendStmt, *ast.ExprStmt, *ast.AssignStmt:
			visit(n)
			return found
		}
	}
	return nil
}

// single returns where a limit of one is made; "" if its size is another, or not known.
func single(p *rule.Pass, place *gocode.Place, limit ast.Expr) (where string) {
	from := flow.Sources(p.Syntax, place, limit)
	if v := syntax.LocalVar(place, limit); v != nil && !syntax.Param(place.Outer(), v) {
		for _, e := range syntax.Assigned(place, v) { // if ch == nil { ch = make(chan struct{}, 1) }
			from = append(from, flow.Argument{Place: place, Value: e})
		}
	}
	for _, f := range from {
		call, ok := ast.Unparen(f.Value).(*ast.CallExpr)
		if !ok {
			continue
		}
		size := -1
		switch f.CalleeName(call) {
		case "make":
			size = 1
		case "golang.org/x/sync/semaphore.NewWeighted":
			size = 0
		}
		if size < 0 || len(call.Args) <= size {
			continue
		}
		n, ok := f.Const(call.Args[size])
		if !ok {
			return ""
		}
		if one, exact := constant.Int64Val(constant.ToInt(n)); !exact || one != 1 {
			return ""
		}
		where = syntax.Where(f.Place, call.Pos())
	}
	return where
}

// release returns where a function gives back what it took of a limit: the end of the function if
// it does that by defer; none if another function does.
func release(p *gocode.Place, limit ast.Expr) (end token.Pos) {
	body := syntax.Body(p)
	v := syntax.Named(p, limit)
	ast.Inspect(body, func(n ast.Node) bool {
		var of ast.Expr
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				of = n.X
			}
		case *ast.SendStmt:
			of = n.Chan
		case *ast.CallExpr:
			if p.CalleeName(n) == "(*golang.org/x/sync/semaphore.Weighted).Release" {
				of = syntax.Receiver(n)
			}
		}
		if of == nil || of.Pos() <= limit.Pos() || v == nil || syntax.Named(p, of) != v {
			return true
		}
		end = max(end, of.Pos())
		for _, up := range p.Enclosing(of) {
			if _, ok := up.(*ast.DeferStmt); ok {
				end = body.End()
			}
		}
		return true
	})
	return end
}

// describe changes a match to that of a lock.
func (l *lock) describe(m *rule.Match, share, waiting, of string) {
	m.Cause = fmt.Sprintf("%s admits one at a time (%s), so it is a lock: requests queue for it for %s of their time; on average %s wait at a time.%s",
		l.name, l.made, share, waiting, l.meanwhile)
	m.Fix = fmt.Sprintf("Hold %s only around what must not run twice at a time: more room would admit several at once.", l.name)
	if l.meanwhile != "" {
		m.Fix = fmt.Sprintf("Do not wait on line %d while %s is held: take it only around what must not run twice at a time. More room would admit several at once.", l.line, l.name)
	}
	m.Fix += " If requests for different keys need not wait for each other, keep one for each key."
	if of != "" {
		m.Cause = fmt.Sprintf("There is one %s, in %s (%s): requests queue for it for %s of their time; on average %s wait at a time.%s", of, l.name, l.made, share, waiting, l.meanwhile)
		m.Fix = fmt.Sprintf("Create more of them if what it stands for can handle more, share it if a %s serves several requests at a time, and give it back as soon as it is not needed.", of)
	}
}
