// Package regexpsimple finds regular expressions whose pattern is plain text.
package regexpsimple

import (
	"fmt"
	"go/ast"
	resyntax "regexp/syntax"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is regexp-simple.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-simple",
		Kind:  rule.CPU,
		Title: "Regular expression where a string function would do",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// For methods without measured savings; see saves.
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.97},
			},
			Start: finder.Calls{Functions: callees()},
			Judge: judge,
		},
	}
}

const doc = `The regexp engine tracks sets of states, takes its machine from a pool and steps
through the text rune by rune. When the pattern has no operator, or only an
anchor before or after a piece of text, strings.Contains, HasPrefix, HasSuffix,
== and ReplaceAll give the same result with vectorised code or a single
comparison.

The rule reports only patterns that it knows: constants without flags, compiled
into a variable that is never set again.

It is fine where patterns come from configuration, and on lines that are not
hot: uniform patterns may be easier to read than a mixture.

Seen in the field: grafana/pyroscope#4828.`

// matchers are methods of a Regexp that report whether it matches, replacers those that replace all
// matches.
var (
	matchers  = []string{"MatchString", "Match"}
	replacers = []string{"ReplaceAllString", "ReplaceAllLiteralString"}
)

func callees() (names []string) {
	for _, m := range slices.Concat(matchers, replacers) {
		names = append(names, "regexp.(*Regexp)."+m)
	}
	return names
}

// saves is the part of a call's cost that a string function saves (amd64, Go 1.26, texts of 20 to
// 2,000 bytes with the piece at the start, at the end and nowhere): HasPrefix 0.91 to 0.98,
// HasSuffix 0.96 to 0.99, == 0.87 to 0.98. Contains and ReplaceAll have to search, with the same
// function as the expression: for texts up to 42 bytes they save 0.79 to 0.96 and 0.72 to 0.89, for
// 2,000 bytes 0.09 to 0.27, and the search remains. The profile shows how much of the call that is.
func saves(m *rule.Match, search, replace bool) rule.Fraction {
	if !search {
		return rule.Fraction{Expect: 0.95, Low: 0.87, High: 1}
	}
	f := rule.Fraction{Expect: 0.9, Low: 0.7, High: 0.97}
	if replace {
		f = rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.92}
	}
	all, _ := stacks.Sum(m.CPU)
	searching, _ := stacks.Sum(stacks.Select(m.CPU, func(r *site.Row) bool { return r.Below("strings.Index") || r.Below("bytes.Index") }))
	if all > 0 {
		rest := 1 - float64(searching)/float64(all)
		f = rule.Fraction{Expect: f.Expect * rest, Low: f.Low * rest, High: f.High * rest}
	}
	return f
}

func judge(c *finder.Case) bool {
	var fixes []string
	var search, replace bool
	pattern := ""
	plain := c.All(func(call *ast.CallExpr) bool {
		expr, ok := flow.Pattern(c.Pass.Syntax, c.Place, call)
		if !ok {
			return false
		}
		fix, ok := rewrite(c.Place, call, expr)
		if !ok {
			return false
		}
		pattern = expr
		fixes = append(fixes, fix)
		replace = replace || strings.Contains(fix, ".ReplaceAll(")
		search = search || replace || strings.Contains(fix, ".Contains(")
		return true
	})
	if !plain {
		return false
	}
	c.Cause = fmt.Sprintf("The pattern %q is plain text, yet the regular expression engine searches for it, one set of states at a time.", pattern)
	f := saves(c.Match, search, replace)
	c.Fraction = &f
	c.Fix = "Write " + funcname.List(fixes) + " instead: the result is the same."
	return true
}

// rewrite returns an expression with the same result but without the pattern.
func rewrite(p *gocode.Place, call *ast.CallExpr, pattern string) (string, bool) {
	text, begin, end, ok := plain(pattern)
	if !ok || len(call.Args) == 0 {
		return "", false
	}
	pkg, arg := "strings", syntax.Text(call.Args[0])
	quoted := fmt.Sprintf("%q", text)
	name := p.CalleeName(call)
	method := name[strings.LastIndexByte(name, '.')+1:]
	if method == "Match" {
		pkg, quoted = "bytes", fmt.Sprintf("[]byte(%q)", text)
	}
	if slices.Contains(replacers, method) {
		if begin || end || text == "" || !literalReplacement(p, call, method) {
			return "", false
		}
		return fmt.Sprintf("strings.ReplaceAll(%s, %s, %s)", arg, quoted, syntax.Text(call.Args[1])), true
	}
	switch {
	case begin && end && pkg == "strings":
		return fmt.Sprintf("%s == %s", arg, quoted), true
	case begin && end:
		return fmt.Sprintf("string(%s) == %q", arg, text), true
	case begin:
		return fmt.Sprintf("%s.HasPrefix(%s, %s)", pkg, arg, quoted), true
	case end:
		return fmt.Sprintf("%s.HasSuffix(%s, %s)", pkg, arg, quoted), true
	}
	return fmt.Sprintf("%s.Contains(%s, %s)", pkg, arg, quoted), true
}

// literalReplacement reports whether the replacement has no $ in it: ReplaceAllString expands
// $name.
func literalReplacement(p *gocode.Place, call *ast.CallExpr, method string) bool {
	if len(call.Args) != 2 {
		return false
	}
	if method == "ReplaceAllLiteralString" {
		return true
	}
	text, ok := syntax.ConstString(p, call.Args[1])
	return ok && !strings.Contains(text, "$")
}

// plain returns the text of a pattern that is plain text, and its anchors.
func plain(pattern string) (text string, begin, end, ok bool) {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil {
		return "", false, false, false
	}
	parts := []*resyntax.Regexp{re}
	if re.Op == resyntax.OpConcat {
		parts = re.Sub
	}
	if len(parts) > 0 && parts[0].Op == resyntax.OpBeginText {
		begin, parts = true, parts[1:]
	}
	if n := len(parts); n > 0 && parts[n-1].Op == resyntax.OpEndText {
		end, parts = true, parts[:n-1]
	}
	if len(parts) != 1 || parts[0].Op != resyntax.OpLiteral || parts[0].Flags&resyntax.FoldCase != 0 {
		return "", false, false, false
	}
	return string(parts[0].Rune), begin, end, true
}
