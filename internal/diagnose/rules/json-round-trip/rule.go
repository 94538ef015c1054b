// Package jsonroundtrip finds values that are marshalled only to be unmarshalled again.
package jsonroundtrip

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
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
			Lines:   []finder.Line{{Start: finder.Calls{Functions: codecs}, Judge: judge}},
			Prepare: helped,
		},
	}
}

// codecs are calls that encode or decode, as profiles name them.
var codecs = []string{
	"encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.Unmarshal",
	"encoding/json.(*Encoder).Encode", "encoding/json.(*Decoder).Decode", "encoding/gob.(*Encoder).Encode", "encoding/gob.(*Decoder).Decode",
	"encoding/xml.(*Encoder).Encode", "encoding/xml.(*Decoder).Decode", "gopkg.in/yaml%2ev2.Marshal", "gopkg.in/yaml%2ev2.Unmarshal",
	"gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml%2ev3.Unmarshal", "encoding/xml.Marshal", "encoding/xml.Unmarshal",
	"github.com/vmihailenco/msgpack/v5.Marshal", "github.com/vmihailenco/msgpack/v5.Unmarshal", "go.mongodb.org/mongo-driver/bson.Marshal",
	"go.mongodb.org/mongo-driver/bson.Unmarshal", "github.com/goccy/go-json.Marshal", "github.com/goccy/go-json.Unmarshal",
	"github.com/json-iterator/go.Marshal", "github.com/json-iterator/go.Unmarshal", "github.com/bytedance/sonic.Marshal", "github.com/bytedance/sonic.Unmarshal",
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
			funcname.Short(c.Place.CalleeName(pair.out)), what, syntax.Line(c.Place, pair.out.Pos()),
			funcname.Short(c.Place.CalleeName(pair.in)), syntax.Line(c.Place, pair.in.Pos()))
		c.Fix = "Assign the fields, or convert the struct; clone the maps and slices inside that must not be shared."
		if len(pair.out.Args) > 0 {
			if cause, fix := again(c, pair.out.Args[0]); cause != "" {
				c.Cause, c.Fix = c.Cause+cause, fix+"assign the fields, or convert the struct."
			}
		}
		return true
	}
	return false
}
