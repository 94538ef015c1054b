// Package templateparsepercall finds templates that are parsed again on every call.
package templateparsepercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// parsers are functions that parse templates, as profiles name them.
var parsers = []string{
	"text/template.(*Template).Parse", "text/template.(*Template).ParseFiles", "text/template.(*Template).ParseGlob", "text/template.(*Template).ParseFS",
	"text/template.ParseFiles", "text/template.ParseGlob", "text/template.ParseFS",
	"html/template.(*Template).Parse", "html/template.(*Template).ParseFiles", "html/template.(*Template).ParseGlob", "html/template.(*Template).ParseFS",
	"html/template.ParseFiles", "html/template.ParseGlob", "html/template.ParseFS",
}

// cloners are the methods that copy a set of templates, as profiles name them.
var cloners = []string{"text/template.(*Template).Clone", "html/template.(*Template).Clone"}

// adders are the methods that add a text to a set, as the type checker names them.
var adders = []string{"(*text/template.Template).Parse*", "(*html/template.Template).Parse*", "(*text/template.Template).AddParseTree", "(*html/template.Template).AddParseTree"}

// same are the functions whose result is the template that they get.
var same = []string{"text/template.Must", "html/template.Must",
	"(*text/template.Template).Funcs", "(*html/template.Template).Funcs", "(*text/template.Template).Option", "(*html/template.Template).Option",
	"(*text/template.Template).Delims", "(*html/template.Template).Delims", "(*text/template.Template).Lookup", "(*html/template.Template).Lookup"}

// escaping is the function with which the first Execute of an html/template rewrites the tree.
var escaping = []string{"html/template.(*Template).escape", "html/template.(*Template).lookupAndEscapeTemplate"}

// executors are the methods that call it.
var executors = []string{"html/template.(*Template).Execute", "html/template.(*Template).ExecuteTemplate"}

// Rule is template-parse-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "template-parse-per-call",
		Kind:  rule.Alloc,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Template parsed or cloned on every call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// The rows are the parsing and escaping alone. A package variable is parsed once.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.92, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
			Unseen: finder.Words{
				Cause: "A template is parsed on every call. The source is not available.",
				Fix:   "If its text is constant, parse it once at startup.",
			}.Fill,
		},
	}
}

const doc = `Parsing a template runs a lexer and builds a tree of nodes, with some
allocations for each action; ParseFiles also reads the files. The first Execute
of an html/template then walks the tree to determine how to escape each value,
and rewrites it. All of that is meant to happen once: a parsed template is safe
for concurrent execution. A Clone of an html/template is a copy of all trees,
and its first Execute determines the escaping again.

Parse it when the program starts, into a package variable or a field of the
handler, with template.Must to report mistakes at startup. Instead of a clone per
request with other functions, keep a clone per variant (such as a language), or
pass what differs as data.

It is fine in a development mode that reloads files, and for templates that come
from users. The rule leaves alone templates that are parsed after a check for
nil or a cache miss, or under sync.Once, and clones into which a text is parsed
that only the request determines. Files that a request chooses are reported where
counts show that they are parsed for requests.

Seen in the field: qor/render#3, ironsmile/nedomi#69, petaki/inertia-go#8.`

// take returns the rows of parsing and cloning, and of escaping a tree for the first time.
func take(s *site.Site) rule.Match {
	return finder.Take(s, func(r *site.Row) bool {
		return stacks.Calls(r, parsers...) || stacks.Calls(r, cloners...) || stacks.Calls(r, executors...) && (r.Below(escaping[0]) || r.Below(escaping[1]))
	}, slices.Concat(parsers, cloners, escaping)...)
}

func guilty(c *finder.Case) bool {
	s, p, m := c.Pass.Syntax, c.Place, c.Match
	for _, call := range syntax.CallsOf(p, typeNames(parsers)...) {
		if fixed(s, p, call) {
			m.Cause = fmt.Sprintf("%s parses the same template with %s on every call.", syntax.FuncName(p), symbol.Short(p.CalleeName(call)))
			m.Fix = "Parse it once when the program starts, into a package variable or a field; executing it is safe for concurrent use."
			return true
		}
		if again(c, call) {
			m.Cause = fmt.Sprintf("%s parses template files with %s on every call. A program has few of them, and each is the same each time.", syntax.FuncName(p), symbol.Short(p.CalleeName(call)))
			m.Fix = "Parse all of them when the program starts (ParseGlob, ParseFS), or keep what each name gives in a map, and execute it by its name; executing is safe for concurrent use."
			m.Confidence = rule.Likely // the files may change while the program runs
			return true
		}
	}
	for _, call := range syntax.CallsOf(p, typeNames(cloners)...) {
		if repeated(s, p, call) {
			m.Cause = fmt.Sprintf("%s clones a set of templates on every call (%s).", syntax.FuncName(p), syntax.Text(call))
			if funcname.Match(p.CalleeName(call), "(*html/*") {
				m.Cause += " That copies the trees of all of them, and the first Execute of each clone determines the escaping again."
			}
			m.Fix = keepClones
			return true
		}
	}
	for _, call := range syntax.CallsOf(p, typeNames(executors)...) {
		made := origin(p, syntax.Receiver(call))
		if made == nil {
			if helper := parsing(s, p, call); helper != "" {
				m.Cause = fmt.Sprintf("%s executes a template that %s parses on every call, so each Execute is the first and must determine the escaping again.", syntax.FuncName(p), helper)
				m.Fix = "Parse it once when the program starts, or keep each template in a map by its name; the escaping then also happens once."
				m.Confidence = rule.Likely
				return true
			}
			continue
		}
		if funcname.Match(p.CalleeName(made), typeNames(cloners)...) {
			if !repeated(s, p, made) {
				continue
			}
			m.Cause = fmt.Sprintf("%s executes a clone that line %d makes on every call, so each Execute is the first and must determine the escaping again.",
				syntax.FuncName(p), syntax.Line(p, made.Pos()))
			m.Fix = keepClones
			return true
		}
		if fixed(s, p, made) {
			m.Cause = fmt.Sprintf("%s parses the template on line %d on every call, so each Execute is the first and must determine the escaping again.",
				syntax.FuncName(p), syntax.Line(p, made.Pos()))
			m.Fix = "Parse it once when the program starts; the escaping then also happens once."
			return true
		}
	}
	return false
}

const keepClones = "Clone when the program starts, once for each variant of the functions (such as a language), or pass what differs as data; executing is safe for concurrent use."

func typeNames(profile []string) (names []string) {
	for _, n := range profile {
		names = append(names, funcname.Typed(n))
	}
	return names
}

// fixed reports whether a parse call may run more than once and always has the same arguments.
func fixed(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) bool {
	if !loops.PerCall(p, call) {
		return false
	}
	for _, arg := range call.Args {
		if !syntax.Fixed(p, syntax.Origin(p, arg)) && !embedded(p, arg) && len(flow.Constants(s, p, arg)) == 0 {
			return false
		}
	}
	return len(call.Args) > 0
}

// filed are the functions that parse files of templates, whose number does not grow with requests.
var filed = []string{
	"text/template.ParseFiles", "text/template.ParseGlob", "text/template.ParseFS", "html/template.ParseFiles", "html/template.ParseGlob", "html/template.ParseFS",
	"(*text/template.Template).ParseFiles", "(*text/template.Template).ParseGlob", "(*text/template.Template).ParseFS",
	"(*html/template.Template).ParseFiles", "(*html/template.Template).ParseGlob", "(*html/template.Template).ParseFS",
}

// again reports whether a call parses files of templates on a hot path, as counted.
func again(c *finder.Case, call *ast.CallExpr) bool {
	ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
	return ok && evidence.Hot(c.Pass, ran) && funcname.Match(c.Place.CalleeName(call), filed...) && loops.PerCall(c.Place, call)
}

// parsing returns the name of the function of the program that parses the template which a call
// executes, from files and in each call; "" for none.
func parsing(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) string {
	helper, ok := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr)
	if v := syntax.LocalVar(p, syntax.Receiver(call)); !ok && v != nil {
		if values := syntax.Assigned(p, v); len(values) == 1 {
			helper, ok = ast.Unparen(values[0]).(*ast.CallExpr)
		}
	}
	if !ok || !loops.PerCall(p, helper) {
		return ""
	}
	in, ok := s.Declared(p.Callee(helper))
	if !ok || in.Decl == nil {
		return ""
	}
	parses := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		made, ok := n.(*ast.CallExpr)
		parses = parses || ok && funcname.Match(in.CalleeName(made), filed...) && loops.PerCall(in, made) && returned(in, made)
		return !parses
	})
	if !parses {
		return ""
	}
	return symbol.Short(p.CalleeName(helper))
}

// returned reports whether a function returns what a call parsed each time that it runs: it does
// not look it up in a map or another cache first. It may fill a map there.
func returned(in *gocode.Place, made *ast.CallExpr) bool {
	looks := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			_, table := in.TypeOf(n.X).Underlying().(*types.Map)
			looks = looks || n.Pos() < made.Pos() && table && !syntax.Defines(in, n)
		case *ast.CallExpr:
			looks = looks || n.Pos() < made.Pos() && funcname.Match(in.CalleeName(n), "(*sync.Map).*", "(*sync.Once).*")
		}
		return !looks
	})
	return !looks
}

// repeated reports whether a clone may run more than once and copies a template that was parsed
// elsewhere, and its function parses no text that may differ between the calls.
func repeated(s *gocode.Syntax, p *gocode.Place, clone *ast.CallExpr) bool {
	if !loops.PerCall(p, clone) {
		return false
	}
	if _, here := syntax.Origin(p, syntax.Receiver(clone)).(*ast.CallExpr); here {
		return false
	}
	differs := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), adders...) {
			differs = differs || !fixed(s, p, call)
		}
		return !differs
	})
	return !differs
}

// embedded reports whether an argument is a package variable such as an embed.FS.
func embedded(p *gocode.Place, e ast.Expr) bool {
	v, part := syntax.Var(p, e)
	return v != nil && !part && v.Parent() == p.Pkg.Scope() && syntax.LocalVar(p, e) == nil && v.Type().String() == "embed.FS"
}

// origin returns the call that parsed or cloned the template that an expression is: the value of a
// variable of the function, or the result of a chain of calls.
func origin(p *gocode.Place, e ast.Expr) *ast.CallExpr {
	for range 8 {
		if e == nil {
			return nil
		}
		call, ok := syntax.Origin(p, e).(*ast.CallExpr)
		if !ok {
			return nil
		}
		name := p.CalleeName(call)
		switch {
		case funcname.Match(name, typeNames(parsers)...) || funcname.Match(name, typeNames(cloners)...):
			return call
		case !funcname.Match(name, same...):
			return nil
		case funcname.Match(name, "text/template.Must", "html/template.Must"):
			e = call.Args[0]
		default:
			e = syntax.Receiver(call)
		}
	}
	return nil
}
