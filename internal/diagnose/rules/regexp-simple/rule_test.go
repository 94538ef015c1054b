package regexpsimple

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestSearchingStays: the cost of strings.Index in a call remains with strings.Contains.
func TestSearchingStays(t *testing.T) {
	row := func(ns int64, functions ...string) *site.Row {
		r := &site.Row{Value: ns, Owner: len(functions) - 1}
		for _, f := range functions {
			r.Stack = append(r.Stack, &site.Frame{Function: f})
		}
		return r
	}
	m := &rule.Match{CPU: []*site.Row{
		row(75, "internal/bytealg.IndexByteString", "strings.Index", "regexp.(*Regexp).backtrack", "regexp.(*Regexp).MatchString", "main.f"),
		row(25, "regexp.(*Regexp).backtrack", "regexp.(*Regexp).MatchString", "main.f"),
	}}
	for _, c := range []struct {
		search, replace bool
		want            float64
	}{{true, false, 0.9 / 4}, {true, true, 0.8 / 4}, {false, false, 0.95}} {
		if f := saves(m, c.search, c.replace); math.Abs(f.Expect-c.want) > 1e-9 || !f.Valid() {
			t.Errorf("searches %t, replaces %t: saves %+v, want %v", c.search, c.replace, f, c.want)
		}
	}
}
