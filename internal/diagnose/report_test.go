package diagnose_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestReal runs all rules on a real program with several nested mistakes: every marked line is
// found by its rule and by no other, and the charges do not exceed what was spent.
func TestReal(t *testing.T) {
	const archive = "testdata/many.txtar"
	pass := ruletest.Record(t, archive)
	report, err := diagnose.Run(t.Context(), pass, diagnose.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	var cpu, bytes, saved float64
	for _, f := range report.Findings {
		if f.Generic {
			continue // what the mistakes leave
		}
		t.Logf("%d %s %s %s %+v", f.Rank, f.Rule, f.Function, f.Cause, f.Saving)
		for _, s := range f.Sites {
			got[fmt.Sprintf("%s %s:%d", f.Rule, s.File, s.Line)] = true
			if s.Source == "" {
				t.Errorf("%s: line %d has no source", f.Rule, s.Line)
			}
		}
		for _, small := range f.Also { // too small to be on the page separately
			for _, s := range small.Sites {
				got[fmt.Sprintf("%s %s:%d", small.Rule, s.File, s.Line)] = true
			}
		}
		if f.Confidence == rule.Hint || len(f.Evidence) == 0 || f.Saving == nil {
			t.Errorf("%s: %+v", f.Rule, f)
			continue
		}
		if s := f.Saving; s.Low > s.Share || s.Share > s.High || s.Low < 0 || s.High > 1 {
			t.Errorf("%s: saving %+v", f.Rule, *s)
		}
		if f.Function == "main.(*metrics).send" && (f.Entry == nil || f.Entry.Function != "main.handle") {
			t.Errorf("%s: entry %+v", f.Rule, f.Entry)
		}
		cpu += *f.Cost.CPUShare + *f.Cost.GCShare
		bytes += *f.Cost.AllocBytesShare
		saved += f.Saving.Share
	}
	want := map[string]bool{}
	for _, r := range diagnose.Rules() {
		for line := range ruletest.Wanted(t, archive, r.ID) {
			want[r.ID+" "+line] = true
		}
	}
	// A line below the floor may be missing; an unmarked line may not be reported.
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if !want[line] {
			t.Errorf("wrongly accused: %s", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if !got[line] && (report.Hidden.BelowFloor == 0 || !strings.HasPrefix(line, "format-then-append")) {
			t.Errorf("not found: %s", line)
		}
	}
	if cpu > 1 || bytes > 1 || saved > 1 {
		t.Errorf("findings cost %g of CPU and %g of bytes, and save %g", cpu, bytes, saved)
	}
}
