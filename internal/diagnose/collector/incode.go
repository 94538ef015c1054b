package collector

import (
	"fmt"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
)

// Functions of package runtime/debug that set what the environment sets as GOGC and GOMEMLIMIT.
const (
	SetGCPercent   = "runtime/debug.SetGCPercent"
	SetMemoryLimit = "runtime/debug.SetMemoryLimit"
)

// PlaceInCode moves a match about a setting to the line of the program that sets it to the current
// value, and so overrides the environment. It leaves the match unchanged if no line visibly does
// so, or several do.
func PlaceInCode(p *rule.Pass, m *rule.Match, function string, value int64) {
	if p.Syntax == nil {
		return
	}
	places := p.Syntax.CallsOf(function)
	if len(places) != 1 {
		return
	}
	place := places[0]
	calls := syntax.CallsOf(place, function)
	if len(calls) != 1 {
		return
	}
	if n, constant := syntax.ConstInt(place, calls[0].Args[0]); constant && n != value {
		return // set to something else later
	}
	at := place.Fset.Position(calls[0].Pos())
	s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: at.Filename, Line: at.Line})
	if s == nil {
		return
	}
	m.Site, m.InCode = s, true
	name := function[len("runtime/"):]
	m.Cause = fmt.Sprintf("This call of %s overrides the environment. %s", name, m.Cause)
	m.Fix = fmt.Sprintf("Change the argument of %s here, or remove the call so that the environment decides. %s", name, m.Fix)
}
