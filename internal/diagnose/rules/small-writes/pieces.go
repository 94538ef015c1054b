package smallwrites

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// small reports whether a piece is small as far as the syntax shows: a formatted text, a string, or
// a slice of known small length. A byte slice of unknown length may be a whole file.
func small(c *finder.Case, call *ast.CallExpr) bool {
	if !strings.HasSuffix(c.Place.CalleeName(call), ").Write") {
		return true
	}
	if v := syntax.LocalVar(c.Place, call.Args[0]); v != nil && syntax.Param(c.Place, v) && formatted(c.CPU) {
		return true
	}
	piece := pieces{s: c.Pass.Syntax, p: c.Place, at: call}
	return piece.short(call.Args[0], nil, mostSteps)
}

// formatted reports whether a method Write gets what it writes from a function that formats it.
func formatted(rows []*site.Row) bool {
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(r *site.Row) bool {
		return r.Owner+1 >= len(r.Stack) || !funcname.Match(r.Stack[r.Owner+1].Function, "fmt.Fprint*", "encoding/json.(*Encoder).Encode", "encoding/binary.Write")
	})
}

const (
	// mostCost is what a write of a few hundred bytes to a file may take on a slow machine, in
	// seconds of CPU; one of 64 KiB takes several times as long.
	mostCost = 3e-6
	// mostSent is the same for a connection, with what the system does to deliver a packet.
	mostSent = 5e-6
)

// cheap reports whether the writes of a line are small as far as their cost shows.
func cheap(c *finder.Case) bool {
	most := mostCost
	if connected(c) {
		most = mostSent
	}
	return evidence.Cheaper(c.Pass, c.Site.Frame, c.CPU, most)
}

// connected reports whether a line writes to a connection.
func connected(c *finder.Case) bool {
	return slices.ContainsFunc(c.CPU, func(r *site.Row) bool {
		return slices.ContainsFunc(r.Stack[:max(r.Owner, 0)], func(f *site.Frame) bool { return strings.HasPrefix(f.Function, "net.(*") })
	})
}

// mostSteps is how many variables a piece is followed through.
const mostSteps = 3

// large is the number of bytes from which on a system call is a small part of a piece's cost.
const large = 4096

// pieces judges the slices of bytes that a call writes.
type pieces struct {
	s  *gocode.Syntax
	p  *gocode.Place
	at ast.Node // the call
}

// short reports whether a slice of bytes has at most the size of a line: a literal, a part of a
// small array, a converted string, a formatted text, or a variable that is only assigned such. of
// is the variable that is assigned the slice; nil for none.
func (w pieces) short(piece ast.Expr, of *types.Var, steps int) bool {
	p := w.p
	switch e := syntax.Origin(p, piece).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.SliceExpr:
		if e.High != nil {
			if high, ok := syntax.ConstInt(p, e.High); ok {
				return high < large
			}
		}
		if syntax.IsArray(p, e.X) {
			array, ok := p.TypeOf(e.X).Underlying().(*types.Array)
			return ok && array.Len() < large
		}
		return steps > 0 && w.short(e.X, of, steps-1)
	case *ast.Ident:
		v := syntax.LocalVar(p, e)
		if v == nil || steps == 0 {
			return false
		}
		if syntax.Param(p, v) {
			return w.passed(v, steps-1)
		}
		if v == of { // grows once for each piece, if at all
			return len(loops.Around(p, e)) <= len(loops.Around(p, w.at))
		}
		values := syntax.Assigned(p, v)
		for _, value := range values {
			if !w.short(value, v, steps-1) {
				return false
			}
		}
		return len(values) > 0
	case *ast.CallExpr:
		return w.result(e, of, steps)
	}
	return false
}

// passed is short for a parameter: all callers pass such.
func (w pieces) passed(v *types.Var, steps int) bool {
	given := flow.Passed(w.s, w.p, v)
	for _, g := range given {
		if !(pieces{w.s, g.Place, g.Value}).short(g.Value, nil, steps) {
			return false
		}
	}
	return len(given) > 0
}

// result is short for the result of a call.
func (w pieces) result(made *ast.CallExpr, of *types.Var, steps int) bool {
	p := w.p
	if _, ok := p.Conversion(made); ok && len(made.Args) == 1 {
		return syntax.IsString(p, made.Args[0])
	}
	switch name := p.CalleeName(made); {
	case name == "make" && len(made.Args) > 1:
		n, ok := p.Const(made.Args[1])
		return ok && constant.Compare(n, token.LSS, constant.MakeInt64(large))
	case name == "encoding/json.Marshal":
		return true
	case name == "append" && made.Ellipsis.IsValid() && !syntax.IsString(p, made.Args[1]):
		return false // another slice of unknown length
	case name == "append", funcname.Match(name, "fmt.Append*", "strconv.Append*", "(time.Time).AppendFormat", "(encoding/binary.*Endian).AppendUint*"):
		if tv, ok := p.Info.Types[made.Args[0]]; ok && tv.IsNil() {
			return true
		}
		for _, arg := range made.Args { // binary.BigEndian.AppendUint32(b, n)
			if t, ok := p.TypeOf(arg).Underlying().(*types.Slice); ok && types.Identical(t.Elem(), types.Typ[types.Uint8]) {
				return w.short(arg, of, steps)
			}
		}
		return true
	}
	return false
}
