// Package decodedobjectperitem finds values with much memory that another package creates for each
// item, although its user reads them once and drops them.
package decodedobjectperitem

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
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
	// leastShare of the bytes that the program allocates.
	leastShare = 0.2
	// leastSize in bytes, and leastObjects, that one call allocates on average.
	leastSize, leastObjects = 256, 3
	// leastCalls per run of a program that exits, or per request or operation.
	leastCallsRun, leastCalls = 10_000, 0.9
)

// Rule is decoded-object-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "decoded-object-per-item",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Object decoded for each item and dropped, where one can be reused",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are the allocations and the growth of lists. Lists in a reused object
				// keep their capacity; what differs in size is allocated now and then.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 0.95},
				Specificity: -1, // a rule that knows what is allocated there gives better advice
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop calls a function of a package for each message, packet, document or line:
it decodes the input into a new object with parts of its own. The loop reads the
object and drops it, so that each item leaves hundreds of bytes or kilobytes for
the garbage collector. Many packages also have a type that decodes into objects
which the caller keeps: a parser, a decoder, or a method Reset.

Create one such decoder before the loop (one for each goroutine, or a sync.Pool),
and decode each item into the same object. Copy what has to outlive the item.

It is fine where objects are kept, few or small. The rule reports calls whose
allocations are a fifth of the program's bytes, if neither the object nor its
parts outlive the function that calls, and the package has a type or method by
which memory can be reused. Whether that decodes the same is for you to check.

Seen in the field: DataDog/datadog-agent#4495 and google/gopacket#457 (packets),
virtalabs/tapirx#10 (a parser for each packet).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[decoding]
}

// decoding is a call that creates an object.
type decoding struct {
	fn    *types.Func
	call  *ast.CallExpr
	other string // what the package has for reuse
	calls float64
}

// look returns the call on a line that creates an object which is dropped; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *decoding {
	if f.Owner.Kind != gocode.Main || p.Decl == nil {
		return nil
	}
	ran, ok := evidence.Executions(s.pass, *f)
	least := leastCalls
	if s.pass.Manifest.Unit() == "run" {
		least = leastCallsRun
	}
	if !ok || ran.PerUnit < least {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg || fn.Signature().Recv() != nil || !creates(fn) {
			continue
		}
		other := reuses(fn)
		if other != "" && flow.Dropped(p, call) {
			return &decoding{fn, call, other, ran.PerUnit}
		}
	}
	return nil
}

// caller returns the frame of a row at which such a call allocates.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if r.Stack[i].Owner.Kind != gocode.Main {
			continue
		}
		d := s.lines.At(r.Stack[i])
		if d != nil && (funcname.Typed(r.Stack[i-1].Function) == gocode.FullName(d.fn)) {
			return i
		}
		return -1
	}
	return -1
}

func (s *search) judge(c *finder.Case) bool {
	d := s.lines.At(&c.Site.Frame)
	if d == nil {
		return false
	}
	c.Keep(func(r *site.Row) bool {
		return slices.Contains(c.Allocs, r) || r.Class == site.Malloc || r.Class == site.Assist || r.Below("runtime.growslice*")
	})
	bytes, objects := stacks.Sum(c.Allocs)
	all := s.pass.Table.Totals.AllocBytes
	if all <= 0 || float64(bytes) < leastShare*float64(all) {
		return false
	}
	each, known := evidence.PerExecution(s.pass, c.Site.Frame, float64(bytes))
	if !known || each < leastSize || float64(objects)*each < leastObjects*float64(bytes) {
		return false
	}
	c.Confidence = rule.Likely // whether the other type decodes the same is not known
	name := d.fn.Pkg().Name() + "." + d.fn.Name()
	c.Cause = fmt.Sprintf("%s creates an object for each item, with about %s in %.0f allocations, and %s drops it when it has read it: that is %s of the bytes that the program allocates.",
		name, units.Bytes(each), each*float64(objects)/float64(bytes), syntax.FuncName(c.Place), units.Percent(float64(bytes)/float64(all)))
	c.Fix = fmt.Sprintf("Keep one object for all items (one for each goroutine, or a sync.Pool) and decode into it: see %s. Copy what has to outlive the item.", d.other)
	c.Live = nil
	return true
}

// verbs are the first words of the names of functions that decode.
var verbs = []string{"new", "decode", "parse", "read", "unmarshal", "load", "from", "open", "make"}

// creates reports whether a function returns a new object for its arguments.
func creates(fn *types.Func) bool {
	name := strings.ToLower(fn.Name())
	sig := fn.Signature()
	if sig.Params().Len() == 0 || sig.Results().Len() == 0 || !slices.ContainsFunc(verbs, func(v string) bool { return strings.HasPrefix(name, v) }) {
		return false
	}
	switch t := sig.Results().At(0).Type().Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Struct:
		return true
	case *types.Interface:
		return t.NumMethods() > 1
	}
	return false
}

// reuses returns what the package of a function has to decode into an existing object: a method of
// its result, or an exported type of the package; "" for nothing.
func reuses(fn *types.Func) string {
	result := fn.Signature().Results().At(0).Type()
	if m := method(result); m != "" {
		return "its method " + m
	}
	scope := fn.Pkg().Scope()
	best := ""
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !t.Exported() || t.IsAlias() || types.Identical(t.Type(), result) || types.IsInterface(t.Type()) {
			continue
		}
		if !strings.HasSuffix(name, "Parser") && !strings.HasSuffix(name, "Decoder") && !strings.HasSuffix(name, "Pool") {
			continue
		}
		if m := method(types.NewPointer(t.Type())); m != "" {
			best = fn.Pkg().Name() + "." + name + " with its method " + m
			if len(m) > len("Reset") {
				return best
			}
		}
	}
	return best
}

// method returns the method of a type that gets an input and fills what exists: Reset, or Decode…,
// Parse…, Unmarshal… that returns nothing but an error.
func method(t types.Type) string {
	set := types.NewMethodSet(t)
	found := ""
	for i := range set.Len() {
		m, ok := set.At(i).Obj().(*types.Func)
		if !ok || !m.Exported() || m.Signature().Params().Len() == 0 || !input(m.Signature().Params()) {
			continue
		}
		plain := m.Signature().Results().Len() <= 1
		if plain && m.Signature().Results().Len() == 1 {
			plain = types.Identical(m.Signature().Results().At(0).Type(), types.Universe.Lookup("error").Type())
		}
		for _, verb := range []string{"Reset", "Decode", "Parse", "Unmarshal"} {
			if plain && strings.HasPrefix(m.Name(), verb) && (found == "" || found == "Reset") {
				found = m.Name()
			}
		}
	}
	return found
}

// input reports whether parameters have bytes, a text or a reader.
func input(params *types.Tuple) bool {
	for v := range params.Variables() {
		if syntax.StringOrBytes(v.Type()) || strings.HasSuffix(types.TypeString(v.Type(), nil), "io.Reader") {
			return true
		}
	}
	return false
}
