package regexpofwords

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// someWords stand for words that only the running program knows.
const someWords = "one|two|three"

// compiled returns the words of the expressions that an expression can be; false if one of them is
// unknown, or contains more than words.
func compiled(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (all list, ok bool) {
	given, ok := flow.Compiled(s, p, e)
	for _, g := range given {
		text, joined, known := pattern(g.Place, g.Value)
		if !known {
			return list{}, false
		}
		l, only := parse(text)
		if !only {
			return list{}, false
		}
		l.joined = joined
		all = all.with(l)
	}
	return all, ok
}

// pattern returns the text of a pattern, in which someWords stand for those that a call joins, and
// that call; "" for none.
func pattern(p *gocode.Place, e ast.Expr) (text, joined string, ok bool) {
	if s, ok := syntax.ConstString(p, e); ok {
		return s, "", true
	}
	switch x := syntax.Origin(p, e).(type) {
	case *ast.BinaryExpr:
		return concatenated(p, syntax.Operands(x))
	case *ast.CallExpr:
		switch p.CalleeName(x) {
		case "strings.Join":
			return join(p, x)
		case "fmt.Sprintf":
			return formatted(p, x)
		}
	default:
		text, ok = syntax.ConstString(p, x)
		return text, "", ok
	}
	return "", "", false
}

// concatenated returns the pattern of several that follow each other.
func concatenated(p *gocode.Place, parts []ast.Expr) (text, joined string, ok bool) {
	if len(parts) < 2 {
		return "", "", false // no concatenation
	}
	for _, part := range parts {
		t, by, ok := pattern(p, part)
		if !ok {
			return "", "", false
		}
		text += t
		if by != "" {
			joined = by
		}
	}
	return text, joined, true
}

// formatted returns the pattern that fmt.Sprintf makes of a constant format with %s and patterns.
func formatted(p *gocode.Place, call *ast.CallExpr) (text, joined string, ok bool) {
	format, ok := syntax.ConstString(p, call.Args[0])
	parts := strings.Split(format, "%s")
	if !ok || len(parts) != len(call.Args) || strings.Contains(strings.Join(parts, ""), "%") {
		return "", "", false
	}
	text = parts[0]
	for i, arg := range call.Args[1:] {
		t, by, ok := pattern(p, arg)
		if !ok {
			return "", "", false
		}
		text += t + parts[i+1]
		if by != "" {
			joined = by
		}
	}
	return text, joined, true
}

// join returns the pattern that strings.Join makes of words.
func join(p *gocode.Place, call *ast.CallExpr) (text, joined string, ok bool) {
	if sep, ok := syntax.ConstString(p, call.Args[1]); !ok || sep != "|" {
		return "", "", false
	}
	if lit, ok := syntax.Origin(p, call.Args[0]).(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
		var words []string
		for _, e := range lit.Elts {
			w, ok := syntax.ConstString(p, e)
			if !ok {
				return "", "", false
			}
			words = append(words, w)
		}
		return strings.Join(words, "|"), "", true
	}
	return someWords, syntax.Text(call), quoted(p, syntax.LocalVar(p, call.Args[0]))
}

// quoted reports whether the function puts nothing but results of regexp.QuoteMeta into a slice.
func quoted(p *gocode.Place, v *types.Var) bool {
	if !syntax.Local(p, v) || syntax.Param(p, v) {
		return false
	}
	is := func(e ast.Expr) bool {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return ok && p.CalleeName(call) == "regexp.QuoteMeta"
	}
	quotes, only := 0, true
	for _, value := range syntax.Assigned(p, v) {
		switch x := ast.Unparen(value).(type) {
		case *ast.CompositeLit:
			only = only && len(x.Elts) == 0
		case *ast.CallExpr:
			switch p.CalleeName(x) {
			case "make":
			case "append":
				only = only && syntax.LocalVar(p, x.Args[0]) == v && !x.Ellipsis.IsValid()
				for _, e := range x.Args[1:] {
					only = only && is(e)
					quotes++
				}
			default:
				only = false
			}
		default:
			only = false
		}
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, lhs := range a.Lhs {
			if to, part := syntax.Var(p, lhs); part && to == v {
				only = only && len(a.Lhs) == len(a.Rhs) && is(a.Rhs[min(i, len(a.Rhs)-1)])
				quotes++
			}
		}
		return true
	})
	return only && quotes > 0
}
