package goroutineleak

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// seldom is the part of the calls that start goroutines above which closing what they return is
// not forgotten.
const seldom = 0.5

// unclosed says which line of the program gets something from the function of a module that starts
// the goroutines, such as a writer with a goroutine at its other end, and does not close it; "" for
// none.
func unclosed(p *rule.Pass, started *site.Frame) (cause, fix string) {
	if started == nil || p.Syntax == nil {
		return "", ""
	}
	place, ok := p.Syntax.At(started.File, started.Line)
	if !ok || place.Decl == nil {
		return "", ""
	}
	fn, _ := place.Info.Defs[place.Decl.Name].(*types.Func)
	if fn == nil {
		return "", ""
	}
	result, closer := closeable(fn)
	if closer == "" {
		return "", ""
	}
	starts := programCalls(p, func(f *types.Func) bool { return f.Origin() == fn })
	if len(starts) == 0 {
		return "", ""
	}
	closes := 0.0
	for _, at := range programCalls(p, func(f *types.Func) bool { return f.Name() == closer && ends(f, result) }) {
		closes += at.runs
	}
	first := slices.MaxFunc(starts, func(a, b called) int { return cmp.Compare(a.runs, b.runs) })
	if closes > seldom*first.runs {
		return "", ""
	}
	who := "nothing calls"
	if closes > 0 {
		who = "hardly anything calls"
	}
	where := syntax.Where(first.Place, first.Nodes[0].Pos())
	return fmt.Sprintf("Each of them belongs to a result of %s (%s), and %s %s on it.", fn.Name(), where, who, closer),
		fmt.Sprintf("Call %s on the result of %s (%s) when it is no longer needed, with defer if the same function ends the work.", closer, fn.Name(), where)
}

// called is a line of the program with a call, and how often it runs per unit of work.
type called struct {
	*gocode.Place
	runs float64
}

// programCalls returns the lines of the program itself that call some functions and run.
func programCalls(p *rule.Pass, match func(*types.Func) bool) (list []called) {
	for _, place := range p.Syntax.Calls(match) {
		switch ran, ok := evidence.ExecutionsAt(p, place, place.Nodes[0].Pos()); {
		case !ok:
			list = append(list, called{place, 1}) // not counted
		case ran.PerUnit > 0:
			list = append(list, called{place, ran.PerUnit})
		}
	}
	return list
}

// closeable returns the type of a function's first result and its method that ends it; "" for none.
func closeable(fn *types.Func) (types.Type, string) {
	results := fn.Signature().Results()
	if results.Len() == 0 {
		return nil, ""
	}
	t := results.At(0).Type()
	for _, name := range []string{"Close", "Stop", "Shutdown", "Cancel"} {
		o, _, _ := types.LookupFieldOrMethod(t, true, fn.Pkg(), name)
		if m, ok := o.(*types.Func); ok && m.Signature().Params().Len() == 0 {
			return t, name
		}
	}
	return nil, ""
}

// ends reports whether a method is that of a type, or of an interface which it implements.
func ends(method *types.Func, of types.Type) bool {
	recv := method.Signature().Recv()
	if recv == nil {
		return false
	}
	if i, ok := recv.Type().Underlying().(*types.Interface); ok {
		return types.Implements(of, i)
	}
	return types.Identical(recv.Type(), of)
}
