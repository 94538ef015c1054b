// Package nestedjsonmethods finds JSON that is scanned again at each level of types with
// MarshalJSON or UnmarshalJSON.
package nestedjsonmethods

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastShare   = 0.02 // of all CPU, for scanning below the outermost level
	leastSamples = 8
	leastNested  = 3 // samples or objects that show methods inside of others
)

// Rule is nested-json-methods.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "nested-json-methods",
		Kind:  rule.CPU,
		Title: "JSON scanned again at each level of nested methods",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are the scanning alone. The values are still encoded or decoded, once.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `encoding/json does not trust what a MarshalJSON returns: it scans the text, and
copies it. If MarshalJSON marshals values that have a MarshalJSON too, their text
is scanned once for each level around them, so a tree of depth d costs d times
its size. UnmarshalJSON is the same in the other direction: the text of a value
is scanned to find its end, and again by the json.Unmarshal in the method.

Give the methods to leaf values only, or to the outermost type: convert a tree to
plain structs and marshal it once; unmarshal into plain structs, and convert them
afterwards.

It is fine for small values and one level. The rule reports scanning below the
outermost method that takes at least a fiftieth of all CPU, where a method that
encodes or decodes a struct, a list or a map is seen inside another one.

Seen in the field: kubernetes/kube-openapi#324, golang/go#35320,
anthropics/anthropic-sdk-go#262 (half of encoding nested parameters).`

// direction is encoding or decoding.
type direction struct {
	method  string   // of the types
	callers []string // functions of encoding/json that call it
	entries []string // functions of encoding/json that the method calls to encode or decode values inside
	inner   []string // functions of encoding/json for values that contain others
	scans   []string // functions that scan text which was, or will be, scanned at another level
	cause   string   // of the finding: the method, how often its text is scanned at most
	fix     string
}

func directions() []direction {
	return []direction{{
		method:  "MarshalJSON",
		callers: []string{"marshalerEncoder", "addrMarshalerEncoder"},
		entries: []string{"Marshal", "(*Encoder).Encode"},
		inner:   []string{"structEncoder.encode", "mapEncoder.encode", "sliceEncoder.encode", "arrayEncoder.encode"},
		scans:   []string{"appendCompact", "compact"},
		cause:   "encoding/json scans and copies the text that %s returns once more for each MarshalJSON around it, up to %d times in all here.",
		fix:     "Convert the values to plain structs without MarshalJSON and marshal them once; keep MarshalJSON for leaf values.",
	}, {
		method:  "UnmarshalJSON",
		callers: []string{"(*decodeState).array", "(*decodeState).object", "(*decodeState).literalStore", "(*decodeState).value"},
		entries: []string{"Unmarshal", "(*Decoder).Decode"},
		inner:   []string{"(*decodeState).array", "(*decodeState).object"},
		scans:   []string{"checkValid", "(*decodeState).skip"},
		cause:   "encoding/json scans the text that %s gets once more for each UnmarshalJSON around it, up to %d times in all here.",
		fix:     "Unmarshal into plain structs without UnmarshalJSON once, and convert them afterwards; keep UnmarshalJSON for leaf values.",
	}}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	var costs []*cost
	for _, d := range directions() {
		if c := observe(p, d); c.nested >= leastNested && c.samples >= leastSamples && c.share(p) >= leastShare {
			costs = append(costs, c)
		}
	}
	if len(costs) == 0 {
		return finder.Line{}
	}
	judge := func(k *finder.Case) bool {
		for _, c := range costs {
			if c.most.Line == k.Site.Line && c.most.Function == k.Site.Function && c.most.File == k.Site.File {
				c.complete(k)
				return true
			}
		}
		return false
	}
	at := func(r *site.Row) int {
		for _, c := range costs {
			if levels := c.levels(r); len(levels) > 0 && c.scanning(r, levels[0]) {
				return levels[0]
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// cost is what scanning again takes in one direction.
type cost struct {
	direction
	rows, allocs []*site.Row
	value        int64 // nanoseconds of CPU
	samples      int64
	nested       int64       // samples and objects of methods inside others that encode or decode values with parts
	deepest      int         // number of methods around scanned text
	most         *site.Frame // the line in a method below which most is scanned
}

func observe(p *rule.Pass, d direction) *cost {
	c := &cost{direction: d}
	lines := map[site.Frame]int64{}
	outermost := map[site.Frame][]*site.Row{} // rows of text that the outermost method returns, by the line that encodes it
	methods := map[string]bool{}
	look := func(r *site.Row, cpu bool) {
		levels := c.levels(r)
		switch {
		case len(levels) == 0:
			if i := c.encodes(r); cpu && i >= 0 {
				outermost[*r.Stack[i]] = append(outermost[*r.Stack[i]], r)
			}
			return
		case len(levels) > 1 && c.parts(r, levels[0]):
			c.nested += r.Count
		}
		if !c.scanning(r, levels[0]) {
			return
		}
		if !cpu {
			c.allocs = append(c.allocs, r)
			return
		}
		c.add(r)
		c.deepest = max(c.deepest, len(levels))
		at := *r.Stack[levels[0]]
		lines[at] += r.Value
		methods[at.Function] = true
		if c.most == nil || lines[at] > lines[*c.most] {
			c.most = &at
		}
	}
	p.EachRow(func(r *site.Row) { look(r, true) })
	for _, s := range p.Table.Sites {
		for _, r := range s.Allocs {
			look(r, false)
		}
	}
	c.addOutermost(p, outermost, methods)
	return c
}

func (c *cost) add(r *site.Row) {
	c.rows = append(c.rows, r)
	c.value += r.Value
	c.samples += r.Count
}

// addOutermost adds the scanning of the results of the outermost methods, for lines that encode
// only values with the methods found: without methods in the tree, those results are not scanned
// either.
func (c *cost) addOutermost(p *rule.Pass, rows map[site.Frame][]*site.Row, methods map[string]bool) {
	if c.samples == 0 || len(rows) == 0 {
		return
	}
	other := map[site.Frame]bool{}
	p.EachRow(func(r *site.Row) {
		levels := c.levels(r)
		if len(levels) == 0 {
			return
		}
		last := levels[len(levels)-1]
		for i := last + 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind != gocode.Std {
				other[*r.Stack[i]] = other[*r.Stack[i]] || !methods[r.Stack[last].Function]
				return
			}
		}
	})
	for at, rows := range rows {
		if mixed, seen := other[at]; !seen || mixed {
			continue
		}
		for _, r := range rows {
			c.add(r)
		}
	}
}

// share returns the part of all CPU that the scanning takes.
func (c *cost) share(p *rule.Pass) float64 {
	return float64(c.value) * 1e-9 / p.Table.Totals.TotalSeconds
}

// levels returns the indexes of the methods in a row's stack that encoding/json calls, innermost
// first, without those of the standard library.
func (c *cost) levels(r *site.Row) (levels []int) {
	for i := 0; i < len(r.Stack)-1; i++ {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Std && strings.HasSuffix(f.Function, "."+c.method) && in(r.Stack[i+1].Function, c.callers) {
			levels = append(levels, i)
		}
	}
	return levels
}

// scanning reports whether a row scans text below the method at an index of its stack, which calls
// encoding/json itself.
func (c *cost) scanning(r *site.Row, method int) bool {
	if method == 0 || !in(r.Stack[method-1].Function, c.entries) {
		return false
	}
	for _, f := range r.Stack[:method] {
		if in(f.Function, c.scans) {
			return true
		}
	}
	return false
}

// parts reports whether the method at an index of a row's stack has encoding/json encode or decode
// a value that contains others.
func (c *cost) parts(r *site.Row, method int) bool {
	if method == 0 || !in(r.Stack[method-1].Function, c.entries) {
		return false
	}
	for _, f := range r.Stack[:method-1] {
		if in(f.Function, c.inner) {
			return true
		}
	}
	return false
}

// encodes returns the index of the line outside of the standard library that encodes a value, if
// the row scans the result of the value's own method; -1 for others. Decoding has nothing like it.
func (c *cost) encodes(r *site.Row) int {
	scans := false
	for i := range r.Stack {
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Std {
			if scans && i > 0 && in(r.Stack[i-1].Function, c.entries) {
				return i
			}
			return -1
		}
		scans = scans || in(f.Function, c.scans[:1]) && i+1 < len(r.Stack) && in(r.Stack[i+1].Function, c.callers)
	}
	return -1
}

// in reports whether a function is one of those of encoding/json, or of a copy of that package.
func in(function string, names []string) bool {
	const path = "encoding/json."
	i := strings.LastIndex(function, path)
	if i < 0 {
		return false
	}
	for _, n := range names {
		if function[i+len(path):] == n {
			return true
		}
	}
	return false
}

func (c *cost) complete(k *finder.Case) {
	k.CPU, k.Allocs, k.Block, k.Mutex, k.Live = c.rows, c.allocs, nil, nil, nil
	k.Callees = []string{"encoding/json.*"}
	k.Cause = fmt.Sprintf(c.cause, symbol.Short(funcname.Typed(c.most.Function)), c.deepest+1)
	k.Fix = c.fix
	value, n := stacks.Sum(c.rows)
	k.Evidence = []rule.Evidence{{
		What:    "CPU that scans text of nested " + c.method + " methods",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(value)*1e-9), units.Some(float64(n), "sample")),
		Command: evidence.ListCommand(k.Pass, "cpu", c.most.Function),
	}}
}
