// Package documentedcost finds hot calls of functions whose documentation says that they are
// expensive, or that what they create is to be kept.
package documentedcost

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastCPU and leastBytes are the minimum shares of CPU or of the allocated bytes below a call.
	leastCPU, leastBytes = 0.1, 0.2
	// mostQuoted is the number of bytes up to which a sentence is quoted.
	mostQuoted = 180
)

// Rule is documented-cost.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "documented-cost",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Call that its documentation calls expensive",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The alternative has a cost of its own, which nobody has measured.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.2, High: 1},
				Specificity: -3, // a rule that knows the call gives better advice
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Authors of packages write in the documentation of a function when it is
expensive: that it is slow for large inputs, that it needs much memory if the
size is unknown, that its result should be created once and reused, and which
other function is for frequent calls. Whoever calls it from a handler or a loop
often has not read that, or did not expect to call it so often.

Do what the sentence says: use the function that it names, create the object
once, or call the function less often and keep its result.

It is fine where the call is needed that often and there is nothing cheaper. The
rule reads the documentation of functions of other modules, and of the types
that they create. It reports calls that run for at least one request in twenty,
or a hundred times in each run of a program that exits, with at least a tenth of
CPU or a fifth of the allocated bytes. If the sentence is about an argument, the
call must have it.

Seen in the field: minio/minio-go#1473 (an upload of unknown size allocated
700 MB for 30 KB), mvdan/xurls#31 (patterns compiled by each call).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Syntax == nil || p.Counts == nil {
		return finder.Line{}
	}
	s := search{pass: p, reader: newReader(), known: map[string][]*advice{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

// search caches what the documentation of functions says.
type search struct {
	pass   *rule.Pass
	reader *reader
	known  map[string][]*advice // by the name of the function in profiles
}

// caller returns the frame of a row nearest to its root that calls such a function of another
// module.
func (s *search) caller(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		f, callee := r.Stack[i], r.Stack[i-1]
		if modular(f) && modular(callee) && callee.Owner.Module != f.Owner.Module && len(s.of(callee)) > 0 {
			return i
		}
	}
	return -1
}

// modular reports whether the function of a frame belongs to a module, not to the standard library.
func modular(f *site.Frame) bool {
	return f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency
}

// of returns what the documentation of the function of a frame says about its cost.
func (s *search) of(f *site.Frame) []*advice {
	known, seen := s.known[f.Function]
	if seen {
		return known
	}
	if place, ok := s.pass.Syntax.At(f.File, f.Line); ok {
		known = s.read(place.Outer())
	}
	s.known[f.Function] = known
	return known
}

func (s *search) read(place *gocode.Place) (all []*advice) {
	if place.Decl == nil || !ast.IsExported(place.Decl.Name.Name) {
		return nil
	}
	fn, ok := place.Info.Defs[place.Decl.Name].(*types.Func)
	if !ok {
		return nil
	}
	for i, text := range documentation(place, fn) {
		a := s.reader.read(text, fn.Name())
		if a == nil || i > 0 && a.kind != reuse { // a type may be slow for other reasons
			continue
		}
		a.instead = s.reader.alternative(fn, a.around)
		all = append(all, a)
	}
	return all
}

func (s *search) judge(c *finder.Case) bool {
	if !s.expensive(c) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		for _, call := range syntax.CallsTo(c.Place, name) {
			e, ok := evidence.ExecutionsAt(s.pass, c.Place, call.Pos())
			if !ok || !evidence.Hot(s.pass, e) || !loops.PerCall(c.Place, call) {
				continue
			}
			for _, a := range s.known[name] {
				if s.reader.applies(c.Place, call, a) {
					s.describe(c, call, a, e.PerUnit)
					return true
				}
			}
		}
	}
	return false
}

// expensive reports whether a line costs enough.
func (s *search) expensive(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	bytes, _ := stacks.Sum(c.Allocs)
	t := s.pass.Table.Totals
	return float64(nanoseconds)*1e-9 >= leastCPU*max(t.TotalSeconds, 1e-9) || float64(bytes) >= leastBytes*max(float64(t.AllocBytes), 1)
}

func (s *search) describe(c *finder.Case, call *ast.CallExpr, a *advice, runs float64) {
	quoted := strings.TrimSuffix(a.sentence, ".")
	if len(quoted) > mostQuoted {
		words := strings.ToValidUTF8(quoted[:mostQuoted], "")
		if end := strings.LastIndexByte(words, ' '); end > 0 {
			words = words[:end]
		}
		quoted = words + " …"
	}
	name := symbol.Short(c.Place.CalleeName(call))
	c.Cause = fmt.Sprintf("%s runs %s per %s, and its documentation says: %q.", name, evidence.Times(runs), s.pass.Manifest.Unit(), quoted)
	switch {
	case a.kind == reuse:
		c.Fix = "Create it once, in a variable or a field, and use it for all calls; if it depends on an argument, keep one for each value in a map."
	case a.kind == memory:
		c.Fix = "Give it what it lacks to need less memory, such as the size of the input or an option with a smaller size of its buffers."
	case a.instead != "":
		c.Fix = fmt.Sprintf("Use %s, which the same documentation names, if it does what this call needs.", a.instead)
	default:
		c.Fix = "Call it once and keep the result for as long as it is valid, or call it only where the result is needed."
	}
	c.Confidence = rule.Likely
}
