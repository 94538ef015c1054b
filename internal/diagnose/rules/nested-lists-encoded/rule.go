// Package nestedlistsencoded finds answers whose elements are stored objects with long lists of
// their own, all of which are encoded again for each request.
package nestedlistsencoded

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the program's CPU that encoding the lists in the elements must take.
	leastShare = 0.25
	// leastRuns of the line per request or operation, or per run of a program that exits.
	leastRuns, leastRunsOfRun = 0.05, 100
	// levels of callers in which the value may get its type.
	levels = 3
)

// Rule is nested-lists-encoded.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "nested-lists-encoded",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Answer encodes the lists in each of its elements",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are the lists in the elements of a list. All of that if the reader needs
				// none of them, little if it needs them all.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.1, High: 0.95},
				Specificity: -1, // what else is wrong with the encoding is known better
			},
			Prepare: prepare,
		},
	}
}

const doc = `A list of hits, orders or devices is answered with the stored objects themselves,
and each of them has a list of its own: all messages of a conversation, all lines
of an order, the whole history. The encoder visits them all for each request, and
the client reads and drops what a list does not show.

Answer with a type that has the fields that the list shows, and a count instead of
the inner list; give the whole object where one is asked for. If clients do need
everything, page the answer, or keep each object's encoded form until the object
changes.

It is fine where clients need the inner lists. The rule reports answers of which
the lists in the elements take a quarter of the program's CPU, and whose elements
are objects that the program stores. It does not know what clients read: it is a
hint.

Seen in the field: vshulcz/deja-vu#3491 (all messages of each conversation that a
search found).`

// lists are functions of the encoder that encode a list or a map.
var lists = []string{"encoding/json.sliceEncoder.encode", "encoding/json.arrayEncoder.encode", "encoding/json.mapEncoder.encode"}

// encoders are functions that encode a value.
var encoders = []string{"encoding/json.Marshal*", "encoding/json.(*Encoder).Encode"}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[answer]
}

// answer is a line that passes a value with lists in its elements to an encoder.
type answer struct {
	text   string
	list   string // the outer list, "result.Hits"
	elem   types.Type
	inner  string // the list in each element
	stored string // the field that stores the elements
}

// caller returns the frame of the main module, nearest to the encoder, that gives a value with
// lists in its elements to it, for rows of these lists.
func (s *search) caller(r *site.Row) int {
	depth, at := 0, -1
	for i, f := range r.Stack {
		if funcname.Match(f.Function, lists...) {
			depth++
		}
		if funcname.Match(f.Function, encoders...) {
			at = i
		}
	}
	if depth < 2 || at < 0 {
		return -1
	}
	for i, n := at+1, 0; i < len(r.Stack) && n < levels; i++ {
		if r.Stack[i].Owner.Kind != gocode.Main {
			continue
		}
		n++
		if s.lines.At(r.Stack[i]) != nil {
			return i
		}
	}
	return -1
}

// look returns what a line passes to a function as an answer; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *answer {
	if p.Decl == nil {
		return nil
	}
	ran, ok := evidence.Executions(s.pass, *f)
	least := leastRuns
	if s.pass.Manifest.Unit() == "run" {
		least = leastRunsOfRun
	}
	if !ok || ran.PerUnit < least {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil {
			continue
		}
		params := fn.Signature().Params()
		for i, arg := range call.Args {
			if i >= params.Len() || !syntax.TakesAny(params.At(min(i, params.Len()-1)).Type()) {
				continue
			}
			if a := s.examine(p, arg); a != nil {
				return a
			}
		}
	}
	return nil
}

// examine returns the lists of a value whose type shows some in its elements.
func (s *search) examine(p *gocode.Place, arg ast.Expr) *answer {
	origin := syntax.Origin(p, arg)
	if t := p.TypeOf(arg); t == nil || types.IsInterface(t) {
		arg = origin
	}
	if lit, ok := origin.(*ast.CompositeLit); ok && anyMap(p.TypeOf(lit)) {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if a := s.examine(p, kv.Value); a != nil {
					return a
				}
			}
		}
		return nil
	}
	t := p.TypeOf(arg)
	if t == nil || types.IsInterface(t) {
		return nil
	}
	a := &answer{text: syntax.Text(arg)}
	list, elem := outer(t, 2)
	if elem == nil {
		return nil
	}
	a.elem, a.list = elem, a.text
	if list != "" {
		a.list = list
	}
	seen := map[types.Type]bool{}
	owner, inner := s.inner(elem, seen)
	if inner == "" {
		return nil
	}
	a.inner = inner
	a.stored = s.storedIn(owner)
	if a.stored == "" {
		return nil
	}
	return a
}

// anyMap reports whether a type is a map with values of any type.
func anyMap(t types.Type) bool {
	if t == nil {
		return false
	}
	m, ok := t.Underlying().(*types.Map)
	return ok && syntax.TakesAny(m.Elem())
}

// outer returns the list in a value: the value itself, or a field of a struct, with the type of its
// elements.
func outer(t types.Type, depth int) (field string, elem types.Type) {
	switch u := syntax.Pointed(t).Underlying().(type) {
	case *types.Slice:
		return "", u.Elem()
	case *types.Map:
		if depth == 2 {
			return "", u.Elem()
		}
	case *types.Struct:
		if depth == 0 {
			return "", nil
		}
		for i := range u.NumFields() {
			f := u.Field(i)
			if skipped(u.Tag(i)) || !f.Exported() {
				continue
			}
			name, elem := outer(f.Type(), depth-1)
			if elem != nil {
				if _, ok := syntax.Pointed(elem).Underlying().(*types.Struct); ok {
					if name == "" {
						name = f.Name()
					}
					return name, elem
				}
			}
		}
	}
	return "", nil
}

// inner returns the struct, of an element or embedded in it, that has a list of structs, texts or
// maps, and the name of the list.
func (s *search) inner(t types.Type, seen map[types.Type]bool) (owner types.Type, list string) {
	t = syntax.Pointed(t)
	u, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return nil, ""
	}
	seen[t] = true
	for i := range u.NumFields() {
		f := u.Field(i)
		if skipped(u.Tag(i)) || !f.Exported() && !f.Embedded() {
			continue
		}
		switch v := syntax.Pointed(f.Type()).Underlying().(type) {
		case *types.Slice:
			if b, basic := v.Elem().Underlying().(*types.Basic); !basic || b.Kind() != types.Byte {
				return t, f.Name()
			}
		case *types.Map:
			return t, f.Name()
		case *types.Struct:
			if owner, list := s.inner(f.Type(), seen); list != "" {
				if named(syntax.Pointed(f.Type())) == nil {
					owner = t
				}
				return owner, list
			}
		}
	}
	return nil, ""
}

// storedIn returns the field or package variable of the main module that has a list or map of
// objects of a type; "" for none.
func (s *search) storedIn(t types.Type) string {
	n := named(t)
	if n == nil || n.Obj().Pkg() == nil {
		return ""
	}
	of := func(v types.Type) bool {
		switch u := v.Underlying().(type) {
		case *types.Slice:
			return types.Identical(syntax.Pointed(u.Elem()), t)
		case *types.Map:
			return types.Identical(syntax.Pointed(u.Elem()), t)
		}
		return false
	}
	scope := n.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Var:
			if of(obj.Type()) {
				return name
			}
		case *types.TypeName:
			u, ok := obj.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range u.NumFields() {
				if of(u.Field(i).Type()) && !u.Field(i).Exported() {
					return name + "." + u.Field(i).Name()
				}
			}
		}
	}
	return ""
}

func (s *search) judge(c *finder.Case) bool {
	a := s.lines.At(&c.Site.Frame)
	if a == nil {
		return false
	}
	cpu := 0.
	for _, r := range c.CPU {
		cpu += float64(r.Value) / 1e9
	}
	total := s.pass.Table.Totals.TotalSeconds
	if total <= 0 || cpu < leastShare*total {
		return false
	}
	c.Confidence = rule.Hint
	elem := syntax.TypeText(c.Place, syntax.Pointed(a.elem))
	c.Cause = fmt.Sprintf("%s encodes %s with all that its elements (%s) refer to: the list %s of each element is encoded again in each answer, which takes %s of the CPU. The elements are stored in %s.",
		syntax.FuncName(c.Place), a.list, elem, a.inner, units.Percent(cpu/total), a.stored)
	c.Fix = fmt.Sprintf("Answer with a type that has the fields that the client shows, without %s, or page the answer. If clients need %s, keep the encoded form of each object until it changes.", a.inner, a.inner)
	return true
}

// named returns the named type of a type, nil for none.
func named(t types.Type) *types.Named {
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// skipped reports whether encoding/json leaves a field out.
func skipped(tag string) bool {
	return strings.Split(reflect.StructTag(tag).Get("json"), ",")[0] == "-"
}
