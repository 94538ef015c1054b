package largecopy

import (
	"go/types"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const methods = `package main

import (
	"slices"
	"sort"
)

type inner struct{ n int }

func (i *inner) inc()    { i.n++ }
func (i inner) get() int { return i.n }

type large struct {
	fields [200]int
	list   []int
	in     inner
	next   *inner
}

var kept []int

func run(f func())         { f() }
func total(l large) int    { return l.in.n }
func fill(fields []int)    { fields[0] = 1 }
func (l large) a() int     { return l.fields[3] + l.in.n + len(l.fields) } //@ read field
func (l large) b() int     { return l.in.get() + total(l) } //@ read passed
func (l large) c() int     { return sort.SearchInts(l.fields[:9], 5) } //@ read search
func (l large) d() int     { return sort.Search(9, func(i int) bool { return l.fields[i] > 5 }) } //@ read literal
func (l large) e()         { l.list[0]++; l.next.inc(); l.next.n = 3; kept = l.list[:2] } //@ read behind
func (l large) f() (s int) { for _, n := range l.fields { s += n }; for range l.fields[:4] { s++ }; return s } //@ read ranges
func (l large) g() large   { return l } //@ read returned
func (l large) h()         { l.in.n = 3 } //@ write field
func (l large) i()         { l.fields[2]++ } //@ write element
func (l large) j() *int    { return &l.fields[2] } //@ write address
func (l large) k()         { l.in.inc() } //@ write method
func (l large) m()         { kept = l.fields[:] } //@ write slice
func (l large) n()         { fill(l.fields[:]) } //@ write filled
func (l large) o()         { slices.Sort(l.fields[:]) } //@ write sorted
func (l large) p()         { run(func() { println(l.in.n) }) } //@ write unknown literal
func (l large) q()         { defer func() { println(l.in.n) }() } //@ write deferred
func (l large) r()         { l = large{} } //@ write whole
func (l large) s()         { for l.in.n = range l.fields { } } //@ write key

func main() {}
`

// TestOnlyRead: a receiver is only read if nothing changes it, and nothing keeps or may change a
// part of it.
func TestOnlyRead(t *testing.T) {
	places := ruletest.Places(t, methods)
	if len(places) != 18 {
		t.Fatalf("%d methods", len(places))
	}
	for name, p := range places {
		recv := p.Object(p.Decl.Name).(*types.Func).Signature().Recv()
		if got, want := onlyRead(p.Entry(p.Decl), recv), strings.HasPrefix(name, "read"); got != want {
			t.Errorf("%s: only read: %t", name, got)
		}
	}
}
