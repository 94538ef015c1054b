// Package copyonheap finds copies of structs that are on the heap because their address is kept,
// where the original or a part of it would do.
package copyonheap

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

const (
	// smallest is the minimum size in bytes of a copy: smaller ones are often meant, as pointers to
	// a number in an options struct are.
	smallest = 32
	// part is the minimum size, as a multiple of the size of the fields that are needed, of a
	// struct of which only these could be on the heap.
	part = 4
)

// Rule is copy-on-heap.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copy-on-heap",
		Kind:  rule.Alloc,
		Title: "Copy of a struct on the heap because its address is kept",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `A loop copies each element of a slice into a variable, and stores or returns the
variable's address: for _, v := range xs { byID[v.ID] = &v }. Each iteration has
a variable of its own, so each element is allocated again on the heap. A function
that gets a struct as a value and takes the address of one field (&song.Date)
moves the whole struct to the heap, on every call. So does a function literal
that outlives the function and reads a field of a struct above 128 bytes.

Take the address of the element (v := &xs[i]), copy the field into a variable
of its own and take the address of that, or pass a pointer to the struct. A
pointer to an element keeps the whole slice in memory, and sees later changes of
the element.

It is fine where the copy protects from such changes. The rule leaves alone
copies that the function changes, functions that lock a mutex, slices whose
elements the function sets, and structs below 32 bytes. It reports variables
that the compiler moves to the heap.

Seen in the field: navidrome/navidrome#5342 (1 KB for each song of an answer,
for a pointer to a date), aeron-io/simple-binary-encoding#994 (elements encoded
by a method with a pointer receiver); "Making a Go program 42% faster with a one
character change" (hmarr.com, 2022).`

func judge(c *finder.Case) bool {
	p := c.Place
	words, _ := evidence.Escapes(c.Pass, c.Site)
	var v *types.Var
	for _, w := range words {
		if strings.HasPrefix(w, "moved to heap: ") {
			if v != nil {
				return false // how much each of them allocates is not known
			}
			v = syntax.OnLine(p, evidence.Escaping(w))
			if v == nil {
				return false
			}
		}
	}
	if v == nil || len(syntax.Allocating(p)) > 0 || len(c.Allocs) == 0 || !structured(v) {
		return false
	}
	size := syntax.Sizes().Sizeof(v.Type())
	if size < smallest {
		return false
	}
	u, ok := usesOf(p, v)
	if !ok {
		return false
	}
	steps, _ := evidence.EscapeFlow(c.Pass, c.Site, v.Name())
	captured := evidence.HasReason(steps, "captured by a closure")
	switch {
	case captured && u.captured > 0 && u.address == 0 && size >= part*u.captured:
		u.describeCaptured(c, v, size)
	case captured:
		return false
	case u.fields && size >= part*u.address:
		u.describeField(c, v, size)
	default:
		return element(c, v, size, u) || passed(c, v, size, u)
	}
	c.Confidence = rule.Measured
	return true
}

func (u uses) describeField(c *finder.Case, v *types.Var, size int64) {
	c.Fraction = smaller(u.address, size)
	c.Cause = fmt.Sprintf("%s on line %d takes the address of a field, so all of %s, %d bytes, is moved to the heap.", u.text, u.line, v.Name(), size)
	c.Fix = fmt.Sprintf("Copy the field into a variable of its own, and take the address of that: only %d bytes are allocated.", u.address)
}

func (u uses) describeCaptured(c *finder.Case, v *types.Var, size int64) {
	c.Fraction = smaller(u.captured, size)
	c.Cause = fmt.Sprintf("The function literal on line %d reads %d bytes of %s and outlives the function, so all of %[3]s, %d bytes, is moved to the heap: the compiler copies only up to 128 bytes into a literal.",
		u.literal, u.captured, v.Name(), size)
	c.Fix = "Copy what the literal reads into variables before it, and use these in the literal."
}

// smaller returns the share that is saved where fewer bytes are allocated as often.
func smaller(now, before int64) *rule.Fraction {
	saved := 1 - float64(now)/float64(before)
	return &rule.Fraction{Expect: 0.65 * saved, Low: 0.3 * saved, High: saved}
}

// element judges a variable that is a copy of an element of a slice.
func element(c *finder.Case, v *types.Var, size int64, u uses) bool {
	p := c.Place
	list, index := elementOf(p, v)
	if list == nil || locks(p) || sets(p, list) {
		return false
	}
	c.Cause = fmt.Sprintf("%s is a copy of an element of %s, %d bytes, and line %d takes its address: each copy is allocated on the heap, though the element is in memory already.",
		v.Name(), syntax.Text(list), size, u.line)
	text := syntax.Text(list)
	if _, call := ast.Unparen(list).(*ast.CallExpr); call {
		text = "list" // its result needs a variable
	}
	c.Fix = fmt.Sprintf("Take the address of the element: %s := &%s[%s]. It stays valid as long as it is used, and keeps the slice in memory; elements that are set later would change.", v.Name(), text, index)
	c.Confidence = rule.Likely
	return true
}

// passed judges a parameter or a receiver whose argument is in memory already.
func passed(c *finder.Case, v *types.Var, size int64, u uses) bool {
	row := stacks.Largest(c.Allocs)
	if row == nil || row.Owner < 0 || row.Owner+1 >= len(row.Stack) || !syntax.Param(c.Place, v) || locks(c.Place) {
		return false
	}
	f := row.Stack[row.Owner+1]
	at, ok := c.Pass.Syntax.At(f.File, f.Line)
	if !ok || f.Owner.Kind != gocode.Main {
		return false
	}
	call := flow.CallAbove(c.Place, at)
	if call == nil {
		return false
	}
	arg := flow.ArgumentFor(c.Place, call, v)
	if arg == nil || !inMemory(at, arg) || locks(at) {
		return false
	}
	c.Cause = fmt.Sprintf("%s, %d bytes, is passed as a value, and line %d takes its address: each call allocates a copy on the heap. %s passes %s, which is in memory already.",
		v.Name(), size, u.line, syntax.FuncName(at), syntax.Text(arg))
	c.Fix = fmt.Sprintf("Pass a pointer: make %s a *%s, which this function and its callees do not change.", v.Name(), syntax.TypeText(c.Place, v.Type()))
	c.Confidence = rule.Likely
	c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.3, High: 1}
	return true
}

func structured(v *types.Var) bool {
	if syntax.Generic(v.Type()) {
		return false
	}
	_, ok := v.Type().Underlying().(*types.Struct)
	return ok
}

// inMemory reports whether an expression names something that a pointer could refer to: an element
// of a slice, a field of it or of what a pointer refers to.
func inMemory(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return true
	case *ast.IndexExpr:
		_, slice := p.TypeOf(e.X).Underlying().(*types.Slice)
		return slice
	case *ast.SelectorExpr:
		if _, pointer := p.TypeOf(e.X).Underlying().(*types.Pointer); pointer {
			return true
		}
		return inMemory(p, e.X)
	case *ast.Ident:
		v := syntax.LocalVar(p, e)
		list, _ := elementOf(p, v)
		return list != nil && !changed(p, v)
	}
	return false
}
