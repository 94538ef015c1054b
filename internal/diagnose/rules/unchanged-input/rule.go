// Package unchangedinput finds results that are computed again from values that did not change.
package unchangedinput

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is unchanged-input.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unchanged-input",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Computed again from unchanged values",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The fix removes the call; reading a field replaces it.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: -1, // a rule that knows the call gives better advice
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function splits, parses or formats a setting each time it is called: a list of
trusted networks, a pattern, a path, a header's canonical form. Its input is a
field that was set when the program started, a variable around a handler, or one
of a caller that calls it in a loop. The result is the same each time.

So does a function that reads and decodes the same file for each request, or
lists the same directory: settings, certificates, names of pages. Keep what was
decoded, and read it again when the file changed. The rule leaves alone files
that the program writes, and searches in a file for what a request names.

So does a search whose helper normalizes the query together with each element,
and a method that converts a text it keeps to []rune or []byte each time that it
reads one character of it.

Compute the result where the value is set, and keep it beside the value: a
[]netip.Prefix beside the []string, a *regexp.Regexp beside the pattern. If the
value may change later, compute it again there.

It is fine where the value does change, or where the work is done once. The rule
uses counted executions, not names: it reports calls whose arguments depend on
fields and variables that were set less than once in a hundred runs of the line
(in ten for conversions of a text), and whose results depend on their arguments
alone. Where a map would keep one result for each of a few inputs, a call must
take at least 200 ns. A result that is changed after the call must be copied
first. A value of which lists or maps keep several is another one each time. If
the request decides which of the values it is, and each request computes it
once, a cache would be one of answers: that is a hint.

Seen in the field: gin-gonic/gin#2674 (trusted networks parsed for each
request), emicklei/go-restful#588 (patterns of routes compiled for each
request), graphql-go/graphql#137 (a query converted to []rune for each character
that its lexer read: 30 times faster without), xuri/nfp#3 (the same for number
formats of spreadsheets), prometheus/exporter-toolkit#443 (a configuration file
read and parsed for each request, 13 times its other work).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, known: map[at]*found{}, normal: map[string]bool{}, first: map[gocode.Pos]*found{}, patterns: effects.DeterministicFuncs()}
	judge := func(c *finder.Case) bool {
		f := s.first[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
		if f == nil {
			return false
		}
		if f.loose {
			fine, file := effects.PureBelow(c.CPU, s.caller)
			if !fine {
				return false
			}
			f.file = f.file || file
		}
		if f.few && cheap(c) || f.normal && quick(c) {
			return false
		}
		f.describe(p, c.Match)
		if aside(c) {
			c.Confidence = rule.Hint
		}
		return true
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// leastPart is the minimum share of its line's cost that a call must have to explain the line.
const leastPart = 0.25

// aside reports whether a line spends most of its CPU and memory on something other than the call,
// such as another argument.
func aside(c *finder.Case) bool {
	cpu, allocs := finder.Passing(c.Pass, c.Site, func(*site.Row) bool { return true })
	small := func(part []*site.Row, all ...[]*site.Row) bool {
		n, _ := stacks.Sum(part)
		var sum int64
		for _, rows := range all {
			of, _ := stacks.Sum(rows)
			sum += of
		}
		return float64(n) < leastPart*float64(sum)
	}
	return small(c.CPU, c.Site.CPU, cpu) && small(c.Allocs, c.Site.Allocs, allocs)
}

// cheap reports whether a call takes so little time that it is not worth looking its result up.
func cheap(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	return known && !evidence.ByInput.Repays(each)
}

// search caches which lines call a function whose input does not change.
type search struct {
	pass     *rule.Pass
	patterns []string
	known    map[at]*found
	first    map[gocode.Pos]*found // of each line
	loaders  map[string]*loader    // by file and function
	normal   map[string]bool       // by function: see normalizes
}

// mostCallers is the number of callers up to which a parameter is followed.
const mostCallers = 4

// at is a line, the function that it calls, and the lines that it is called from.
type at struct {
	file    string
	line    int
	callee  string
	loose   bool
	normal  bool
	callers [mostCallers]*site.Frame
}

// found is a call whose input does not change.
type found struct {
	place *gocode.Place
	call  *ast.CallExpr
	names []string // names of the values that it depends on
	runs  float64  // of the line, for each unit of work
	sets  float64  // of those values, for each run of the line
	open  bool     // other packages may set one of them, which is not visible
	// For a call whose purity no list states.
	loose, guess, few, file bool
	chosen                  bool // the request decides the input: the result is a part of its answer
	unit                    string
	converts                bool // a text to a slice, of which a part is read
	normal                  bool // a text to another one, by a function of a module
	reads                   bool // a file
}

// caller returns the frame of a row that makes such a call. Of calls that build something it is the
// one nearest to the root, whose fix removes everything below; else the one nearest to the leaf.
func (s *search) caller(r *site.Row) int {
	answer, chosen := s.outermost(r)
	if answer >= 0 && !chosen {
		return answer
	}
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		key := at{file: f.File, line: f.Line, callee: r.Stack[i-1].Function}
		if key.normal = !funcname.Match(key.callee, s.patterns...); key.normal && !s.normalizes(r.Stack[i-1]) {
			continue
		}
		copy(key.callers[:], r.Stack[i+1:])
		if found := s.lookOnce(f, key); found != nil && !found.chosen {
			return i
		} else if found != nil && answer < 0 {
			answer = i
		}
	}
	if i := s.converting(r); i >= 0 {
		return i
	}
	if i := s.reading(r); i >= 0 {
		return i
	}
	return answer
}

// lookOnce is look, once for each line and callee. The first call that it finds on a line stands
// for the line.
func (s *search) lookOnce(f *site.Frame, key at) *found {
	known, seen := s.known[key]
	if seen {
		return known
	}
	known = s.look(f, &key)
	s.known[key] = known
	if pos := (gocode.Pos{File: f.File, Line: f.Line}); known != nil && s.first[pos] == nil {
		s.first[pos] = known
	}
	return known
}

// look returns the call of a function on a line, if its input does not change.
func (s *search) look(f *site.Frame, key *at) *found {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	if key.callee == conversion {
		return s.lookAtText(place, f, key)
	}
	for _, call := range syntax.CallsTo(place, key.callee) {
		runs := s.runs(place, f, call)
		if runs <= 0 || !loops.PerCall(place, call) {
			continue
		}
		o := &origin{pass: s.pass, place: place, frame: f, callers: key.callers[:], runs: runs, patterns: s.patterns, callee: key.callee, loose: key.loose}
		if key.loose {
			least := 0.5 // of requests and operations
			if s.pass.Manifest.Unit() == "run" {
				least = leastMade
			}
			if fn := place.Callee(call); fn != nil && fn.Pkg() != nil && symbol.Standard(fn.Pkg().Path()) {
				continue // those that are worth it are listed
			}
			if runs >= least && o.answers(call) && o.makes(call) {
				return &found{place: place, call: call, names: longest(o.names), runs: runs, sets: o.sets, open: o.open, loose: true, guess: o.guess, few: o.few, file: o.file, unit: s.pass.Manifest.Unit(),
					chosen: s.byRequest(key.callee, o.few, runs)}
			}
			continue
		}
		if key.normal {
			if o.normal = call; ofParameter(place, call) && o.whole(call) && !o.few && (len(o.names) > 0 || runs >= leastHelped && !syntax.AllConst(place, call)) {
				return &found{place: place, call: call, runs: runs, sets: o.sets, normal: true}
			}
			continue
		}
		if o.decided(call) && len(o.names) > 0 {
			return &found{place: place, call: call, names: longest(o.names), runs: runs, sets: o.sets, open: o.open}
		}
		one := &origin{pass: s.pass, place: place, frame: f, callers: key.callers[:], runs: runs, patterns: s.patterns, callee: key.callee, loose: true}
		if one.decided(call) && one.few { // one of a few values that do not change
			return &found{place: place, call: call, names: longest(one.names), runs: runs, sets: one.sets, open: one.open, loose: true, guess: one.guess,
				few: true, file: one.file, unit: s.pass.Manifest.Unit(), chosen: s.byRequest(key.callee, true, runs)}
		}
	}
	return nil
}

// runs returns how often a call on a line ran for each unit of work; 0 when that is not known. The
// operand of a range clause is computed when the loop is reached.
func (s *search) runs(place *gocode.Place, f *site.Frame, call *ast.CallExpr) float64 {
	for _, n := range place.Enclosing(call) {
		if r, ok := n.(*ast.RangeStmt); ok && syntax.Within(r.X, call) {
			l, _ := s.pass.Counts.Loop(f.Owner.Package, f.File, f.Line)
			return l.Entries
		}
	}
	e, _ := evidence.Executions(s.pass, *f)
	return e.PerUnit
}

// longest leaves out names that are prefixes of others: of s.cfg and s.cfg.hosts it keeps the
// second.
func longest(names []string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(names))), func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
	})
}

func (f *found) describe(p *rule.Pass, m *rule.Match) {
	switch {
	case f.converts:
		f.describeText(p, m)
		return
	case f.normal:
		f.describeNormal(p, m)
		return
	}
	what := funcname.List(f.names)
	is, changed := "is", "which never changed while executions were counted"
	if len(f.names) > 1 {
		is = "are"
	}
	if f.sets > 0 {
		changed = fmt.Sprintf("set once in %s runs of the line", units.Count(int64(1/f.sets)))
	}
	runs := ""
	if unit := p.Manifest.Unit(); unit != "run" && f.runs >= 0.1 {
		runs = fmt.Sprintf(" It runs %s per %s.", evidence.Times(f.runs), unit)
	}
	if f.reads {
		f.describeFile(p, m, runs)
		return
	}
	m.Cause = fmt.Sprintf("%s gets %s, %s: it computes the same result again on every call.%s", symbol.Short(f.place.CalleeName(f.call)), what, changed, runs)
	if funcname.Match(f.place.CalleeName(f.call), "regexp.Match*") {
		m.Cause = fmt.Sprintf("%s compiles %s, %s, on every call, and discards the compiled pattern.%s", symbol.Short(f.place.CalleeName(f.call)), what, changed, runs)
	}
	if f.loose {
		f.describeMade(m, runs)
		return
	}
	m.Fix = fmt.Sprintf("Compute it once, where %s %s set, and reuse the result; copy it before changing it.", what, is)
	if m.Confidence = rule.Measured; f.open {
		m.Confidence = rule.Likely
	}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s set %s times for each run of the line", what, units.Number(f.sets))})
}
