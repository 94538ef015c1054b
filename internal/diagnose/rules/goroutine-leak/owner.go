package goroutineleak

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// mostEnded is the largest share of goroutines that a function ends, as counted, for the others
	// to be a leak.
	mostEnded = 0.9
	// returners is how many functions may pass on what the one that starts goroutines returns.
	returners = 4
)

// notCalled says which functions would end goroutines, and that nothing calls them, or not for all;
// "" if they are called as often as goroutines start.
func notCalled(p *rule.Pass, all []ending, started *site.Frame) advice {
	if len(all) == 0 {
		return advice{}
	}
	runs := 0.0
	var names []string
	for i, e := range all {
		ran, _ := evidence.ExecutionsAt(p, e.place, e.at)
		runs += ran.PerUnit
		all[i] = e.outer()
		if name := all[i].name(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	e := all[0]
	would := fmt.Sprintf("They would end when %s %s", strings.Join(names, " or "), e.does)
	call := "Call " + e.decl.Name.Name
	if createdOnce(p, started, e.owner()) {
		return advice{} // what all of them share: its end is not theirs
	}
	keyed := e.decl.Type.Params.NumFields() > 0 // it ends those of one key
	var o *owner
	if !keyed {
		o = ownerOf(p, started, e.owner())
	}
	if !evidence.Hot(p, counts.Executions{PerUnit: runs}) {
		if keyed {
			return advice{would + ", which is not called for them.", call + " for each of them when nothing needs it any more: where its session or connection ends, or in a sweep of those that were not used for a while.", false}
		}
		if o == nil {
			return advice{would + ", which is not called for them.", call + " on all paths when the goroutine's owner is done (defer it where the owner is created), or end the goroutine with the context of the request.", false}
		}
		return advice{fmt.Sprintf("%s, but nothing calls that on %s.", would, o.words()),
			fmt.Sprintf("%s on %s when it is no longer needed, with defer if the same function ends the work.", call, o.words()), true}
	}
	begun := startsOf(p, started)
	if begun <= 0 || runs > mostEnded*begun {
		return advice{}
	}
	would += fmt.Sprintf(", but that is called for only %s of them", units.Percent(runs/begun))
	if o == nil {
		return advice{would + ".", call + " on all paths, with defer where the goroutine's owner is created.", false}
	}
	if at := o.returns(p, e.decl); at != token.NoPos {
		in := syntax.FuncName(o.Place)
		return advice{fmt.Sprintf("%s: %s gets %s, and returns on line %d before it comes to %s.", would, in, o.words(), syntax.Line(o.Place, at), e.decl.Name.Name),
			fmt.Sprintf("%s on all paths of %s: with defer, right after line %d.", call, in, syntax.Line(o.Place, o.call.Pos())), true}
	}
	return advice{would + ".", fmt.Sprintf("%s on %s on all paths, with defer if the same function ends the work.", call, o.words()), true}
}

// createdOnce reports whether the program hardly ever creates values of a type, by the counts,
// while goroutines start all the time: they share one that lives as long as the program.
func createdOnce(p *rule.Pass, started *site.Frame, t types.Type) bool {
	if t == nil || p.Syntax == nil || !evidence.Hot(p, counts.Executions{PerUnit: startsOf(p, started)}) {
		return false
	}
	name := types.TypeString(t, nil)
	places := p.Syntax.Calls(func(f *types.Func) bool {
		for v := range f.Signature().Results().Variables() {
			if types.TypeString(v.Type(), nil) == name {
				return true
			}
		}
		return false
	})
	for _, l := range p.Syntax.Literals(strings.TrimPrefix(name, "*")) {
		places = append(places, l.Place)
	}
	for _, place := range places {
		if runs, ok := runsOf(p, place); !ok || evidence.Hot(p, counts.Executions{PerUnit: runs}) {
			return false
		}
	}
	return len(places) > 0
}

// advice is what a finding says about the end of goroutines. callers reports whether it names a
// line that calls the function which starts them.
type advice struct {
	cause, fix string
	callers    bool
}

// startsOf returns how often a go statement runs per unit of work; 0 if that is not known.
func startsOf(p *rule.Pass, started *site.Frame) float64 {
	if started == nil || p.Syntax == nil {
		return 0
	}
	place, ok := p.Syntax.At(started.File, started.Line)
	if !ok {
		return 0
	}
	runs, _ := runsOf(p, place)
	return runs
}

// runsOf returns how often the line of a place runs per unit of work, as counted.
func runsOf(p *rule.Pass, place *gocode.Place) (float64, bool) {
	if p.Counts == nil {
		return 0, false
	}
	ran, ok := p.Counts.Line(place.Pkg.Path(), place.Fset.Position(place.File.Pos()).Filename, place.Line)
	return ran.PerUnit, ok
}

// outer returns the ending with the method of the same type which is the only one that calls its
// function: Close, which calls shutdown.
func (e ending) outer() ending {
	for range returners {
		fn := e.place.Object(e.decl.Name)
		var above []*ast.FuncDecl
		eachCall(e.place, func(decl *ast.FuncDecl, call *ast.CallExpr) {
			if callee := e.place.Callee(call); callee != nil && types.Object(callee.Origin()) == fn && !slices.Contains(above, decl) {
				above = append(above, decl)
			}
		})
		if len(above) != 1 || above[0] == e.decl || above[0].Recv == nil {
			return e
		}
		up := ending{place: e.place, decl: above[0], at: e.at, does: e.does}
		if e.owner() == nil || up.owner() == nil || !types.Identical(e.owner(), up.owner()) {
			return e
		}
		e = up
	}
	return e
}

// owner returns the type whose method ends goroutines; nil for a function.
func (e *ending) owner() types.Type {
	fn, ok := e.place.Object(e.decl.Name).(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return nil
	}
	return fn.Signature().Recv().Type()
}

// owner is the line of the program that gets what goroutines belong to.
type owner struct {
	called
	call   *ast.CallExpr
	starts bool // it calls a method that starts them
}

// where returns the call with its place: "track (main.go:50)".
func (o *owner) where() string {
	return fmt.Sprintf("%s (%s)", syntax.Text(o.call.Fun), syntax.Where(o.Place, o.call.Pos()))
}

// words returns what the goroutines belong to: "the result of track (main.go:50)".
func (o *owner) words() string {
	if o.starts {
		return fmt.Sprintf("%s, which starts them (%s)", syntax.Text(syntax.Receiver(o.call)), syntax.Where(o.Place, o.call.Pos()))
	}
	return "the result of " + o.where()
}

// returns returns a return between the line and the call of a function, which most often leaves
// without it; none if there is none that runs.
func (o *owner) returns(p *rule.Pass, without *ast.FuncDecl) (at token.Pos) {
	decl := o.Decl
	if decl == nil {
		return token.NoPos
	}
	end := token.NoPos
	ast.Inspect(decl, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && end == token.NoPos && call.Pos() > o.call.End() {
			if fn := o.Callee(call); fn != nil && fn.Name() == without.Name.Name {
				end = call.Pos()
			}
		}
		return end == token.NoPos
	})
	if end == token.NoPos {
		return token.NoPos
	}
	at, runs := evidence.ReturnBetween(p, o.Place, decl, o.call.End(), end)
	if !evidence.Hot(p, counts.Executions{PerUnit: runs}) {
		return token.NoPos
	}
	return at
}

// ownerOf returns the line of the program that gets a value of the type that goroutines belong to:
// the call of the function that starts them, or of one that returns its result; nil for none.
func ownerOf(p *rule.Pass, started *site.Frame, t types.Type) (found *owner) {
	if started == nil || t == nil || p.Syntax == nil {
		return nil
	}
	place, ok := p.Syntax.At(started.File, started.Line)
	if !ok || place.Decl == nil {
		return nil
	}
	fn, _ := place.Object(place.Decl.Name).(*types.Func)
	for range returners {
		if fn == nil {
			break
		}
		is := func(f *types.Func) bool { return f.Origin() == fn || awaited.Implements(fn, f.Origin()) }
		calls := programCalls(p, is)
		if len(calls) == 0 {
			break
		}
		most := slices.MaxFunc(calls, func(a, b called) int { return cmp.Compare(a.runs, b.runs) })
		i := slices.IndexFunc(syntax.Calls(most.Place), func(c *ast.CallExpr) bool {
			f := most.Callee(c)
			return f != nil && is(f)
		})
		if i < 0 {
			break
		}
		method := fn.Signature().Recv() != nil && types.Identical(fn.Signature().Recv().Type(), t)
		if returns := returnsA(fn.Signature(), t); returns || method && madeHere(most.Outer(), syntax.Calls(most.Place)[i]) {
			found = &owner{most, syntax.Calls(most.Place)[i], !returns}
		}
		if most.Decl == nil {
			break
		}
		up, _ := most.Object(most.Decl.Name).(*types.Func)
		if up == nil || !returnsA(up.Signature(), t) {
			break
		}
		fn = up
	}
	return found
}

// madeHere reports whether the receiver of a call is a variable of the function, and does not come
// from elsewhere.
func madeHere(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, syntax.Receiver(call))
	return v != nil && !syntax.Param(p, v) && v.Kind() != types.RecvVar
}

// returnsA reports whether a function returns values of a type, or of an interface that it
// implements.
func returnsA(sig *types.Signature, t types.Type) bool {
	for v := range sig.Results().Variables() {
		if types.Identical(v.Type(), t) {
			return true
		}
		if i, ok := v.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 && !syntax.IsError(v.Type()) && types.Implements(t, i) {
			return true
		}
	}
	return false
}

// called is a line of the program with a call, and how often it runs per unit of work.
type called struct {
	*gocode.Place
	runs float64
}

// programCalls returns the lines of the program itself that call some functions and run.
func programCalls(p *rule.Pass, match func(*types.Func) bool) (list []called) {
	for _, place := range p.Syntax.Calls(match) {
		switch runs, ok := runsOf(p, place); {
		case !ok:
			list = append(list, called{place, 1}) // not counted
		case runs > 0:
			list = append(list, called{place, runs})
		}
	}
	return list
}
