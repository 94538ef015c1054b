package rules_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// ownTest are the rules whose programs have a test of their own, ID_test.go, because a comment in a
// program cannot express what they report.
var ownTest = []string{
	"body-not-closed", "costly-line", "debug-build", "false-sharing", "few-workers", "gc-assist-latency", "gc-cpu-spare-memory", "goroutine-leak",
	"kdf-per-request", "leak-growth", "limit-thrash", "newer-release", "no-pgo", "old-go", "pointer-dense-live", "pool-wait", "procs-over-quota",
	"sched-latency", "semaphore-wait", "serial-section", "slow-init", "stack-scan", "tiny-heap",
}

// TestCaught: each rule finds the lines of its program that are marked for it, and no others.
func TestCaught(t *testing.T) {
	for _, r := range rules.All() {
		if slices.Contains(ownTest, r.ID) {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			ruletest.Caught(t, r, r.ID)
		})
	}
}

// TestNearMisses: in a program that only looks like the mistake, its rule reports nothing, and no
// other rule reports more than a hint.
func TestNearMisses(t *testing.T) {
	for _, r := range rules.All() {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			archive := filepath.Join(r.ID, "testdata", "nearmiss.txtar")
			pass := ruletest.RecordFor(t, r, archive)
			if !slices.Contains(ownTest, r.ID) {
				ruletest.Compare(t, r, pass, nil)
			}
			reportsNothing(t, pass, r.ID)
		})
	}
}

// allowed are findings above a hint that near misses may have: "PROGRAM RULE", and why.
var allowed = map[string]string{
	"costly-line concat-loop":                "that another rule explains the line is what makes it the near miss",
	"pass-per-pattern repeated-work":         "its programs handle the same few texts again",
	"io-in-loop scratch-per-call":            "its fake driver does make and drop memory for each statement",
	"file-state-per-record io-in-loop":       "it asks about many files in a loop, each a different one",
	"context-per-item file-state-per-record": "its stand-in for a call that waits is Stat of a pipe",
	"sql-prepare-per-query scratch-per-call": "the same driver",
	"variable-size-make copy-to-read":        "the caller of copied only reads the copy",
	"sort-unchanged sort-for-few":            "its list changes between two sorts, of which only the middle is read",
	"quadratic-insert byte-loop":             "it does append the elements of a list one by one, which is not quadratic",
	"semaphore-wait few-workers":             "its two workers set no limit, but they are too few",
	"repeated-work slice-growth":             "its pages grow row by row",
	"metric-label-per-call rwmutex-readers":  "its metrics client looks one child up under such a lock",
}

func reportsNothing(t *testing.T, pass *rule.Pass, program string) {
	t.Helper()
	report, err := diagnose.Run(t.Context(), pass, diagnose.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Confidence == rule.Hint {
			continue
		}
		if _, ok := allowed[program+" "+f.Rule]; !ok {
			t.Errorf("%s accuses %s:%d [%s]: %s", f.Rule, f.File, f.Line, f.Confidence, f.Cause)
		}
	}
}
