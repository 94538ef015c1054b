package unusedpart

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/used"
	"github.com/hone-go/hone/internal/units"
)

// describe fills in the words and the share that the fix saves.
func (f *part) describe(c *finder.Case) {
	c.Confidence = rule.Likely // that nobody needs it otherwise is not proved
	name, caller := syntax.FuncName(f.place), syntax.FuncName(f.result.Place)
	var uses []string
	length := false
	results := syntax.SignatureOf(f.place).Results()
	for i, u := range f.result.Parts {
		if u.Whole {
			continue
		}
		length = length || u.Length && len(u.Fields)+len(u.Keys) == 0
		uses = append(uses, f.uses(u, syntax.TypeText(f.place, results.At(i).Type())))
	}
	c.Cause = fmt.Sprintf("%s calls %s (%s) and %s. Only what is not used depends on this code of %s.",
		caller, name, syntax.Where(f.result.Place, f.result.Call.Pos()), funcname.List(uses), name)
	switch {
	case f.lookups > 0:
		unused := 1 - f.lookups/f.elements
		c.Fraction = &rule.Fraction{Expect: 0.9 * unused, Low: 0.2 * unused, High: 1}
		c.Fix = fmt.Sprintf("Compute a value when it is looked up: instead of the map, pass a function of the key that computes this one value, or look the key up in what %s makes the map of.", name)
	case length:
		c.Fix = fmt.Sprintf("Count, or return, what %s needs without making the rest: add a function beside %s that returns the number. Other callers keep %s.", caller, name, name)
	default:
		c.Fix = fmt.Sprintf("Move this code out of %s into a function or method of its own, and call that where the result is used; %s then calls only what it needs.", name, caller)
	}
	if f.elements >= leastElements {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s makes %s elements in each call", name, units.Number(f.elements))})
	}
}

// uses says what is used of a result, which is not all of it.
func (f *part) uses(u used.Part, typ string) string {
	at := ""
	if u.At.Node != nil && (u.At.Decl != f.result.Decl) {
		at = " (" + syntax.Where(u.At.Place, u.At.Node.Pos()) + ")"
	}
	switch {
	case u.None():
		return "drops the " + typ
	case len(u.Keys) > 0:
		return fmt.Sprintf("looks up %s of the %s values of the %s%s", units.Number(f.lookups), units.Number(f.elements), typ, at)
	case len(u.Fields) > 0:
		return fmt.Sprintf("uses only %s of the %s%s", strings.Join(u.Fields, ", "), typ, at)
	case u.Length:
		return fmt.Sprintf("takes only the length of the %s%s", typ, at)
	}
	return fmt.Sprintf("only compares the %s with nil%s", typ, at)
}
