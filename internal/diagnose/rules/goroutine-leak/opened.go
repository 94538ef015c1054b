package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// opening is a call of the program that makes a dependency start goroutines which end with a
// context: a stream, a watch, a subscription.
type opening struct {
	call    *ast.CallExpr
	at      *gocode.Place // of the call
	frame   *site.Frame   // of the line that chooses the context
	in      *gocode.Place
	context ast.Expr
	long    bool // the context is created once, for many calls
}

// opened returns the call of the program that opened what goroutines of a dependency belong to, if
// they wait for the end of a context and the program passed one that never ends; nil for none.
func opened(p *rule.Pass, g *site.Parked, wait *gocode.Place) (found *opening) {
	if p.Syntax == nil || p.Table == nil || g.Created.Line <= 0 || g.Start.Owner.Kind == gocode.Main || g.Start.Owner.Kind == gocode.Std || !awaitsCall(p, wait) {
		return nil
	}
	most := 0.0
	p.EachStack(func(stack []*site.Frame) {
		above := false
		for i, f := range stack {
			above = above || f.Function == g.Created.Function
			if !above || f.Owner.Kind != gocode.Main {
				continue
			}
			e, ok := evidence.Executions(p, *f)
			if ok && e.PerUnit > most && evidence.Hot(p, e) {
				if o := openedAt(p, stack[i:]); o != nil {
					found, most = o, e.PerUnit
				}
			}
			return
		}
	})
	return found
}

// awaitsCall reports whether the statement on a line waits for the end of a context that belongs to
// one call: it got it as an argument, or has it in a struct that is created all the time.
func awaitsCall(p *rule.Pass, wait *gocode.Place) bool {
	for _, from := range received(wait) {
		call, ok := ast.Unparen(from).(*ast.CallExpr)
		if !ok || !funcname.Match(wait.CalleeName(call), "(context.Context).Done") {
			continue
		}
		switch ctx := parent(wait, syntax.Receiver(call)).(type) {
		case *ast.Ident:
			if v := syntax.LocalVar(wait, ctx); v != nil && syntax.Param(wait.Outer(), v) {
				return true
			}
		case *ast.SelectorExpr:
			if hotLiteral(p, wait, wait.TypeOf(ctx.X)) {
				return true
			}
		case *ast.CallExpr:
			if strings.HasPrefix(wait.CalleeName(ctx), "context.With") {
				return true
			}
		}
	}
	return false
}

// hotLiteral reports whether a package creates structs of a type all the time.
func hotLiteral(p *rule.Pass, in *gocode.Place, t types.Type) (hot bool) {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	eachStatement(in, func(n ast.Node) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || in.TypeOf(lit) == nil || !types.Identical(in.TypeOf(lit), t) {
			return
		}
		e, ok := evidence.ExecutionsAt(p, in, lit.Pos())
		hot = hot || ok && evidence.Hot(p, e)
	})
	return hot
}

// openedAt returns what the first line of a stack opened with a context that never ends; nil for
// none. It follows the context through the parameters of the lines above.
func openedAt(p *rule.Pass, stack []*site.Frame) *opening {
	place, ok := p.Syntax.At(stack[0].File, stack[0].Line)
	if !ok {
		return nil
	}
	o := &opening{at: place, in: place, frame: stack[0]}
	for _, call := range syntax.Calls(place) {
		if c := contextOf(place, call); c != nil && o.call == nil {
			o.call, o.context = call, c
		}
	}
	if o.call == nil {
		return nil
	}
	for _, f := range stack[1:] {
		v := syntax.LocalVar(o.in, parent(o.in, o.context))
		if v == nil || !syntax.Param(o.in, v) || f.Owner.Kind != gocode.Main {
			break
		}
		up, ok := p.Syntax.At(f.File, f.Line)
		if !ok {
			return nil
		}
		call := flow.CallAbove(o.in, up)
		if call == nil {
			return nil // through an interface, or in a function literal
		}
		next := flow.ArgumentFor(o.in, call, v)
		if next == nil {
			return nil
		}
		o.in, o.frame, o.context = up, f, next
	}
	never, long := endless(p, o.in, o.context)
	o.long = long
	if !never {
		return nil
	}
	return o
}

// contextOf returns the argument of a call that is a context; nil for none.
func contextOf(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	for _, arg := range call.Args {
		if t := p.TypeOf(arg); t != nil && isContext(t) {
			return arg
		}
	}
	return nil
}

func isContext(t types.Type) bool { return types.TypeString(t, nil) == "context.Context" }

// parent follows a context to the one that ends it: through calls that only add to it, such as
// context.WithValue and those that put metadata into it.
func parent(p *gocode.Place, ctx ast.Expr) ast.Expr {
	for range returners {
		ctx = syntax.Origin(p, ctx)
		call, ok := ctx.(*ast.CallExpr)
		if !ok {
			return ctx
		}
		t, name := p.TypeOf(call), p.CalleeName(call)
		from := contextOf(p, call)
		if t == nil || !isContext(t) || from == nil || name == "context.WithoutCancel" {
			return ctx
		}
		ctx = from
	}
	return ctx
}

// endless reports whether a context never ends as long as the program runs, or only when something
// ends that lives much longer than a request; long reports the latter.
func endless(p *rule.Pass, in *gocode.Place, ctx ast.Expr) (never, long bool) {
	ctx = parent(in, ctx)
	if v := syntax.Named(in, ctx); v != nil && (v.IsField() || v.Parent() == in.Pkg.Scope()) {
		from := flow.Sources(p.Syntax, in, ctx)
		for _, s := range from {
			at, ok := evidence.ExecutionsAt(p, s.Place, s.Value.Pos())
			if call, is := parent(s.Place, s.Value).(*ast.CallExpr); !is || !ok || evidence.Hot(p, at) || !ofPackage(s.Place, call) {
				return false, false
			}
		}
		return len(from) > 0, true
	}
	call, ok := ctx.(*ast.CallExpr)
	if !ok {
		return false, false
	}
	switch in.CalleeName(call) {
	case "context.Background", "context.TODO", "context.WithoutCancel":
		return true, false
	case "context.WithCancel", "context.WithCancelCause":
		return uncancelled(in, call), false
	}
	return false, false
}

// ofPackage reports whether a call creates a context: one of package context, or of os/signal.
func ofPackage(p *gocode.Place, call *ast.CallExpr) bool {
	return funcname.Match(p.CalleeName(call), "context.Background", "context.TODO", "context.WithCancel*", "os/signal.NotifyContext")
}

// uncancelled reports whether a function derives a context and drops its cancel function.
func uncancelled(p *gocode.Place, call *ast.CallExpr) bool {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 {
		return false
	}
	id, ok := a.Lhs[1].(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "_" {
		return true
	}
	for _, use := range syntax.Uses(p, p.Object(id)) {
		if set, ok := syntax.Parent(p, use).(*ast.AssignStmt); ok && (set == a || len(set.Lhs) == 1 && set.Tok.String() == "=" && syntax.Text(set.Lhs[0]) == "_") {
			continue
		}
		return false
	}
	return true
}

// advice says what the goroutines belong to, and to cancel the context there.
func (o *opening) advice() (cause, fix string) {
	opens, fn := syntax.Text(o.call.Fun), syntax.FuncName(o.in)
	gets := fmt.Sprintf("with %s, which never ends", syntax.Text(o.context))
	if call, ok := parent(o.in, o.context).(*ast.CallExpr); ok && strings.HasPrefix(o.in.CalleeName(call), "context.WithCancel") {
		gets = fmt.Sprintf("with %s, whose cancel function nothing calls", syntax.Text(o.context))
	} else if o.long {
		gets = fmt.Sprintf("with %s, which lives much longer than the call", syntax.Text(o.context))
	}
	where := ""
	if o.at.Func != o.in.Func {
		where = fmt.Sprintf(" for %s", fn)
	}
	cause = fmt.Sprintf("Each belongs to what %s (%s) opens%s %s: the goroutine stays until that context is cancelled or what was opened has come to its end.",
		opens, syntax.Where(o.at, o.call.Pos()), where, gets)
	from := "context.Background()"
	if o.long {
		from = syntax.Text(o.context)
	}
	fix = fmt.Sprintf("Cancel the context when %s needs no more: ctx, cancel := context.WithCancel(%s), or with the request's context, then defer cancel(), and pass ctx on. If the result outlives %s, let its owner call cancel. Reading a stream to its end (io.EOF or another error) ends it as well.", fn, from, fn)
	if to := syntax.Receiver(o.call); to != nil && !madeHere(o.at, o.call) {
		fix += fmt.Sprintf(" Leave %s open: other calls share it.", syntax.Text(to))
	}
	return cause, fix
}

// moved changes a match to the line of the program that opened what the goroutines belong to.
func (o *opening) moved(p *rule.Pass, m *rule.Match, g *site.Parked) {
	at := fmt.Sprintf("at %s:%d in %s", filepath.Base(g.File), g.Line, symbol.Short(g.Function))
	m.Cause = strings.Replace(m.Cause, " here", " "+at, 1)
	m.Evidence[0].What = strings.Replace(m.Evidence[0].What, "here", at, 1)
	cause, fix := o.advice()
	m.Cause += " " + cause
	m.Site, m.Fix = p.Site(o.frame), fix
}
