package largecopy

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// leastReturned is the size of a result, in bytes, from which on it is expensive to return: it is
// cleared in the function and copied by its caller.
const leastReturned = 16 << 10

// result judges a call of a function of the same package that returns a large array, or a struct
// with one.
func result(c *finder.Case) bool {
	if generic(c.Place) || !dominates(c) {
		return false
	}
	for _, call := range c.Place.Calls() {
		fn := c.Place.Callee(call)
		if fn == nil || fn.Pkg() != c.Place.Pkg || fn.Signature().TypeParams().Len()+fn.Signature().RecvTypeParams().Len() > 0 {
			continue
		}
		for v := range fn.Signature().Results().Variables() {
			size := int64(0)
			switch v.Type().Underlying().(type) {
			case *types.Array, *types.Struct:
				size = syntax.Sizes().Sizeof(v.Type())
			}
			if size < leastReturned {
				continue
			}
			what := types.TypeString(v.Type(), types.RelativeTo(fn.Pkg()))
			c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.5, High: 1} // what is used is still written
			c.Cause = fmt.Sprintf("%s returns a %s by value: each call clears an array of %s and copies all of it to the caller.", syntax.Text(call.Fun), what, units.Bytes(float64(size)))
			c.Fix = "Return a slice that holds only the elements that are used, append to a slice that the caller passes and uses again, or fill a value behind a pointer."
			return true
		}
	}
	return false
}
