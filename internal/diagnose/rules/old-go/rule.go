// Package oldgo finds binaries built by a Go release whose successors make programs cheaper.
package oldgo

import (
	"fmt"
	"go/version"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is old-go.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "old-go",
		Kind:    rule.Config,
		Setting: true,
		Needs:   []rule.Need{rule.NeedBuild},
		Title:   "Built by an older Go release",
		Doc:     doc,
		Finder:  finder.Program{Judge: find},
	}
}

const doc = `According to their release notes, two recent releases made programs cheaper to
run: Go 1.24 (new maps, allocation of small objects, a new mutex) saves 2 to 3 %
of CPU in a set of benchmarks; Go 1.26 (the Green Tea collector by default)
saves 10 to 40 % of the collector's CPU in programs that collect much.

Build with a newer toolchain and record again: hone diff shows the effect.
Independently of the toolchain, the go line in go.mod selects the behaviour of
the libraries.

It is fine where a platform or a certification requires an older release. The
figures are of other programs, so the finding is a hint until it is tried.

Seen in the field: aquasecurity/tracee#4615; go.dev/doc/go1.24 and
go.dev/doc/go1.26.`

// gain is what the release notes say that a release saves.
type gain struct {
	release string
	what    string
	// of the collector's CPU, else of all CPU.
	collector bool
	share     rule.Fraction
}

func gains() []gain {
	return []gain{
		{"go1.24", "maps, small objects and mutexes", false, rule.Fraction{Expect: 0.025, Low: 0.01, High: 0.04}},
		{"go1.26", "the collector", true, rule.Fraction{Expect: 0.2, Low: 0.1, High: 0.4}},
	}
}

func find(p *rule.Pass) []rule.Match {
	built := release(p.Code, p)
	if built == "" {
		return nil
	}
	var saving rule.Saving
	var news []string
	for _, g := range gains() {
		if version.Compare(built, g.release) >= 0 {
			continue
		}
		seconds := p.Table.Totals.CPUSeconds
		if g.collector {
			seconds = p.Table.GCWork().Value
			saving.Collector += seconds * g.share.Expect
		}
		if !(seconds > 0) {
			continue
		}
		saving.Seconds += seconds * g.share.Expect
		saving.Low += seconds * g.share.Low
		saving.High += seconds * g.share.High
		news = append(news, fmt.Sprintf("%s (Go %s)", g.what, strings.TrimPrefix(g.release, "go")))
	}
	if len(news) == 0 {
		return nil
	}
	return []rule.Match{{
		Cause:      fmt.Sprintf("The binary was built by Go %s. Later releases made %s cheaper.", strings.TrimPrefix(built, "go"), funcname.List(news)),
		Fix:        "Build with a newer toolchain, record again and compare (hone diff).",
		Confidence: rule.Hint, // the release notes are about other programs
		Saving:     &saving,
		Evidence:   []rule.Evidence{{What: "release of the binary", Value: built, Command: "go version BINARY"}},
	}}
}

// release returns the Go release that built the program, "go1.23.4"; "" when it is unknown or a
// development version.
func release(code *gocode.Index, p *rule.Pass) string {
	v := ""
	if p.Manifest != nil {
		v = p.Manifest.Runtime.Go
	}
	if code != nil && v == "" && code.BuildInfo() != nil {
		v = code.BuildInfo().GoVersion
	}
	v, _, _ = strings.Cut(v, " ") // "go1.24.1 X:experiment"
	if !version.IsValid(v) {
		return ""
	}
	return v
}
