package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	slowinit "github.com/hone-go/hone/internal/diagnose/rules/slow-init"
	"github.com/hone-go/hone/internal/recording"
)

const initialised = `package main

import (
	"regexp"
	"sync"
)

var late = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("x+") })

var early = regexp.MustCompile("x+")

var squares = fill()

func fill() map[int]int {
	m := map[int]int{}
	for i := range 1000 {
		m[i] = i * i
	}
	return m
}

func main() {
	println(late().String(), early.String(), len(squares)) //@ main | runtime.printlock
}
`

// TestSlowInit: the initialisation of a package is reported if it takes much of a short run, with
// its most expensive declaration.
func TestSlowInit(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds float64
		runs    int
		kind    string
		pkg     string
		want    bool
	}{
		{"much of a run", 0.020, 10, "program", "example.com/madeup", true},
		{"little of a run", 0.004, 10, "program", "example.com/madeup", false},
		{"less than a millisecond", 0.0009, 1000, "program", "example.com/madeup", false},
		{"a service", 0.020, 10, "service", "example.com/madeup", false},
		{"package main, which the profile has", 0.020, 10, "program", "main", false},
		{"the standard library", 0.020, 10, "program", "net/http", false},
	} {
		pass, _ := ruletest.MadeUp(t, initialised)
		pass.Manifest.Target.Kind = c.kind
		pass.Manifest.Phases = []recording.Phase{{Name: recording.PhaseClean, Seconds: 1, Runs: c.runs}}
		pass.Manifest.Inits = []recording.Init{{Package: c.pkg, Seconds: c.seconds, AllocBytes: 5000, AllocObjects: 60}}
		matches, err := slowinit.Rule().Find(t.Context(), pass)
		if err != nil || (len(matches) == 1) != c.want {
			t.Errorf("%s: %d matches, %v", c.name, len(matches), err)
			continue
		}
		if !c.want {
			continue
		}
		m := matches[0]
		if m.Confidence != rule.Hint { // the profile has a line of the package
			t.Errorf("%s: %s", c.name, m.Confidence)
		}
		pass.Table.Sites = nil
		if unused, err := slowinit.Rule().Find(t.Context(), pass); err != nil || len(unused) != 1 || unused[0].Confidence != rule.Likely {
			t.Errorf("%s, unused: %v, %v", c.name, unused, err)
		}
		if m.Site.Line != 10 || !strings.Contains(m.Cause, "line 10 compiles regular expressions, line 12 computes values in a loop.") || m.Saving.Latency != 0.1 {
			t.Errorf("%s: line %d, %+v: %s %s", c.name, m.Site.Line, *m.Saving, m.Cause, m.Fix)
		}
	}
}
