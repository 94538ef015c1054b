// Package boxedargument finds values that are converted to an interface, on the heap, to be passed
// to a parameter of type any.
package boxedargument

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is boxed-argument.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "boxed-argument",
		Kind:  rule.Alloc,
		Title: "Argument allocated to pass it as any",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The conversion goes; a key's hash and comparison, which get faster too, belong to
				// other lines.
				Fraction: rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `A parameter of type any takes a pointer as it is. Of a string, a struct or a
number above 255 the compiler makes a copy on the heap, if the value may stay
there: a string costs 16 bytes and 15 to 25 ns for each call. Caches, sets,
queues and maps that were written before Go had type parameters have such
parameters, and so has sync.Map. A map with keys of type any also hashes and
compares them by their type, which takes twice as long.

Use a type with type parameters (hashicorp/golang-lru/v2, a generic set), or give
the parameter the type that it always has. A struct can be passed by its address,
if the callee does not keep and change it. For a few values, keep the interface
values instead of making them again.

It is fine where the value is stored and lives on. The rule leaves alone
formatting, logging, encoding and queries, whose arguments have many types.

Seen in the field: apache/cassandra-gocql-driver#456 (keys of an LRU cache).`

// many are functions whose arguments have to be of many types; rules of their own are about some of
// them.
var many = []string{
	"fmt.*", "log.*", "log/slog.*", "(*log.*", "(*log/slog.*", "errors.*", "reflect.*", "encoding/*", "(*encoding/*", "database/sql.*", "(*database/sql.*",
	"container/heap.*", "(*sync.Pool).*", "context.*", "testing.*", "(*testing.*", "text/template.*", "(*text/template.*", "html/template.*", "(*html/template.*",
	"sort.*", "(*sync/atomic.Value).*", "panic", "append",
}

func judge(c *finder.Case) bool {
	p := c.Place
	for _, call := range syntax.Calls(p) {
		args := boxed(p, call)
		if len(args) == 0 || !loops.PerCall(p, call) || !syntax.AllocatesOnly(p, call) && !escapeOnly(c, args) {
			continue
		}
		callee := p.Callee(call)
		what := fmt.Sprintf("%s (%s)", syntax.Text(args[0]), syntax.TypeText(p, p.TypeOf(args[0])))
		c.Cause = fmt.Sprintf("%s takes any, so %s is boxed: each call copies it to the heap.", syntax.Text(call.Fun), what)
		switch {
		case callee.Pkg() == p.Pkg:
			c.Fix = fmt.Sprintf("Give the parameter of %s the type that it has here, or a type parameter; the same for the fields and maps behind it.", callee.Name())
		case isStruct(p.TypeOf(args[0])):
			c.Fix = fmt.Sprintf("Pass &%s, if %s does not keep it, or use a type with type parameters in its place.", syntax.Text(args[0]), callee.Name())
		default:
			c.Fix = "Use a type with type parameters in its place (a newer version of the module may have one), or keep the interface values of the few values and pass those."
		}
		c.Confidence = evidence.Weigh(c.Pass, c.Site, true)
		c.Evidence = append(c.Evidence, evidence.Compiler(c.Pass, c.Site)...)
		return true
	}
	return false
}

// escapeOnly reports whether the compiler says that of what the line could allocate only some
// arguments escape.
func escapeOnly(c *finder.Case, args []ast.Expr) bool {
	words, known := evidence.Escapes(c.Pass, c.Site)
	for _, w := range words {
		if !slices.ContainsFunc(args, func(a ast.Expr) bool { return strings.HasPrefix(w, syntax.Text(a)+" escapes") }) {
			return false
		}
	}
	return known && len(words) > 0
}

// boxed returns the arguments of a call that parameters of type any make escape, if it is a call of
// a function whose parameters could have a type.
func boxed(p *gocode.Place, call *ast.CallExpr) (args []ast.Expr) {
	fn := p.Callee(call)
	if fn == nil || funcname.Match(fn.FullName(), many...) {
		return nil
	}
	params := fn.Signature().Params()
	for _, arg := range syntax.Boxed(p, call) {
		for i, a := range call.Args {
			last := i >= params.Len()-1 && fn.Signature().Variadic()
			if a == arg && !last && i < params.Len() && isAny(params.At(i).Type()) {
				args = append(args, arg)
			}
		}
	}
	return args
}

func isAny(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 0 && i.IsMethodSet() && !i.IsComparable()
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}
