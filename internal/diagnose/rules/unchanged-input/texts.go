package unchangedinput

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// The functions of this file find texts that are repeatedly converted to a slice, to read a part of
// it.

const (
	// conversion stands for the functions of the runtime that convert.
	conversion = "conversion"
	// seldomText is the most often that a text may be set, per conversion. A text of a few
	// characters that is converted for each of them has more conversions.
	seldomText = 0.1
	// leastConverted is the minimum number of conversions for each unit of work.
	leastConverted = 20
)

// converting returns the frame of a row that converts a text which does not change: the charged
// line; else -1.
func (s *search) converting(r *site.Row) int {
	i := r.Owner
	if i < 0 || i >= len(r.Stack) || !stacks.Leaf(r) && !stacks.Calls(r, syntax.ConversionFuncs()...) {
		return -1
	}
	f := r.Stack[i]
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return -1
	}
	key := at{file: f.File, line: f.Line, callee: conversion}
	copy(key.callers[:], r.Stack[i+1:])
	found := s.lookOnce(f, key)
	if found == nil || stacks.Leaf(r) && !syntax.AllocatesOnly(found.place, found.call) {
		return -1
	}
	return i
}

// lookAtText returns the conversion on a line, if its text does not change.
func (s *search) lookAtText(place *gocode.Place, f *site.Frame, key *at) *found {
	convs := syntax.ReadConversions(place)
	if len(convs) != 1 {
		return nil // the rows are of all conversions on the line
	}
	call := convs[0]
	runs := s.runs(place, f, call)
	if runs < leastConverted || !loops.PerCall(place, call) {
		return nil
	}
	o := &origin{pass: s.pass, place: place, frame: f, callers: key.callers[:], runs: runs, patterns: s.patterns, most: seldomText}
	if !o.fixed(call.Args[0]) && !o.lasting(call.Args[0], 0) || len(o.names) == 0 {
		return nil
	}
	return &found{place: place, call: call, names: longest(o.names), runs: runs, sets: o.sets, open: o.open, converts: true}
}

// lasting follows a text that is a parameter to the caller that keeps it longer: one that runs
// seldom, compared with the conversions, and does not set the variable again.
func (o *origin) lasting(e ast.Expr, level int) bool {
	v := syntax.LocalVar(o.place, e)
	if v == nil || level >= len(o.callers) || o.place.Func == nil || o.setsAgain(v) {
		return false
	}
	if ran, ok := evidence.Executions(o.pass, *o.frame); ok && level > 0 && ran.Calls <= o.limit() {
		o.note(v.Name(), ran.Calls/o.runs)
		return true
	}
	caller := o.callers[0]
	if !syntax.Param(o.place, v) || caller == nil {
		return false
	}
	place, ok := o.pass.Syntax.At(caller.File, caller.Line)
	self := o.self()
	if !ok || self == nil {
		return false
	}
	for _, call := range syntax.Calls(place) {
		fn := place.Callee(call)
		i := syntax.ParamIndex(self.Signature(), v)
		if fn == nil || fn.FullName() != self.FullName() || i < 0 || i >= len(call.Args) {
			continue
		}
		up := &origin{pass: o.pass, place: place, frame: caller, callers: o.callers[1:], runs: o.runs, patterns: o.patterns, most: o.most}
		if !up.fixed(call.Args[i]) && !up.lasting(call.Args[i], level+1) {
			return false
		}
		o.names = append(o.names, up.names...)
		o.sets, o.open = max(o.sets, up.sets), o.open || up.open
		return len(up.names) > 0
	}
	return false
}

// setsAgain reports whether the function sets a variable more often than a parameter is: after its
// declaration.
func (o *origin) setsAgain(v *types.Var) bool {
	if syntax.Param(o.place, v) {
		return o.setIn(syntax.Body(o.place), v)
	}
	stmt, _ := syntax.Declared(o.place, v)
	return stmt == nil || len(loops.Around(o.place, stmt)) > 0 || len(syntax.Assigned(o.place, v)) > 1
}

// self is the function of the place; nil for a literal.
func (o *origin) self() *types.Func {
	decl, ok := o.place.Func.(*ast.FuncDecl)
	if !ok {
		return nil
	}
	fn, _ := o.place.Info.Defs[decl.Name].(*types.Func)
	return fn
}

// describeText fills in the words for a text that is converted again.
func (f *found) describeText(p *rule.Pass, m *rule.Match) {
	conv, text := syntax.Text(f.call), syntax.Text(f.call.Args[0])
	name := funcname.List(f.names)
	m.Cause = fmt.Sprintf("%s converts all of %s again on every call, to read a part of it. It runs %s per %s", conv, text, evidence.Times(f.runs), p.Manifest.Unit())
	switch {
	case f.sets > 0:
		m.Cause += fmt.Sprintf(", and %s is set once in %s runs of the line.", name, units.Count(int64(1/f.sets)))
	default:
		m.Cause += fmt.Sprintf(", and %s did not change while executions were counted.", name)
	}
	m.Fix = fmt.Sprintf("Convert %s once, where it is set, and keep the slice; or keep a position in bytes and decode one character at a time with utf8.DecodeRuneInString.", name)
	m.Callees = syntax.ConversionFuncs()
	left := 1 - f.sets
	m.Fraction = &rule.Fraction{Expect: 0.95 * left, Low: 0.7 * left, High: 1}
	if m.Confidence = rule.Measured; f.open {
		m.Confidence = rule.Likely
	}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s set %s times for each run of the line", name, units.Number(f.sets))})
}
