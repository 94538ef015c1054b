// Package regexprarelymatches finds regular expressions that run on texts which lack what every
// match contains.
package regexprarelymatches

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// mostMatches is the largest part of the calls that may match.
	mostMatches = 0.3
	// leastEngine is the minimum time of the engine in one call, in seconds, for each literal that
	// has to be searched for: that takes 5 to 20 ns in such a text.
	leastEngine = 150e-9
	// leastPatterns of a list, and mostOfList, the largest part of the calls that may match there.
	leastPatterns = 8
	mostOfList    = 0.1
	// mostlyOne is the minimum part of the calls that must come from a caller's loop over a list.
	mostlyOne = 0.8
	// leastFilterable is the minimum part of a list's patterns, if they are known, for which a
	// literal can be tested.
	leastFilterable = 0.3
)

// Rule is regexp-rarely-matches.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "regexp-rarely-matches",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Regular expression run on texts that lack a literal of it",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Matches have their own, by how many texts match; see saves.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.97},
				Specificity: 2, // it knows what the patterns are and how often they match
			},
			Start: finder.Calls{Functions: methods("regexp.(*Regexp)."), Keep: engine},
			Judge: judge,
		},
	}
}

const doc = `The regexp engine steps through a text rune by rune, at 10 to 50 ns each. If
every match contains a literal, such as "timeout" in \d+ms.*timeout, a text
without that literal cannot match. strings.Contains finds that out with vector
instructions in a fraction of the time. The engine itself only does so for a
literal at the start of the pattern.

Test the literal first, and run the expression only on texts that contain it. For
(?i), search in a lower-case copy that all expressions share. For a list of
expressions, keep a literal with each (package regexp/syntax parses a pattern, to
derive it), or search all literals in one pass (Aho–Corasick).

The rule reports constant patterns with such a literal, expressions of which all
have one, and loops over at least 8 expressions that all get the same text, if
few of the counted calls matched. It reports only the time in the engine, and
nothing where the function has tested the text before.

It is fine where most texts match, and for short texts.

Seen in the field: DataDog/datadog-agent#23068 (817 ns became 45),
prometheus/prometheus#14173, kubernetes/node-problem-detector#960 (1.95 CPUs
became 0.15), trufflesecurity/trufflehog#1144 (a list of expressions, two to four
times as fast), corazawaf/coraza#1597.`

// names are methods of a Regexp that report or return matches.
var names = []string{
	"MatchString", "Match", "FindString", "Find", "FindStringIndex", "FindIndex", "FindStringSubmatch", "FindSubmatch",
	"FindStringSubmatchIndex", "FindSubmatchIndex", "FindAllString", "FindAll", "FindAllStringIndex", "FindAllIndex",
	"FindAllStringSubmatch", "FindAllSubmatch", "FindAllStringSubmatchIndex", "FindAllSubmatchIndex",
}

func methods(prefix string) (all []string) {
	for _, name := range names {
		all = append(all, prefix+name)
	}
	return all
}

// engine selects rows in which the engine steps through the text: not its own search for a literal
// at the start of the pattern.
func engine(r *site.Row) bool {
	for _, search := range []string{"strings.Index", "bytes.Index", "regexp.(*inputString).index", "regexp.(*inputBytes).index"} {
		if r.Below(search) {
			return false
		}
	}
	return r.Below("regexp.(*Regexp).doExecute")
}

func judge(c *finder.Case) bool {
	c.Live = nil
	nanoseconds, _ := stacks.Sum(c.CPU)
	if nanoseconds == 0 {
		return false
	}
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if known && each < leastEngine {
		return false
	}
	if loop := c.Place.LoopAround(c.Calls[0]); len(c.Calls) == 1 && loop != nil {
		if l, ok := listed(c, loop); ok {
			return l.describe(c)
		}
	} else if len(c.Calls) == 1 {
		if l, ok := listedBy(c); ok {
			return l.describe(c)
		}
	}
	return constants(c, each, known) || several(c, each, known)
}

// constants judges calls of expressions with constant patterns, whose time is each.
func constants(c *finder.Case, each float64, known bool) bool {
	var all []need
	var patterns []string
	literals := 0
	if !c.All(func(call *ast.CallExpr) bool {
		pattern, ok := compiled(c.Pass.Syntax, c.Place, syntax.Receiver(call))
		n, has := required(pattern)
		all, patterns = append(all, n), append(patterns, pattern)
		literals += len(n.literals)
		return ok && has && !tested(c.Place, call, pattern)
	}) {
		return false
	}
	if known && each < leastEngine*float64(literals) {
		return false
	}
	m, ok := matched(c, c.Calls)
	if !ok || m.rate() > mostMatches {
		return false
	}
	text := syntax.Text(c.Calls[0].Args[0])
	c.Cause = fmt.Sprintf("Only a text that contains %s can match the pattern %#q, but the engine steps through every text: according to the counts of executions, %s of %s calls match.",
		all[0], syntax.Short(patterns[0]), units.Percent(m.rate()), units.Count(int64(m.calls+0.5)))
	c.Fix = fmt.Sprintf("Test %s before: %s. Call the expression only if the text contains the literal.", text, all[0].test(c.Place, c.Calls[0]))
	f := saves(m.rate(), all[0].fold)
	c.Fraction = &f
	c.Evidence = append(c.Evidence, m.evidence(c))
	return true
}

// saves returns the part of the engine's time that a test for a literal saves. In texts of 20 to
// 8,000 bytes the test takes 0.4 to 6 % of it, in a lower-case copy 5 to 10 % (amd64, Go 1.26, go
// test -bench Test). Some texts contain the literal and do not match.
func saves(rate float64, fold bool) rule.Fraction {
	f := rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}
	if fold {
		f = rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.92}
	}
	rest := 1 - rate
	return rule.Fraction{Expect: f.Expect * rest, Low: f.Low * rest, High: f.High * rest}
}

// compiled returns the constant pattern that an expression is compiled from.
func compiled(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (string, bool) {
	all, ok := flow.PatternsOf(s, p, e)
	if !ok || len(all) != 1 {
		return "", false
	}
	return all[0], true
}

// fieldPatterns returns the constant patterns that code gives to a field, as far as they are known.
func fieldPatterns(c *finder.Case, field *ast.SelectorExpr) (all []string) {
	owner := c.Place.TypeOf(field.X)
	if owner == nil {
		return nil
	}
	if ptr, ok := owner.Underlying().(*types.Pointer); ok {
		owner = ptr.Elem()
	}
	for _, v := range c.Pass.Syntax.ValuesOf(types.TypeString(owner, nil), field.Sel.Name) {
		if pattern, ok := compiled(c.Pass.Syntax, v.Place, v.Value); ok {
			all = append(all, pattern)
		}
	}
	return all
}

// tests are functions that a program calls to find out whether an expression can match.
var tests = []string{"Contains", "ContainsAny", "ContainsRune", "Index", "IndexByte", "IndexRune", "IndexAny", "HasPrefix", "HasSuffix", "Cut"}

// tested reports whether the function tests before a call whether the text has a part of the
// pattern, or something that is not known.
func tested(p *gocode.Place, call *ast.CallExpr, pattern string) bool {
	of, _ := syntax.Var(p, call.Args[0])
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		test, ok := n.(*ast.CallExpr)
		if !ok || found || test.Pos() >= call.Pos() || len(test.Args) < 2 {
			return !found
		}
		pkg, name, _ := strings.Cut(p.CalleeName(test), ".")
		if pkg != "strings" && pkg != "bytes" || !funcname.Match(name, tests...) {
			return true
		}
		if v, _ := syntax.Var(p, test.Args[0]); v == nil || v != of {
			return true
		}
		part, constant := syntax.ConstString(p, test.Args[1])
		found = !constant || strings.Contains(strings.ToLower(pattern), strings.ToLower(part))
		return !found
	})
	return found
}
