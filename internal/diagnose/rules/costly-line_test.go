package rules_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestCostlyLine runs all rules, because this rule reports what the others leave.
func TestCostlyLine(t *testing.T) {
	for _, name := range []string{"caught", "nearmiss"} {
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join("costly-line", "testdata", name+".txtar")
			pass := ruletest.Record(t, archive)
			report, err := diagnose.Run(t.Context(), pass, diagnose.Choice{})
			if err != nil {
				t.Fatal(err)
			}
			checkGeneric(t, report)
			got := map[string]diagnose.Finding{}
			named := 0
			for _, f := range report.Findings {
				t.Logf("%d %s %s:%d: %s", f.Rank, f.Rule, f.File, f.Line, f.Cause)
				if !f.Generic {
					named++
					continue
				}
				for _, s := range f.Sites {
					got[fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)] = f
				}
			}
			if named == 0 {
				t.Error("no named finding beside the generic ones")
			}
			want := ruletest.Wanted(t, archive, "costly-line")
			for line := range want {
				if _, ok := got[line]; !ok {
					t.Errorf("%s: not found", line)
				}
			}
			if name == "nearmiss" && len(got) > 0 {
				t.Errorf("what another rule explains is reported again: %v", got)
			}
			if name == "caught" {
				checkWords(t, report)
			}
		})
	}
}

// checkGeneric: generic findings are hints after all others, and promise nothing.
func checkGeneric(t *testing.T, r *diagnose.Report) {
	t.Helper()
	generic := false
	for _, f := range r.Findings {
		if generic && !f.Generic {
			t.Errorf("%s comes after a line without a known mistake", f.Rule)
		}
		if generic = f.Generic; generic && (f.Saving != nil || f.Confidence != rule.Hint || len(f.TiedWith) > 0 || f.Cost.WithGC == nil) {
			t.Errorf("%+v", f)
		}
	}
}

// checkWords: the compiler's reason, the module and the line that calls it are reported.
func checkWords(t *testing.T, r *diagnose.Report) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if !f.Generic {
			continue
		}
		said := f.Cause // of the most expensive line; the evidence covers the others
		for _, e := range f.Evidence {
			said += " " + e.Value
		}
		switch seen[f.Function] = true; f.Function {
		case "main.move":
			if f.Kind != rule.Alloc || !strings.Contains(said, "moved to heap: q") {
				t.Errorf("%s %s", f.Kind, said)
			}
		case "example.com/dep.Frame":
			if f.Entry == nil || f.Entry.Function != "main.main" || f.Module != "example.com/dep" || !strings.Contains(said, "make([]byte, n) escapes to heap: returned") {
				t.Errorf("entry %v, module %s: %s", f.Entry, f.Module, said)
			}
		case "main.mix":
			if f.Kind != rule.CPU || f.Cost.AllocBytesShare == nil || *f.Cost.AllocBytesShare != 0 {
				t.Errorf("%s %v", f.Kind, f.Cost.AllocBytesShare)
			}
		}
	}
	for _, f := range []string{"main.move", "example.com/dep.Frame", "main.mix"} {
		if !seen[f] {
			t.Errorf("nothing about %s", f)
		}
	}
}
