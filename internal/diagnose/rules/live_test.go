//go:build live

package rules_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// leastRight is the share of the programs that rules must get right when each is run once. A CPU
// profile of a second has sixty to a hundred samples: a line of 5 % is missing from one profile in
// fifty, and a program has several lines. About 96 of a hundred are right.
const leastRight = 0.90

// TestLive builds and runs each rule's programs, once each, and prints how many came out right.
func TestLive(t *testing.T) {
	var mu sync.Mutex
	right, all := 0, 0
	t.Run("programs", func(t *testing.T) {
		for _, r := range rules.All() {
			for _, name := range []string{"caught", "nearmiss"} {
				archive := filepath.Join(r.ID, "testdata", name+".txtar")
				if len(ruletest.Wanted(t, filepath.Join(r.ID, "testdata", "caught.txtar"), r.ID)) == 0 {
					continue // a rule without a line: its own test makes up what it needs
				}
				t.Run(r.ID+"/"+name, func(t *testing.T) {
					t.Parallel()
					wrong := ruletest.Live(t, r, archive)
					if wrong != "" {
						t.Log(wrong)
					}
					mu.Lock()
					defer mu.Unlock()
					all++
					if wrong == "" {
						right++
					}
				})
			}
		}
	})
	t.Logf("%d of %d programs right", right, all)
	if float64(right) < leastRight*float64(all) {
		t.Errorf("%d of %d programs right, want %.0f %%", right, all, 100*leastRight)
	}
}
