// Package splitknownparts finds strings that are split into a list although only a few known parts
// are used.
package splitknownparts

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is split-known-parts.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "split-known-parts",
		Kind:  rule.Alloc,
		Title: "String split into a list that is not needed",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// strings.Cut compares the same bytes up to the last part that is used, and
				// allocates no list.
				Fraction: rule.Fraction{Expect: 0.7, Low: 0.4, High: 1}, // of a text with many separators only the first parts are read
			},
			Start: finder.Calls{
				Functions: []string{"strings.Split", "strings.SplitN", "bytes.Split", "bytes.SplitN", "strings.Fields", "strings.genSplit", "bytes.genSplit"},
				Types:     []string{"strings.Split", "strings.SplitN", "bytes.Split", "bytes.SplitN", "strings.Fields"},
			},
			Judge: judge,
		},
	}
}

const doc = `strings.Split scans the string twice and allocates a list of all its parts. If
only the first parts or their number are needed, strings.Cut finds one part
after the other without a list, and can stop early. A text from outside with a
million separators makes a list of a million parts before the program checks its
length.

Use strings.Cut for two parts, and again on the rest for a third;
strings.LastIndexByte for the last; strings.Count for the number alone. If the
list is needed, strings.SplitN bounds it; strings.SplitSeq (Go 1.24) iterates
over the parts without one.

It is fine where the list is kept, passed on or ranged over. The rule leaves
those alone, unless most lists are many times longer than a check of their
length accepts, or are long and only ranged over once.

Seen in the field: golang-jwt/jwt (CVE-2025-30204: a token of dots made a list
of gigabytes); the standard library's change to strings.Cut in Go 1.18.`

func judge(c *finder.Case) bool {
	read, helper := reading{index: -1}, false
	if !c.All(func(call *ast.CallExpr) bool {
		one, ok := parts(c.Pass.Syntax, c.Place, call)
		read.add(one)
		return ok
	}) {
		if read, helper = inHelper(c); !helper {
			return bounded(c)
		}
	}
	call := c.Calls[0]
	what := syntax.Text(call.Args[0])
	pkg := "strings"
	if t := c.Place.TypeOf(call.Args[0]); t != nil && !syntax.IsString(c.Place, call.Args[0]) {
		pkg = "bytes"
	}
	used, fix := read.words(pkg, what)
	if funcname.Match(c.Name(), "strings.Fields") {
		fix = "Trim the leading space and cut at the next with strings.IndexFunc; or range over strings.FieldsSeq and break."
		if read.end {
			fix = "Trim the trailing space and cut after the last one with strings.LastIndexFunc."
		}
	}
	if helper {
		c.Confidence = rule.Likely // other callers may need the list
		used = "in callers of " + syntax.FuncName(c.Place) + " " + used
	}
	c.Cause = fmt.Sprintf("%s allocates a list of all parts of %s, and %s.", symbol.Short(c.Name()), what, used)
	c.Fix = fix
	return true
}

// reading is what is read of a list of parts.
type reading struct {
	index  int  // the highest constant index; -1 for none
	length bool // its length
	end    bool // its last part
}

func (r *reading) add(other reading) {
	r.index, r.length, r.end = max(r.index, other.index), r.length || other.length, r.end || other.end
}

// words returns what is read of the parts of a text, and what does so without a list.
func (r reading) words(pkg, what string) (used, fix string) {
	cut := fmt.Sprintf("%s.Cut, once for each part: before, after, found := %s.Cut(%s, sep).", pkg, pkg, what)
	switch {
	case r.end && r.index >= 0:
		return fmt.Sprintf("only the last part and parts up to index %d are used", r.index),
			fmt.Sprintf("Find the last part with %s.LastIndex(%s, sep), and the first ones with %s", pkg, what, cut)
	case r.end:
		return "only the last part is used", fmt.Sprintf("Find the last separator: i := %s.LastIndex(%s, sep); the last part starts after it, or at 0 if i is -1.", pkg, what)
	case r.index < 0:
		return "only its number of parts is used", fmt.Sprintf("Use %s.Count(%s, sep) + 1.", pkg, what)
	}
	fix = "Use " + cut
	if r.length {
		fix += " Instead of the length, check with a last Cut that nothing is left over."
	}
	return fmt.Sprintf("only parts up to index %d are used", r.index), fix
}

// tooMany is the minimum ratio of the mean number of parts to the number that the program accepts.
const tooMany = 8

// bounded judges a list whose length is checked and that has other uses too: it is a mistake when
// most lists are far longer than the check accepts, which their memory shows.
func bounded(c *finder.Case) bool {
	call := c.Calls[0]
	name := c.Name()
	if len(c.Calls) != 1 || funcname.Match(name, "*.SplitN", "strings.Fields") {
		return false
	}
	bytes, objects := stacks.Sum(c.Allocs)
	if objects == 0 {
		return false
	}
	part := int64(16) // a string; a slice has 24 bytes
	if funcname.Match(name, "bytes.Split") {
		part = 24
	}
	mean := bytes / objects / part
	if mean >= longList && walked(c.Place, call) {
		what := syntax.Text(call.Args[0])
		c.Cause = fmt.Sprintf("%s allocates a list of about %s parts of %s on average, only to iterate over it once.", symbol.Short(name), units.Count(mean), what)
		c.Fix = fmt.Sprintf("Iterate over the parts without a list: for part := range %sSeq(%s, %s) (Go 1.24), or cut one after the other with Cut.",
			symbol.Short(name), what, syntax.Text(call.Args[1]))
		return true
	}
	if accepted, ok := checked(c.Place, call); ok && mean >= tooMany*(accepted+1) {
		what := syntax.Text(call.Args[0])
		c.Cause = fmt.Sprintf("%s allocates a list of about %s parts of %s on average, and the next check accepts %d: a text from outside decides how much memory that takes.",
			symbol.Short(name), units.Count(mean), what, accepted)
		// What is left is the search for the first separators.
		left := float64(accepted+1) / float64(mean)
		c.Fraction = &rule.Fraction{Expect: 1 - left, Low: 0.9 * (1 - left), High: 1}
		c.Fix = fmt.Sprintf("Bound the list: %sN(%s, %s, %d) makes at most one part more than the check accepts, so that it still fails for too many; or cut the parts one after the other.",
			symbol.Short(name), what, syntax.Text(call.Args[1]), accepted+1)
		return true
	}
	return false
}

// longList is the minimum mean number of parts of a list that is not worth allocating for one loop.
const longList = 64

// walked reports whether a list is only ranged over and passed to len.
func walked(p *gocode.Place, call *ast.CallExpr) bool {
	if r, ok := syntax.Parent(p, call).(*ast.RangeStmt); ok {
		return ast.Unparen(r.X) == call
	}
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	at := p.Outer()
	ranged := false
	for _, id := range syntax.Reads(p, v) {
		switch n := syntax.Parent(at, id).(type) {
		case *ast.RangeStmt:
			if ast.Unparen(n.X) != id || ranged {
				return false
			}
			ranged = true
		case *ast.CallExpr:
			if at.CalleeName(n) != "len" {
				return false
			}
		default:
			return false
		}
	}
	return ranged
}

// checked returns the number that the length of a list is compared with in the condition of an if
// that leaves the function.
func checked(p *gocode.Place, call *ast.CallExpr) (accepted int64, ok bool) {
	v := syntax.Result(p, call)
	if v == nil {
		return 0, false
	}
	at := p.Outer()
	for _, id := range syntax.Reads(p, v) {
		length, is := syntax.Parent(at, id).(*ast.CallExpr)
		if !is || at.CalleeName(length) != "len" {
			continue
		}
		b, is := syntax.Parent(at, length).(*ast.BinaryExpr)
		if !is || b.Op != token.NEQ && b.Op != token.GTR && b.Op != token.GEQ || ast.Unparen(b.X) != length {
			continue
		}
		limit, is := p.Const(b.Y)
		if !is || limit.Kind() != constant.Int {
			continue
		}
		for _, n := range at.Enclosing(b) {
			if i, is := n.(*ast.IfStmt); is && syntax.Within(i.Cond, b) {
				if n := len(i.Body.List); n > 0 {
					if _, leaves := i.Body.List[n-1].(*ast.ReturnStmt); leaves {
						accepted, _ = constant.Int64Val(limit)
						return accepted, accepted >= 0
					}
				}
			}
		}
	}
	return 0, false
}

// parts returns how the result of a split is used, and reports whether there are no other uses.
func parts(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (reading, bool) {
	none := reading{index: -1}
	around := p.Enclosing(call)
	if len(around) == 0 {
		return none, false
	}
	if r, fine := use(s, p, call, around); fine {
		return r, true
	}
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) {
		return none, false
	}
	all, reads := none, 0
	for _, id := range syntax.Uses(p, v) {
		path := p.Enclosing(id)
		if len(path) == 0 {
			return none, false
		}
		if a, is := path[0].(*ast.AssignStmt); is && a.Lhs[0] == id && len(a.Lhs) == 1 {
			if len(a.Rhs) != 1 || ast.Unparen(a.Rhs[0]) != call {
				return none, false // it holds something else too
			}
			continue
		}
		if spec, is := path[0].(*ast.ValueSpec); is && len(spec.Values) == 0 {
			continue
		}
		r, fine := use(s, p, id, path)
		if !fine {
			return none, false
		}
		reads++
		all.add(r)
	}
	return all, reads > 0
}

// highest is the largest index of a part that cutting reaches with less work than a list.
const highest = 3

// use returns what a node around the list reads of it: a part of constant index, also one that
// callers pass, the last one, or the length.
func use(s *gocode.Syntax, p *gocode.Place, list ast.Expr, around []ast.Node) (reading, bool) {
	read := reading{index: -1}
	switch n := around[0].(type) {
	case *ast.IndexExpr:
		if n.X != list || assigned(around) {
			return read, false
		}
		if lastOf(p, list, n.Index) {
			read.end = true
			return read, true
		}
		if lastOf(p, list, syntax.Origin(p, n.Index)) {
			read.end = true
			return read, true
		}
		for _, v := range flow.Constants(s, p, n.Index) {
			i, exact := constant.Int64Val(constant.ToInt(v))
			if !exact || i < 0 || i > highest {
				return read, false
			}
			read.index = max(read.index, int(i))
		}
		return read, read.index >= 0
	case *ast.CallExpr:
		if p.CalleeName(n) != "len" {
			return passed(s, p, list, n)
		}
		if v := syntax.LocalVar(p, syntax.AssignedTo(p, parent(around))); v != nil && lastOf(p, list, parent(around)) {
			return read, true // an index of the last part, whose uses show
		}
		if len(around) > 2 {
			x, indexed := around[2].(*ast.IndexExpr)
			if indexed && x.Index == around[1] && lastOf(p, x.X, x.Index) {
				return read, true // of the last part
			}
		}
		read.length = true
		return read, true
	}
	return read, false
}

// parent returns the expression around a call that is around the list; nil for none.
func parent(around []ast.Node) ast.Expr {
	if len(around) < 2 {
		return nil
	}
	e, _ := around[1].(ast.Expr)
	return e
}

// passed returns what a function of the package that gets a list reads of it.
func passed(s *gocode.Syntax, p *gocode.Place, list ast.Expr, call *ast.CallExpr) (reading, bool) {
	none := reading{index: -1}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return ast.Unparen(e) == list })
	if decl == nil || decl.Body == nil || i < 0 || fn.Signature().Variadic() {
		return none, false
	}
	in, param := p.Entry(decl), fn.Signature().Params().At(i)
	reads := syntax.Reads(in, param)
	all := none
	for _, id := range reads {
		around := in.Enclosing(id)
		if len(around) == 0 {
			return none, false
		}
		if next, ok := around[0].(*ast.CallExpr); ok && in.CalleeName(next) != "len" {
			return none, false // through one function only
		}
		r, fine := use(s, in, id, around)
		if !fine {
			return none, false
		}
		all.add(r)
	}
	return all, len(reads) > 0 && len(syntax.Assigned(in, param)) == 0
}

// lastOf reports whether an index is that of the last part: len(list)-1.
func lastOf(p *gocode.Place, list, index ast.Expr) bool {
	b, ok := ast.Unparen(index).(*ast.BinaryExpr)
	if !ok || b.Op != token.SUB {
		return false
	}
	call, ok := ast.Unparen(b.X).(*ast.CallExpr)
	one, constant := syntax.ConstInt(p, b.Y)
	return ok && constant && one == 1 && p.CalleeName(call) == "len" && len(call.Args) == 1 && syntax.Same(p, call.Args[0], list)
}

// assigned reports whether an index expression is assigned to, or its address is taken.
func assigned(around []ast.Node) bool {
	if len(around) < 2 {
		return false
	}
	switch n := around[1].(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if lhs == around[0] {
				return true
			}
		}
	case *ast.UnaryExpr:
		return n.Op == token.AND
	}
	return false
}
