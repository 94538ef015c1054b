// Package rescangrowing finds loops that add to a buffer and search all of it in each iteration.
package rescangrowing

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is rescan-growing.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rescan-growing",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Growing buffer searched from its start in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Of n passes over a buffer that grows to its full size, about two are left.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 1},
				Specificity: 3, // it says why the calls of the line take long
				Removes:     true,
			},
			Lines: []finder.Line{{
				Start: finder.Sites(func(s *site.Site) rule.Match { return finder.Take(s, func(*site.Row) bool { return true }) }),
				Judge: judge,
			}},
			Prepare: byHelpers,
		},
	}
}

const doc = `A loop reads chunks into a buffer, and after each chunk converts
the whole buffer to a string, searches it from its start, or tries to parse it.
For n chunks it reads n²/2 chunks in all, which is fast in a test and slow for
long input. strings.Count(src[:pos], "\n") for each token is the same mistake:
it counts all earlier lines again. So does a function that the loop calls for
the width or the size of a word after each letter.

Search only what is new: remember how far the buffer was searched, go back by
the length of the searched text minus one, and continue there. Or let a
bufio.Reader or bufio.Scanner find the delimiter, or use a decoder that reads
from a stream and keeps its state. bytes.Buffer.Bytes needs no copy; String
does.

It is fine for buffers that stay small. The rule reports loops with at least ten
iterations each time that they are reached, as counted in the recording, and
that do not empty the buffer in each iteration.

Seen in the field: ClickHouse/clickhouse-go#1949; golang/go#17851 (line numbers of
text/template).`

// least is the minimum mean number of iterations, each time that the loop is reached.
const least = 10

func judge(c *finder.Case) bool { return growing(c) || prefix(c) || fed(c) }

// growing judges a line of a loop that adds to a buffer.
func growing(c *finder.Case) bool {
	stmt := c.Place.Loop()
	if stmt == nil || c.Pass.Counts == nil {
		return false
	}
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(c.Place, stmt.Pos()))
	if !ok || l.Iterations < least {
		return false
	}
	body := loops.Body(stmt)
	for _, call := range c.Place.Calls() {
		name := c.Place.CalleeName(call)
		if !whole(c.Place, call, name) || loops.AtMost(c.Place, stmt, call, 1) {
			continue // the last iteration takes the result
		}
		for _, arg := range subjects(call) {
			buffer := bufferOf(c.Place, arg)
			if buffer == nil || !grows(c.Place, body, buffer) || drops(c.Place, body, call, buffer) || short(c) {
				continue
			}
			describe(c, buffer, name, syntax.Line(c.Place, stmt.Pos()), l.Iterations)
			return true
		}
	}
	return false
}

// whole reports whether a call goes through all of a text, as far as its name says.
func whole(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if to, ok := p.Conversion(call); ok && len(call.Args) == 1 {
		return syntax.IsString(p, call) != syntax.IsString(p, call.Args[0]) && to != nil
	}
	return funcname.Match(name, "(*bytes.Buffer).String", "strings.Contains*", "strings.Index*", "strings.Cut", "strings.Split*", "strings.Count", "strings.Fields*",
		"strings.Replace*", "strings.To*", "bytes.Contains*", "bytes.Index*", "bytes.Cut", "bytes.Split*", "bytes.Count", "bytes.Fields*", "bytes.Equal", "slices.Contains*",
		"slices.Index*", "slices.Sort*", "sort.*", "(*regexp.Regexp).*", "encoding/json.Valid", "encoding/json.Unmarshal", "unicode/utf8.Valid*", "crypto/*", "hash/*")
}

// subjects returns the expressions whose text a call searches: its receiver, if that is a buffer,
// and its arguments.
func subjects(call *ast.CallExpr) []ast.Expr {
	var out []ast.Expr
	if to := syntax.Receiver(call); to != nil {
		out = append(out, to)
	}
	return append(out, call.Args...)
}

// bufferOf returns the variable or field whose whole content an expression is: buf, s.buf,
// buf.String(), buf.Bytes(), string(buf).
func bufferOf(p *gocode.Place, e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if t := p.TypeOf(e); t != nil && textual(t) {
			return e
		}
	case *ast.SelectorExpr:
		if t := p.TypeOf(e); t != nil && textual(t) {
			return e
		}
	case *ast.CallExpr:
		if _, ok := p.Conversion(e); ok && len(e.Args) == 1 {
			return bufferOf(p, e.Args[0])
		}
		if funcname.Match(p.CalleeName(e), "(*bytes.Buffer).String", "(*bytes.Buffer).Bytes", "(*strings.Builder).String") {
			return syntax.Receiver(e)
		}
	}
	return nil
}

// textual reports whether a type holds a text or a list that can grow.
func textual(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	}
	return strings.HasSuffix(strings.TrimPrefix(t.String(), "*"), "bytes.Buffer")
}

// grows reports whether a loop adds to a buffer: by a method that writes, append or +=.
func grows(p *gocode.Place, body ast.Node, buffer ast.Expr) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			to := syntax.Receiver(n)
			if to != nil && syntax.Same(p, to, buffer) && funcname.Match(p.CalleeName(n), "(*bytes.Buffer).Write*", "(*bytes.Buffer).ReadFrom", "(*strings.Builder).Write*") {
				found = true
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if !syntax.Same(p, lhs, buffer) || len(n.Lhs) != len(n.Rhs) {
					continue
				}
				call, ok := ast.Unparen(n.Rhs[i]).(*ast.CallExpr)
				found = found || n.Tok == token.ADD_ASSIGN || ok && p.CalleeName(call) == "append" && syntax.Same(p, call.Args[0], buffer)
			}
		}
		return !found
	})
	return found
}

// drops reports whether a loop declares a buffer, or empties or replaces it in each iteration that
// goes through all of it, as one does that collects a word until it ends.
func drops(p *gocode.Place, body, call ast.Node, buffer ast.Expr) bool {
	if v, part := syntax.Var(p, buffer); v == nil || !part && syntax.Inside(body, v.Pos()) {
		return true
	}
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if emptied(p, n.List, buffer) {
				return true
			}
			if ast.Node(n) == body {
				return false
			}
		case *ast.CaseClause:
			if emptied(p, n.Body, buffer) {
				return true
			}
		case *ast.FuncLit, *ast.FuncDecl:
			return false
		}
	}
	return false
}

// emptied reports whether one of some statements empties or replaces a buffer.
func emptied(p *gocode.Place, list []ast.Stmt, buffer ast.Expr) bool {
	for _, stmt := range list {
		switch s := stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				to := syntax.Receiver(call)
				if to != nil && syntax.Same(p, to, buffer) && funcname.Match(p.CalleeName(call), "(*bytes.Buffer).Reset", "(*bytes.Buffer).Truncate", "(*bytes.Buffer).Next", "(*strings.Builder).Reset") {
					return true
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range s.Lhs {
				if !syntax.Same(p, lhs, buffer) || s.Tok == token.ADD_ASSIGN {
					continue
				}
				if len(s.Lhs) != len(s.Rhs) {
					return true
				}
				call, ok := ast.Unparen(s.Rhs[i]).(*ast.CallExpr)
				if !ok || p.CalleeName(call) != "append" || !syntax.Same(p, call.Args[0], buffer) {
					return true
				}
			}
		}
	}
	return false
}

func describe(c *finder.Case, buffer ast.Expr, name string, line int, iterations float64) {
	what := symbol.Short(name)
	if name == "" {
		what = "a conversion"
	}
	c.Cause = fmt.Sprintf("The loop on line %d adds to %s and goes through all of it again in each iteration (%s), %s each time it is reached: the time grows with the square of the input.",
		line, syntax.Text(buffer), what, units.Number(iterations))
	c.Fix = fmt.Sprintf("Search only what was added: remember how far %s was searched. Or use a bufio.Reader, a bufio.Scanner or a decoder of the stream, which do so.", syntax.Text(buffer))
	c.Confidence = rule.Likely
	if sorts.Sorting(name) {
		describeSort(c, buffer, what, line, iterations)
	}
}

// describeSort describes a loop that sorts a list after each addition.
func describeSort(c *finder.Case, list ast.Expr, what string, line int, iterations float64) {
	c.Cause = fmt.Sprintf("The loop on line %d adds to %s and sorts all of it again in each iteration (%s), %s each time it is reached: n additions cost n² comparisons.",
		line, syntax.Text(list), what, units.Number(iterations))
	c.Fix = "Insert each element at its position: slices.BinarySearchFunc, then slices.Insert. Where only the first is taken, keep the elements in a heap (container/heap). Where many are added at a time, append all and sort once."
}
