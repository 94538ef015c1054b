package diagnose

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// TestUnexplainedWaits: a line where requests wait is left out if known mistakes explain half of
// the wait.
func TestUnexplainedWaits(t *testing.T) {
	wait := func(generic bool, seconds, latency float64) *claim {
		return &claim{rule: rule.Rule{Generic: generic}, match: rule.Match{Saving: &rule.Saving{Cost: seconds, Latency: latency}}}
	}
	for name, c := range map[string]struct {
		by   *claim
		left int
	}{
		"explained":         {wait(false, 6, 20), 1},
		"a small part":      {wait(false, 4, 20), 2},
		"of the CPU":        {wait(false, 9, 0), 2},
		"another one of it": {wait(true, 10, 20), 2},
	} {
		if got := (&engine{}).unexplained([]*claim{wait(true, 10, 20), c.by}); len(got) != c.left {
			t.Errorf("%s: %d claims left, want %d", name, len(got), c.left)
		}
	}
}
