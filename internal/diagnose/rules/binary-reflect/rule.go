// Package binaryreflect finds calls of binary.Read and Write that walk a type by reflection.
package binaryreflect

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is binary-reflect.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "binary-reflect",
		Kind:  rule.CPU,
		Title: "binary.Read or Write walks a struct by reflection",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// 254 ns became 101 for a struct of four fields, including the reader, which the
				// rows here leave out. With reflection alone: 48 ns became 14
				// (netsampler/goflow2#141).
				Fraction: rule.Fraction{Expect: 0.75, Low: 0.5, High: 0.95},
			},
			Start: finder.Calls{
				Functions: []string{
					"encoding/binary.Read", "encoding/binary.Write",
					"encoding/binary.Append", "encoding/binary.Encode", "encoding/binary.Decode",
				},
				Keep: own,
			},
			Judge: judge,
		},
	}
}

const doc = `binary.Read and Write, and Append, Encode and Decode of Go 1.23, have a fast
path for plain numbers and slices of them. For any other type, every call
computes its size, walks its fields by reflection, and allocates a buffer.

Read the bytes once into an array and extract the fields with
binary.LittleEndian.Uint32 and the like; to write, use AppendUint32. This takes
more code, and documents the layout.

It is fine for headers that are read once per file.

Seen in the field: aquasecurity/tracee#1407, netsampler/goflow2#140 (a quarter
of the decoder's CPU), kisielk/og-rek#5, golang/go#34471.`

// own reports whether a row is work of encoding/binary itself, not of the reader or writer.
func own(r *site.Row) bool {
	if r.Owner < 2 {
		return true
	}
	return funcname.Match(r.Stack[r.Owner-2].Function, "encoding/binary.*", "reflect.*", "runtime.*", "sync.*", "internal/sync.*")
}

func judge(c *finder.Case) bool {
	var t types.Type
	ok := c.All(func(call *ast.CallExpr) bool {
		if len(call.Args) != 3 {
			return false
		}
		t = c.Place.TypeOf(call.Args[2])
		return t != nil && (unknown(t) || !plain(t))
	})
	if !ok {
		return false
	}
	name := syntax.TypeText(c.Place, t)
	if unknown(t) { // the samples show which calls walk a struct
		c.Keep(walks)
		if len(c.CPU) == 0 {
			return false
		}
		name = "value"
	}
	verb, variant := "reads", "binary.LittleEndian.Uint32 and the like on a byte array that is read once"
	if !strings.HasSuffix(c.Name(), "Read") && !strings.HasSuffix(c.Name(), "Decode") {
		verb, variant = "writes", "binary.LittleEndian.AppendUint32 and the like to a byte slice that is written once"
	}
	c.Cause = fmt.Sprintf("%s %s a %s by reflection: every call determines its size and fields again.", symbol.Short(c.Name()), verb, name)
	c.Fix = fmt.Sprintf("Use %s (or BigEndian).", variant)
	if unknown(t) {
		c.Fix = fmt.Sprintf("Give the types that are passed here a method that uses %s (or BigEndian), and call that.", variant)
	}
	return true
}

// unknown reports whether a type is an interface or a type parameter, or points to one: a helper
// that gets values of several types.
func unknown(t types.Type) bool {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return types.IsInterface(t)
}

// walks reports whether a row is below the functions of encoding/binary that go through the fields
// of a value.
func walks(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "encoding/binary.(*decoder).*", "encoding/binary.(*encoder).*", "encoding/binary.dataSize", "encoding/binary.sizeof")
	})
}

// plain reports whether encoding/binary has a fast path for a type: predeclared numbers and
// booleans, pointers to them and slices of them (intDataSize in encoding/binary/binary.go).
func plain(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.Basic:
		return true
	case *types.Pointer:
		_, basic := types.Unalias(u.Elem()).(*types.Basic)
		return basic
	case *types.Slice:
		_, basic := types.Unalias(u.Elem()).(*types.Basic)
		return basic
	}
	return false
}
