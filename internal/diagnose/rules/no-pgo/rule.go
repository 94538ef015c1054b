// Package nopgo finds services that compute much and are built without a profile.
package nopgo

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastSamples is the minimum size of a profile to compile with: 3 s of CPU at 100 Hz.
	leastSamples = 300
	// leastShare of CPU that must be in Go code that the compiler could optimize further: not in
	// system calls, not in the runtime.
	leastShare = 0.5
)

// Rule is no-pgo.
func Rule() rule.Rule {
	return rule.Rule{
		ID:              "no-pgo",
		Kind:            rule.Config,
		SkipsBenchmarks: true,
		Setting:         true,
		Needs:           []rule.Need{rule.NeedBuild},
		Title:           "Built without a profile",
		Doc:             doc,
		Finder:          finder.Program{Judge: find},
	}
}

const doc = `With a CPU profile, the compiler inlines more of the hot calls, devirtualizes
interface calls, and lays out code by what runs. Go's documentation gives 2 to
14 % less CPU for a set of programs. The recording holds such a profile.

Save it as default.pgo in the directory of the main package, build, and record
again. Update it regularly: a profile of old code helps less.

It is fine for programs that mostly wait, and some gain nothing. The rule
reports only programs with most CPU in Go code outside of the runtime, and the
finding is a hint until it is tried. Builds take longer.

Seen in the field: buildbuddy-io/buildbuddy#5292; open-policy-agent/regal#338
(no gain); go.dev/doc/pgo.`

func find(p *rule.Pass) []rule.Match {
	if p.Code == nil || p.Code.BuildInfo() == nil || p.Code.Setting("-pgo") != "" || p.Manifest == nil {
		return nil
	}
	if p.Manifest.Target.Kind == "url" {
		return nil // built elsewhere
	}
	t := p.Table.Totals
	arranged := compiled(p.Table)
	if t.CPUSamples < leastSamples || t.TotalSeconds <= 0 || arranged < leastShare*t.TotalSeconds {
		return nil
	}
	return []rule.Match{{
		Cause:      fmt.Sprintf("The binary was built without a profile, and %s of its CPU is in compiled Go code outside of the runtime.", units.Percent(arranged/t.TotalSeconds)),
		Fix:        "Save the recording's CPU profile as default.pgo in the directory of the main package, build, and record again.",
		Confidence: rule.Hint, // the range was measured on other programs
		Saving:     &rule.Saving{Seconds: arranged * 0.08, Low: arranged * 0.02, High: arranged * 0.14},
		Evidence:   []rule.Evidence{{What: "build settings", Value: "no -pgo", Command: "go version -m BINARY"}},
	}}
}

// compiled returns the CPU, in seconds, whose leaf is Go code outside of the runtime and the
// kernel.
func compiled(table *site.Table) float64 {
	seconds := 0.0
	for _, s := range table.Sites {
		for _, r := range s.CPU {
			if r.Class == site.Work && len(r.Stack) > 0 && arrangeable(r.Stack[0]) {
				seconds += float64(r.Value) / 1e9
			}
		}
	}
	return seconds
}

func arrangeable(leaf *site.Frame) bool {
	if leaf.Owner.Kind == gocode.Main || leaf.Owner.Kind == gocode.Dependency {
		return true
	}
	return leaf.Owner.Kind == gocode.Std && !funcname.Match(leaf.Function, "runtime.*", "internal/runtime/*", "syscall.*", "internal/bytealg.*", "memeq*", "aeshash*", "crypto/internal/*", "hash/crc32.*")
}
