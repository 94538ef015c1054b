// Package decodedunusedfields finds records that are decoded whole although the program uses few of
// their fields.
package decodedunusedfields

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostUsed is the share of a record's parts, see weight, that may be used.
const mostUsed = 0.4

// Rule is decoded-unused-fields.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "decoded-unused-fields",
		Kind:  rule.CPU,
		Title: "Whole record decoded to use a few of its fields",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The decoder still has to find the end of what it skips. The high end is for
				// fields that are kept on their own.
				Fraction: rule.Fraction{Expect: 0.5, Low: 0.15, High: 0.95},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A list shows the name and the date of each record, and for that decodes all of
it: its history, its readings, its attachments. Slices, maps and texts are
allocated for fields that nobody reads.

Decode into a struct that has only the fields that are read: the decoder skips the
others without allocating for them. Where records are stored by the program, keep
these fields on their own, in columns or in a small record beside the large one.

It is fine where the value is passed on, changed and stored again, or validated.
The rule follows a decoded variable through the functions of the program, and
reports a struct with slices or maps that are never read, if what is read is less
than two fifths of its parts.

Seen in the field: kubernetes-sigs/gateway-api-inference-extension#1359 (a tenth
of the memory and half of the time), argoproj/argo-cd#29378.`

// decoders are functions that fill a value from a text, as profiles name them, with the index of
// their argument for it.
func decoders() []string {
	return []string{
		"encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode", "encoding/xml.Unmarshal", "encoding/xml.(*Decoder).Decode", "encoding/gob.(*Decoder).Decode",
		"encoding/json/v2.Unmarshal*", "gopkg.in/yaml*.Unmarshal", "gopkg.in/yaml*.(*Decoder).Decode", "sigs.k8s.io/yaml.Unmarshal",
		"github.com/goccy/go-json.Unmarshal", "github.com/goccy/go-json.(*Decoder).Decode", "github.com/goccy/go-yaml.Unmarshal",
		"github.com/json-iterator/go.(*frozenConfig).Unmarshal", "github.com/json-iterator/go.Unmarshal", "github.com/segmentio/encoding/json.Unmarshal",
		"github.com/bytedance/sonic.Unmarshal", "github.com/vmihailenco/msgpack*.Unmarshal", "github.com/vmihailenco/msgpack*.(*Decoder).Decode",
		"github.com/fxamacker/cbor*.Unmarshal", "go.mongodb.org/mongo-driver*.Unmarshal",
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	names := append(decoders(), codecs.Binders()...)
	typed := append(funcname.TypedAll(decoders()), "(github.com/json-iterator/go.API).Unmarshal")
	typed = append(typed, codecs.TypedBinders()...)
	records := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *record { return recordAt(p, place, typed) })
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if funcname.Match(r.Stack[i-1].Function, names...) && r.Stack[i].Owner.Kind == gocode.Main && records.At(r.Stack[i]) != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		rec := records.At(&c.Site.Frame)
		if rec == nil {
			return false
		}
		rec.describe(c)
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// record is a variable of struct type that a line decodes.
type record struct {
	name, typ    string
	used, unused []string // fields, in their order
}

// recordAt returns the record that a line decodes, if the program uses few of its parts and leaves
// slices or maps of it unread.
func recordAt(p *rule.Pass, place *gocode.Place, decoders []string) *record {
	calls := syntax.CallsOf(place, decoders...)
	if len(calls) != 1 || len(calls[0].Args) == 0 {
		return nil
	}
	call := calls[0]
	target := ast.Unparen(call.Args[len(call.Args)-1])
	if len(call.Args) > 2 {
		target = ast.Unparen(call.Args[1]) // options follow
	}
	if addr, ok := target.(*ast.UnaryExpr); ok {
		target = ast.Unparen(addr.X)
	}
	v := syntax.LocalVar(place, target)
	if v == nil {
		return nil
	}
	st := structOf(v.Type())
	if st == nil {
		return nil
	}
	r := &reader{pass: p, except: call, fields: map[string]bool{}}
	if !r.read(place, v, levels) || len(r.fields) == 0 {
		return nil
	}
	rec := &record{name: syntax.Text(target), typ: syntax.TypeText(place, v.Type())}
	used, all, list := 0, 0, false
	for f := range st.Fields() {
		if !f.Exported() {
			continue
		}
		w := weight(f.Type(), 3)
		all += w
		if r.fields[f.Name()] {
			used += w
			rec.used = append(rec.used, f.Name())
		} else {
			rec.unused = append(rec.unused, f.Name())
			list = list || holdsMany(f.Type())
		}
	}
	if !list || float64(used) > mostUsed*float64(all) {
		return nil
	}
	return rec
}

// structOf returns the struct of a type or of what it points at; nil for others.
func structOf(t types.Type) *types.Struct {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	st, _ := t.Underlying().(*types.Struct)
	return st
}

// weight estimates how much of a text a field takes: fields of structs count one each, and elements
// of slices and maps are taken to be several.
func weight(t types.Type, depth int) int {
	if depth == 0 {
		return 1
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		n := 0
		for f := range u.Fields() {
			if f.Exported() {
				n += weight(f.Type(), depth-1)
			}
		}
		return max(n, 1)
	case *types.Pointer:
		return weight(u.Elem(), depth-1)
	case *types.Slice:
		return 4 * weight(u.Elem(), depth-1)
	case *types.Map:
		return 4 * (1 + weight(u.Elem(), depth-1))
	}
	return 1
}

// holdsMany reports whether a type is, or contains, a slice of anything but bytes, or a map.
func holdsMany(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return !ok || b.Kind() != types.Byte
	case *types.Map:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && holdsMany(f.Type()) {
				return true
			}
		}
	}
	return false
}

func (r *record) describe(c *finder.Case) {
	c.Cause = fmt.Sprintf("%s is decoded whole, as a %s, and the program reads only %s of it; %s and what is in them are decoded and allocated for nothing.",
		r.name, r.typ, funcname.List(r.used), few(r.unused))
	c.Fix = fmt.Sprintf("Decode into a struct that has only %s, so that the decoder skips the other fields; or store these fields on their own, in columns or in a small record beside the large one.", funcname.List(r.used))
	c.Confidence = rule.Likely // decoding may be there to check the text
	if words := evidence.Runs(c.Pass, c.Site.Frame, c.Site.Cost); words != "" {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: words})
	}
}

// few lists names, the first four of them.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return funcname.List(names)
	}
	return fmt.Sprintf("%s and %d more fields", strings.Join(slices.Clone(names[:most]), ", "), len(names)-most)
}
