package finder_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestDerived: what a line computes from a result alone repeats with it.
func TestDerived(t *testing.T) {
	const src = `package main

import "strings"

func split(s string) []string { return strings.Fields(s) }

func each(parts []string, f func(string) string) []string { return parts }

func count(parts []string) int { return len(parts) }

func among(parts []string, n int) bool { return n < len(parts) }

func store(parts []string) error { return nil }

func print(parts []string) {}

type list struct{ n int }

func (l *list) add(parts []string) int { l.n++; return l.n }

func main() {
	s, n, l := "a b", 3, &list{}
	_ = each(split(s), strings.ToUpper) //@ yes 1: a function is the same each time
	_ = count(each(split(s), strings.ToUpper)) //@ yes 2: the outermost call, too
	_ = among(split(s), 2) //@ yes 3: a constant
	_ = among(split(s), n) //@ no: n may differ
	_ = store(split(s)) //@ no: called for its effect
	print(split(s)) //@ no: called for its effect alone
	_ = l.add(split(s)) //@ no: a method
	parts := split(s) //@ no: no other call
	_ = parts
}
`
	for name, place := range ruletest.Places(t, src) {
		at := &site.Site{Frame: site.Frame{Function: "main.main", File: place.File.Name.Name, Line: place.Line}}
		for _, callee := range []string{"main.each", "main.count", "main.among", "main.store", "main.print", "main.(*list).add"} {
			at.CPU = append(at.CPU, &site.Row{Stack: []*site.Frame{{Function: callee}, &at.Frame}, Owner: 1})
		}
		at.CPU = append(at.CPU, &site.Row{Stack: []*site.Frame{{Function: "main.split"}, &at.Frame}, Owner: 1})
		c := &finder.Case{Match: &rule.Match{Site: at}, Pass: &rule.Pass{Table: &site.Table{Sites: []*site.Site{at}}}, Place: place}
		want := 0
		switch {
		case strings.HasPrefix(name, "yes 2"):
			want = 2
		case strings.HasPrefix(name, "yes"):
			want = 1
		}
		if u := c.Derived("main.split"); len(u.CPU) != want {
			t.Errorf("%s: %d rows, want %d", name, len(u.CPU), want)
		}
	}
}
