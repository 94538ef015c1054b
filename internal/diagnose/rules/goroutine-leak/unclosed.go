package goroutineleak

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// seldom is the part of the calls that start goroutines above which closing what they return is
// not forgotten.
const seldom = 0.5

// unclosed says which line of the program gets something from the function of a module that starts
// the goroutines, such as a writer with a goroutine at its other end, and does not close it; "" for
// none.
func unclosed(p *rule.Pass, started *site.Frame) advice {
	if started == nil || p.Syntax == nil {
		return advice{}
	}
	place, ok := p.Syntax.At(started.File, started.Line)
	if !ok || place.Decl == nil {
		return advice{}
	}
	fn, _ := place.Info.Defs[place.Decl.Name].(*types.Func)
	if fn == nil {
		return advice{}
	}
	result, closer := closeable(fn)
	if closer == "" {
		return advice{}
	}
	first := ownerOf(p, started, result)
	if first == nil {
		return advice{}
	}
	closes := 0.0
	for _, at := range programCalls(p, func(f *types.Func) bool { return f.Name() == closer && ends(f, result) }) {
		closes += at.runs
	}
	if closes > seldom*first.runs {
		return advice{}
	}
	who := "nothing calls"
	if closes > 0 {
		who = "hardly anything calls"
	}
	return advice{fmt.Sprintf("Each of them belongs to a result of %s, and %s %s on it.", first.where(), who, closer),
		fmt.Sprintf("Call %s on the result of %s when it is no longer needed, with defer if the same function ends the work.", closer, first.where()), true}
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
