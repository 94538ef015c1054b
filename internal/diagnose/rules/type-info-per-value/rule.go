// Package typeinfopervalue finds code that queries a type through reflection for each of its
// values.
package typeinfopervalue

import (
	"context"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is type-info-per-value.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "type-info-per-value",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Type examined by reflection for each value",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// One lookup by type for each value remains, 10 to 30 ns in a sync.Map, while
				// reading one field and its tag takes 100 ns and more. The low end is for structs
				// of one or two fields.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A decoder, a validator or a mapper walks the fields of a struct by reflection and
reads their tags for each value that it gets: for each row, each request.
reflect.Type.Field copies a struct of 104 bytes and allocates for its index,
StructTag.Get parses the tag's text from its start, FieldByName compares names
one after the other, and what the code then does with the tag (splitting it,
making a map of columns) allocates as well. All of it depends on the type alone,
and a program has few types.

Compute it once for each reflect.Type, into a plain struct (names, indices,
options), and keep that in a sync.Map with the type as the key, as encoding/json
does; for a type that is known, in a package variable or a sync.OnceValue. Then
only reflect.Value.Field is left for each value.

It is fine where a type is examined once, and where the question costs little
more than the lookup that would replace it: asking whether one type implements
an interface may take 15 ns, as long as a sync.Map does. The rule reports calls
of these functions, and calls whose arguments consist of their results and
constants, where those of one call of the function take at least 100 ns, if that
was counted; it ignores code that reads or sets fields of values. A method that
gets a type may depend on its receiver, too: the rule reports it if it got the
same few inputs all the time and returned the same, as counted in the recording.

Seen in the field: ianlopshire/go-fixedwidth#15 (a fifth of decoding was parsing
tags), didi/gendry#128 (twice as fast with a cache), aws/aws-sdk-go#3070,
georgysavva/scany#25.`

// metadata are the functions of package reflect whose results depend only on a type, and what they
// return.
func metadata() map[string]string {
	return map[string]string{
		"reflect.(*rtype).Field*": "fields", "reflect.(*structType).Field*": "fields", "reflect.(*rtype).NumField": "fields",
		"reflect.VisibleFields": "fields", "reflect.Value.FieldByName*": "fields", "reflect.(*structType).FieldByName*": "fields",
		"reflect.StructTag.*":      "tags",
		"reflect.(*rtype).Method*": "methods", "reflect.(*rtype).NumMethod": "methods", "reflect.Value.MethodByName": "methods",
		"reflect.(*rtype).exportedMethods": "methods", "reflect.(*rtype).Implements": "methods",
	}
}

// asksFor describes what a function returns about a type.
func asksFor(function string) (string, bool) {
	for pattern, what := range metadata() {
		if funcname.Match(function, pattern) {
			return what, true
		}
	}
	return "", false
}

const (
	// leastAsked is the minimum part of a line's cost that must be in such functions: below it, the
	// line looks up results that are kept.
	leastAsked = 0.1
	// leastOfSame is the same for a method whose results are known to be the same each time.
	leastOfSame = 0.01
	// leastRuns is the minimum number of runs of a line in a program that runs and exits: below it,
	// the line may examine many types once.
	leastRuns = 100
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, lines: finder.Remember(p, look), asking: map[string]bool{}, spent: map[*ast.FuncDecl]int64{}}
	s.measure()
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

// search caches what lines query about types.
type search struct {
	pass  *rule.Pass
	lines *finder.Lines[line]
	// asking are the functions, as profiles name them, that query a type.
	asking map[string]bool
	// spent is the cost of the lines of a function that query types, in nanoseconds.
	spent map[*ast.FuncDecl]int64
}

// line is a line of a module.
type line struct {
	place *gocode.Place
	typed map[string]bool // functions, by the type checker's names, that it calls with arguments that depend only on types
	asks  map[string]bool // what it queries
	// methods are those that it calls with such arguments on any receiver, and of the one of them
	// that a recording shows to return the same each time.
	methods []*ast.CallExpr
	of      *inputs.Function
	// stores says that the line puts values that depend only on types into a map.
	stores bool
	// Nanoseconds of its calls that query a type and of those with such arguments, and the part of
	// them below a function that queries.
	cost, asked int64
}

// look returns what the source says about a line.
func look(_ *site.Frame, p *gocode.Place) *line {
	if p.Decl == nil {
		return nil
	}
	p = p.Outer()
	l := &line{place: p, typed: map[string]bool{}, asks: map[string]bool{}}
	for _, call := range syntax.Calls(p) {
		switch name := p.CalleeName(call); {
		case name == "":
		case typeOnly(p, call):
			l.typed[name] = true
		case typedMethod(p, call):
			l.methods = append(l.methods, call)
		}
	}
	l.stores = stores(p)
	return l
}

// measure adds up the cost of lines.
func (s *search) measure() {
	s.pass.EachRow(func(r *site.Row) {
		for i := 1; i < len(r.Stack); i++ {
			l := s.calls(r, i)
			if l == nil {
				continue
			}
			l.cost += r.Value
			s.spent[l.place.Decl] += r.Value
			for j := range i {
				if what, asks := asksFor(r.Stack[j].Function); asks {
					l.asks[what] = true
					s.asking[r.Stack[i].Function] = true
					l.asked += r.Value
					break
				}
			}
		}
	})
}

// calls returns the line of a frame if it calls, in that row, a function whose result depends only
// on types.
func (s *search) calls(r *site.Row, i int) *line {
	f := r.Stack[i]
	if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return nil
	}
	callee := r.Stack[i-1].Function
	_, asks := asksFor(callee)
	l := s.lines.At(f)
	if l == nil {
		return nil
	}
	if asks || l.typed[funcname.Typed(callee)] || l.typed[f.Owner.Package+"."+callee[lastDot(callee)+1:]] {
		return l
	}
	if len(l.methods) == 0 || !slices.ContainsFunc(syntax.CallsTo(l.place, callee), func(call *ast.CallExpr) bool { return slices.Contains(l.methods, call) }) {
		return nil
	}
	if l.of = s.same(callee); l.of != nil {
		return l
	}
	return nil
}

// same returns the inputs of a function that got a few of them all the time, each as often as it
// takes to show that, and returned the same for each; nil for others.
func (s *search) same(callee string) *inputs.Function {
	const (
		fewest  = 1000 // calls
		repeats = 100  // of each input: a program has few types
		equal   = 0.99 // of the results
	)
	in := s.pass.Inputs.Of(callee)
	if in == nil || in.Calls < fewest || in.Hashed < in.Calls || in.Identical == 0 || in.Identical*repeats > in.Calls ||
		2*in.Compared < in.Calls || float64(in.Same) < equal*float64(in.Compared) {
		return nil
	}
	return in
}

// caller returns the frame nearest to the root that calls a function whose result depends only on
// types: the result can be kept there.
func (s *search) caller(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		if l := s.calls(r, i); l != nil && l.examines() || s.fills(r, i) {
			return i
		}
	}
	return -1
}

// examines reports whether enough of a line's cost is in functions that query a type. Where the
// results are known to be the same, the rest of the cost is part of what need not be repeated.
func (l *line) examines() bool {
	least := leastAsked
	if l.of != nil {
		least = leastOfSame
	}
	return l.asked > 0 && float64(l.asked) >= least*float64(l.cost)
}

// fills reports whether a frame stores the results of its function's queries in a map.
func (s *search) fills(r *site.Row, i int) bool {
	f := r.Stack[i]
	if !s.asking[f.Function] || !funcname.Match(r.Stack[i-1].Function, "runtime.mapassign*") {
		return false
	}
	l := s.lines.At(f)
	return l != nil && l.stores
}

func (s *search) judge(c *finder.Case) bool {
	l := s.lines.At(&c.Site.Frame)
	if l == nil || !loops.PerCall(c.Place, c.Place.Decl.Body) || s.rare(c) || s.cheap(c) {
		return false
	}
	var what []string
	for _, w := range []string{"fields", "tags", "methods"} {
		if l.asks[w] {
			what = append(what, w)
		}
	}
	if l.asked == 0 {
		c.Cause = fmt.Sprintf("%s fills a map again for each value with data that depends on the type alone.", syntax.FuncName(c.Place))
		c.Fix = "Build the map once for each reflect.Type, and keep it in a sync.Map by type."
		return true
	}
	list := funcname.List(what)
	if l.of != nil {
		l.describeSame(c, list)
		return true
	}
	c.Cause = fmt.Sprintf("%s asks reflection for the %s of a type again for each value; the answer depends on the type alone.", syntax.FuncName(c.Place), list)
	c.Fix = fmt.Sprintf("Evaluate the %s once for each reflect.Type, and keep the result in a sync.Map by type; for a known type, in a package variable or a sync.OnceValue.", list)
	return true
}

// describeSame fills in the words for a method that gets a type and returned the same each time.
func (l *line) describeSame(c *finder.Case, list string) {
	name := symbol.Short(funcname.Typed(l.of.Name))
	c.Cause = fmt.Sprintf("%s asks reflection for the %s of a type and works its result out again on every call, though that depends on the type alone: %s calls, with %s, and the same result each time (%s results compared).",
		name, list, units.Count(l.of.Calls), evidence.Different(units.Count(l.of.Identical)), units.Count(l.of.Compared))
	c.Fix = fmt.Sprintf("Keep the result of %s in a sync.Map by reflect.Type, so that it is built once for each type; nobody may change it then.", name)
	c.Confidence, c.Callees = rule.Likely, []string{l.of.Name}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s: %s calls, with %s", name, units.Count(l.of.Calls), evidence.Different(units.Count(l.of.Identical)))})
}

// rare reports whether a line does not run for each value, as counted in the recording.
func (s *search) rare(c *finder.Case) bool {
	e, ok := evidence.Executions(s.pass, c.Site.Frame)
	return ok && s.pass.Manifest != nil && s.pass.Manifest.Unit() == "run" && e.PerUnit < leastRuns
}

// cheap reports whether all that a function asks about types in one call takes so little time that
// it is not worth looking it up by the type, as counted in the recording.
func (s *search) cheap(c *finder.Case) bool {
	e, ok := evidence.Executions(s.pass, c.Site.Frame)
	own, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(s.pass, c.Site.Frame, float64(max(own, s.spent[c.Place.Decl]))*1e-9)
	return ok && known && !evidence.ByType.Repays(each*max(1, e.PerCall))
}

// lastDot returns the index of the dot before a function's own name.
func lastDot(function string) int {
	for i := len(function) - 1; i >= 0; i-- {
		if function[i] == '.' {
			return i
		}
	}
	return -1
}
