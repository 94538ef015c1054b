package rules_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rules"
)

// mostLoops limits the number of rules that group rows in a loop of their own. A new rule is a
// finder.Line.
const mostLoops = 3

// TestKinds counts rules by the type of their finder.
func TestKinds(t *testing.T) {
	count := map[string]int{}
	for _, r := range rules.All() {
		switch r.Finder.(type) {
		case finder.Line, finder.Prepared, finder.Patterns, finder.Program, finder.Trace, finder.Groups:
			count[fmt.Sprintf("%T", r.Finder)]++
		default:
			t.Errorf("%s: a finder of an unknown kind, %T", r.ID, r.Finder)
		}
	}
	t.Log(count)
	if n := count["finder.Groups"]; n > mostLoops {
		t.Errorf("%d rules have a loop of their own, want at most %d", n, mostLoops)
	}
}
