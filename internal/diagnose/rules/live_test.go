//go:build live

package rules_test

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/stats"
)

// leastRight is the share of the programs that rules must get right when each is run once. A CPU
// profile of a second has sixty to a hundred samples: a line of 5 % is missing from one profile in
// fifty, and a program has several lines. About 96 of a hundred are right.
const leastRight = 0.90

var budget = flag.Duration("budget", 0, "begin no further program of TestLive after this time (0: run all)")

// liveProgram is one program of a rule's test data.
type liveProgram struct {
	rule    rule.Rule
	name    string
	archive string
}

// livePrograms returns the programs that say which of their lines a rule must find, in random
// order: with a budget, each run tries other ones.
func livePrograms(t *testing.T) []liveProgram {
	var programs []liveProgram
	for _, r := range rules.All() {
		dir := filepath.Join(r.ID, "testdata")
		if len(ruletest.Wanted(t, filepath.Join(dir, "caught.txtar"), r.ID)) == 0 {
			continue // a rule without a line: its own test makes up what it needs
		}
		for _, name := range []string{"caught", "nearmiss"} {
			programs = append(programs, liveProgram{r, r.ID + "/" + name, filepath.Join(dir, name+".txtar")})
		}
	}
	rand.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
	return programs
}

// TestLive builds and runs the rules' programs, once each, and prints how many came out right. It
// fails if their share is below leastRight by more than chance explains.
func TestLive(t *testing.T) {
	programs := livePrograms(t)
	started := time.Now()
	var mu sync.Mutex
	var right, tried int64
	t.Run("programs", func(t *testing.T) {
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				if *budget > 0 && time.Since(started) > *budget {
					return
				}
				wrong := ruletest.Live(t, p.rule, p.archive)
				if wrong != "" {
					t.Log(wrong)
				}
				mu.Lock()
				defer mu.Unlock()
				tried++
				if wrong == "" {
					right++
				}
			})
		}
	})
	t.Logf("%d of %d programs right", right, tried)
	if rest := int64(len(programs)) - tried; rest > 0 && *budget > 0 {
		t.Logf("%d programs not tried: the budget of %v ended", rest, *budget)
	}
	if share := stats.Share(right, tried); share.High < leastRight {
		t.Errorf("%d of %d programs right, want %.0f %%", right, tried, 100*leastRight)
	}
}
