package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	typeinfopervalue "github.com/hone-go/hone/internal/diagnose/rules/type-info-per-value"
	"github.com/hone-go/hone/internal/recording"
)

// TestTypeInfoCheaperThanLookup: a question about a type that takes as little time as a lookup by
// the type is not worth keeping, one that takes longer is. The profile has a second of CPU.
func TestTypeInfoCheaperThanLookup(t *testing.T) {
	const src = `package main

import (
	"fmt"
	"reflect"
)

var stringer = reflect.TypeFor[fmt.Stringer]()

func main() {}

func write(v reflect.Value) bool {
	return v.Type().Implements(stringer) //@ asks | reflect.(*rtype).Implements
}
`
	for _, c := range []struct {
		name   string
		runs   uint64 // in a run
		report bool
	}{
		{"14 ns", 70_000_000, false},
		{"200 ns", 5_000_000, true},
	} {
		p, names := ruletest.MadeUp(t, src)
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Runs: 1}, {Name: recording.PhaseCounts, Runs: 1}}
		p.Counts = ran(names, c.runs)
		if got := len(matchesOf(t, typeinfopervalue.Rule(), p)) > 0; got != c.report {
			t.Errorf("%s each: reported %v, want %v", c.name, got, c.report)
		}
	}
}
