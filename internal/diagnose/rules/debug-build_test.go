package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	debugbuild "github.com/hone-go/hone/internal/diagnose/rules/debug-build"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// debugBuildFind runs the rule on a table and build information.
func debugBuildFind(t *testing.T, table *site.Table, info string) []rule.Match {
	t.Helper()
	code, err := gocode.Open(t.Context(), gocode.Config{BuildInfo: info})
	if err != nil {
		t.Fatal(err)
	}
	return matchesOf(t, debugbuild.Rule(), &rule.Pass{Table: table, Code: code})
}

func TestDebugBuildSettings(t *testing.T) {
	table := &site.Table{}
	table.Totals.TotalSeconds = 10
	const head = "go\tgo1.26.0\npath\texample.com/app\nmod\texample.com/app\t(devel)\t\n"
	for build, want := range map[string]string{
		"":                                        "",
		"build\t-compiler=gc\n":                   "",
		"build\t-gcflags=-d=ssa/check_bce\n":      "",
		"build\t-race=true\n":                     "-race",
		"build\t-asan=true\n":                     "-asan",
		"build\t-cover=true\n":                    "-cover",
		"build\t-gcflags=\"all=-N -l\"\n":         "-gcflags=all=-N -l",
		"build\t-gcflags=-l\n":                    "-gcflags=-l",
		"build\t-race=false\nbuild\t-tags=race\n": "",
	} {
		matches := debugBuildFind(t, table, head+build)
		if want == "" {
			if len(matches) > 0 {
				t.Errorf("%q: %s", build, matches[0].Cause)
			}
			continue
		}
		if len(matches) != 1 || !strings.Contains(matches[0].Cause, want+",") {
			t.Errorf("%q: %v", build, matches)
			continue
		}
		if s := matches[0].Saving; s.Low <= 0 || s.Low >= s.Seconds || s.Seconds >= s.High || s.High > 10 {
			t.Errorf("%q: %+v", build, *s)
		}
	}
}

// TestDebugBuildPrograms: the same program is not a debug build when ruletest builds it normally;
// with the setting it is one.
func TestDebugBuildPrograms(t *testing.T) {
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "debug-build/testdata/"+name+".txtar")
		r := debugbuild.Rule()
		matches, err := r.Find(t.Context(), p)
		if err != nil || len(matches) > 0 {
			t.Errorf("%s: %v, %v", name, matches, err)
		}
		info := "go\tgo1.26.0\npath\texample.com/app\nbuild\t-race=true\n"
		if name == "nearmiss" {
			info = "go\tgo1.26.0\npath\texample.com/app\nbuild\t-ldflags=-X main.race=true\n"
		}
		if got := debugBuildFind(t, p.Table, info); (len(got) > 0) != (name == "caught") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
