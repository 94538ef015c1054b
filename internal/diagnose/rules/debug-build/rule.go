// Package debugbuild finds binaries whose profiles measure the instrumentation of a debug build.
package debugbuild

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// Rule is debug-build.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "debug-build",
		Kind:    rule.Config,
		Setting: true,
		Needs:   []rule.Need{rule.NeedBuild},
		Title:   "Debug build: the profile measures the instrumentation",
		Doc:     doc,
		Finder:  finder.Program{Judge: find},
	}
}

const doc = `The race detector makes a program two to twenty times slower, the address and
memory sanitizers two to three times; -gcflags=-N -l switches optimisation and
inlining off; -cover counts every block. All costs change, and not by the same
factor: a profile of such a build says little about the release build.

Build without the flag and record again before you act on anything else in the
report.

It is fine in tests, and in production while a race is being hunted.

Seen in the field: the race detector's manual
(go.dev/doc/articles/race_detector) gives 2 to 20 times the time and 5 to 10
times the memory.`

// build is a kind of instrumented build and the share of CPU that it costs.
type build struct {
	what string
	// share of the recording's CPU that the flag costs: 1 - 1/slowdown.
	share rule.Fraction
}

func find(p *rule.Pass) []rule.Match {
	if p.Code == nil {
		return nil
	}
	var matches []rule.Match
	for _, b := range instrumented(p.Code.Setting) {
		total := p.Table.Totals.TotalSeconds
		matches = append(matches, rule.Match{
			Cause:      fmt.Sprintf("The binary was built with %s, so the profile mostly measures the instrumentation.", b.what),
			Fix:        fmt.Sprintf("Build without %s and record again. Ignore the other findings until then.", b.what),
			Confidence: rule.Likely, // the flag is certain, its cost here is not
			Saving:     &rule.Saving{Seconds: total * b.share.Expect, Low: total * b.share.Low, High: total * b.share.High},
			Evidence:   []rule.Evidence{{What: "build setting", Value: b.what, Command: "go version -m BINARY"}},
		})
	}
	return matches
}

// instrumented returns the settings of a build that distort its figures.
func instrumented(setting func(string) string) (builds []build) {
	if setting("-race") == "true" {
		builds = append(builds, build{"-race", rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95}})
	}
	for _, sanitizer := range []string{"-asan", "-msan"} {
		if setting(sanitizer) == "true" {
			builds = append(builds, build{sanitizer, rule.Fraction{Expect: 0.6, Low: 0.4, High: 0.75}})
		}
	}
	if flags := strings.Fields(setting("-gcflags")); unoptimised(flags) {
		builds = append(builds, build{"-gcflags=" + strings.Join(flags, " "), rule.Fraction{Expect: 0.5, Low: 0.2, High: 0.8}})
	}
	if setting("-cover") == "true" {
		builds = append(builds, build{"-cover", rule.Fraction{Expect: 0.12, Low: 0.02, High: 0.2}})
	}
	return builds
}

// unoptimised reports whether compiler flags switch optimisation or inlining off.
func unoptimised(flags []string) bool {
	for _, f := range flags {
		if _, after, ok := strings.Cut(f, "="); ok && strings.HasPrefix(after, "-") { // all=-N
			f = after
		}
		if f = strings.Trim(f, `"'`); f == "-N" || f == "-l" {
			return true
		}
	}
	return false
}
