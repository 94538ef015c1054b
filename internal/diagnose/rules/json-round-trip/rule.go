// Package jsonroundtrip finds values that are marshalled only to be unmarshalled again.
package jsonroundtrip

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is json-round-trip.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "json-round-trip",
		Kind:  rule.CPU,
		Title: "Marshalled only to be unmarshalled",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A copy by assignment costs about a hundredth of encoding, scanning and
				// reflection.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 2,
				Removes:     true,
			},
			Lines:   []finder.Line{{Start: finder.Calls{Functions: functions(), Types: typed()}, Judge: judge}},
			Prepare: helped,
		},
	}
}

// functions are those that encode or decode, as profiles name them.
func functions() []string {
	return slices.Concat(codecs.Encoders(), codecs.Decoders(), []string{"encoding/gob.(*Encoder).Encode", "go.mongodb.org/mongo-driver*/bson.Marshal", "go.mongodb.org/mongo-driver*/bson.Unmarshal"})
}

// typed are the same functions as the source names them: some packages have an interface for their
// codecs with other settings.
func typed() []string {
	return append(funcname.TypedAll(functions()), "(github.com/json-iterator/go.API).*", "(github.com/bytedance/sonic.API).*")
}

const doc = `A function encodes a value, decodes the text into another one, and has no other
use for the text. That copies the value, or converts it between two types with
the same fields, through a parser and reflection. An encoder and a decoder on one
buffer do the same; those of package gob also compile the types each time. So do
two functions of which one returns the text and the other decodes it, as in a
reader of another format that converts it to JSON to fill a struct.

Assign the fields, convert the struct (Go converts between struct types whose
fields have the same names and types, tags aside: T(v)), or write a Clone
method. For maps and slices inside that must not be shared, use maps.Clone and
slices.Clone. If the types are known only at run time, a library that maps
structs by reflection costs a fraction of that.

It is fine in tests and at startup, and where the encoding itself is the
purpose: normalizing, dropping unexported fields, testing the encoding. The rule
reports only texts that have no other use in the function.

Seen in the field: tikv/pd#8298 (a Clone through JSON: 1,961 ns, by assignment 34),
kubernetes/kubernetes#51526.`

func judge(c *finder.Case) bool {
	for _, call := range c.Calls {
		pair, ok := pairOf(c.Place, call)
		if !ok {
			continue
		}
		what := "a value"
		if len(pair.out.Args) > 0 {
			what = syntax.Text(pair.out.Args[0])
		}
		c.Cause = fmt.Sprintf("%s encodes %s on line %d, and %s decodes the text on line %d; the text has no other use.",
			symbol.Short(c.Place.CalleeName(pair.out)), what, syntax.Line(c.Place, pair.out.Pos()),
			symbol.Short(c.Place.CalleeName(pair.in)), syntax.Line(c.Place, pair.in.Pos()))
		c.Fix = "Assign the fields, or convert the struct; clone the maps and slices inside that must not be shared."
		if strings.Contains(c.Place.CalleeName(pair.out), "protobuf/proto.") {
			c.Fix = "Copy the message with proto.Clone, or proto.Merge into an empty one; between two types, assign the fields."
		}
		if len(pair.out.Args) > 0 {
			if cause, fix := again(c, pair.out.Args[0]); cause != "" {
				c.Cause, c.Fix = c.Cause+cause, fix+"assign the fields, or convert the struct."
			}
		}
		return true
	}
	return false
}
