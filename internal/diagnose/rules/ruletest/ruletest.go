// Package ruletest proves rules on real programs. A small program in a txtar archive is built with
// hone's probe and run under the CPU and allocation profiles (and, for rules that need them, an
// execution trace or counts). The results are kept as text next to it, in NAME.run, and joined with
// the program's code for the rule. With the tag live, -update records again, and [Live] does so
// without keeping it.
//
// The recording is what one run showed, not what a test wants: if a rule finds its lines in one run
// of three, the program's evidence is near a threshold, and the program must be fixed.
//
// A program says in its own source what the rule must find: a line that ends in "// want RULE" must
// be found, one in "// may RULE" may be found (it has the mistake, but costs so little that a short
// run has a sample of it only sometimes), every other line must not. Programs exit after a second
// or two of CPU.
package ruletest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// Caught runs a rule on the program in its folder that it must catch.
func Caught(t *testing.T, r rule.Rule, folder string) {
	t.Helper()
	archive := filepath.Join(folder, "testdata", "caught.txtar")
	want := Wanted(t, archive, r.ID)
	if len(want) == 0 {
		t.Fatalf("%s marks no line for %s", archive, r.ID)
	}
	pass := RecordFor(t, r, archive)
	Compare(t, r, pass, want)
	unseen(t, r, pass)
}

// find runs a rule and returns its matches by line: "main.go:12".
func find(t *testing.T, r rule.Rule, pass *rule.Pass) map[string]rule.Match {
	t.Helper()
	matches, err := r.Find(t.Context(), pass)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]rule.Match{}
	for _, m := range matches {
		if m.Site == nil {
			t.Errorf("a match without a site: %s", m.Cause)
			continue
		}
		found[fmt.Sprintf("%s:%d", filepath.Base(m.Site.File), m.Site.Line)] = m
	}
	return found
}

// RecordFor is [Record] with what a rule needs beyond profiles.
func RecordFor(t *testing.T, r rule.Rule, archive string) *rule.Pass {
	t.Helper()
	return readRun(t, archive, extrasOf(r)).pass(t, archive)
}

// FindTraced records a program with its trace and returns what a rule finds in it.
func FindTraced(t *testing.T, r rule.Rule, archive string) ([]rule.Match, *rule.Pass) {
	t.Helper()
	p := RecordTraced(t, archive)
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return matches, p
}

// hints are the rules that only hint, because their claim depends on what is outside of the
// program.
var hints = map[string]bool{"nested-lists-encoded": true, "answer-encoded-again": true}

// Compare runs a rule and compares the lines that it finds with those wanted: see [Wanted].
func Compare(t *testing.T, r rule.Rule, pass *rule.Pass, want map[string]bool) {
	t.Helper()
	got := find(t, r, pass)
	for _, line := range slices.Sorted(maps.Keys(want)) {
		m, ok := got[line]
		if !ok {
			if want[line] {
				t.Errorf("%s: not found", line)
			}
			continue
		}
		t.Logf("%s: %s %s [%s]", line, m.Cause, m.Fix, m.Confidence)
		if (m.Confidence == rule.Hint) != (r.Generic || hints[r.ID]) || m.Cause == "" || m.Fix == "" {
			t.Errorf("%s: confidence %q, cause %q, fix %q", line, m.Confidence, m.Cause, m.Fix)
		}
		if m.Empty() && m.Saving == nil && !r.Urgent {
			t.Errorf("%s: owns no rows", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[line]; !known {
			t.Errorf("%s: wrongly accused: %s", line, got[line].Cause)
		}
	}
	if t.Failed() {
		logSites(t, pass.Table)
	}
}

// unseen runs the rule as if there were no source: what it then says is a hint.
func unseen(t *testing.T, r rule.Rule, pass *rule.Pass) {
	t.Helper()
	blind := *pass
	blind.Syntax, blind.Facts = nil, nil
	matches, err := r.Find(t.Context(), &blind)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		if m.Confidence != rule.Hint || m.Cause == "" || m.Fix == "" {
			t.Errorf("without source, line %d: confidence %q, cause %q", m.Site.Line, m.Confidence, m.Cause)
		}
	}
}

// Wanted returns the lines of an archive that are marked for a rule, as "main.go:12": true for
// those that must be found, false for those that may be.
func Wanted(t *testing.T, archive, id string) map[string]bool {
	t.Helper()
	a := parse(t, archive)
	want := map[string]bool{}
	for _, f := range a.Files {
		for i, line := range strings.Split(string(f.Data), "\n") {
			for mark, must := range map[string]bool{"// want ": true, "// may ": false} {
				if _, rules, ok := strings.Cut(line, mark); ok && slices.Contains(strings.Fields(rules), id) {
					want[fmt.Sprintf("%s:%d", filepath.Base(f.Name), i+1)] = must
				}
			}
		}
	}
	return want
}

func parse(t *testing.T, archive string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Record returns what a rule gets for the program in an archive: the join of its profiles, its
// syntax, and the compiler's facts.
func Record(t *testing.T, archive string) *rule.Pass {
	t.Helper()
	return readRun(t, archive, extras{}).pass(t, archive)
}

// RecordTraced is [Record] with what an execution trace of another run says.
func RecordTraced(t *testing.T, archive string) *rule.Pass {
	t.Helper()
	return readRun(t, archive, extras{trace: true}).pass(t, archive)
}

// logSites shows what the rule had to go by.
func logSites(t *testing.T, table *site.Table) {
	t.Helper()
	for _, s := range table.Sites {
		t.Logf("%s %s:%d: %d samples, %d bytes", s.Function, filepath.Base(s.File), s.Line, s.Cost.Samples, s.Cost.AllocBytes)
		for _, r := range s.CPU {
			t.Logf("	cpu %d class %d: %s", r.Count, r.Class, stack(r))
		}
		for _, r := range s.Allocs {
			t.Logf("	allocs %d: %s", r.Value, stack(r))
		}
	}
}

// stack writes a row's frames from the blamed one towards the leaf.
func stack(r *site.Row) string {
	var names []string
	for i := r.Owner; i >= 0 && len(names) < 8; i-- {
		names = append(names, r.Stack[i].Function)
	}
	return strings.Join(names, " > ")
}
