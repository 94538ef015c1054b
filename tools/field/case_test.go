package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

func finding(rank int, id, function, file string, line int, confidence rule.Confidence, cause string) diagnose.Finding {
	return diagnose.Finding{Rank: rank, Rule: id, Function: function, File: file, Line: line, Confidence: confidence, Cause: cause}
}

func withFix(f diagnose.Finding, fix string) diagnose.Finding {
	f.Fix = fix
	return f
}

func TestJudge(t *testing.T) {
	c := fieldCase{
		Kind: "cpu", Function: "example.com/m.(*T).slow", Place: "t.go:40", Also: []string{"example.com/m.helper (h.go:7)", "example.com/m.top"},
		words: regexp.MustCompile("(?i)regexp"),
	}
	const slow = "example.com/m.(*T).slow"
	for _, x := range []struct {
		what     string
		findings []diagnose.Finding
		want     verdict
	}{
		{"nothing", nil, verdict{}},
		{"elsewhere", []diagnose.Finding{finding(1, "a", "main.f", "f.go", 1, rule.Measured, "Regexp")}, verdict{Accused: []string{"a"}}},
		{"placed by a hint", []diagnose.Finding{finding(1, "a", slow, "t.go", 90, rule.Hint, "regexp")}, verdict{Rank: 1, Rule: "a"}},
		{"explained behind it", []diagnose.Finding{finding(1, "a", slow, "t.go", 40, rule.Hint, ""), finding(2, "b", slow+".func1", "t.go", 41, rule.Likely, "a Regexp")}, verdict{Rank: 1, Explained: 2, Rule: "b", Accused: []string{"b"}}},
		{"too far down", []diagnose.Finding{finding(4, "a", slow, "t.go", 40, rule.Measured, "regexp")}, verdict{Rank: 4, Rule: "a", Accused: []string{"a"}}},
		{"by a list of versions", []diagnose.Finding{withFix(finding(1, "a", slow, "t.go", 40, rule.Measured, "other words"), "Do less. The line belongs to example.com/m v1.0.0. Newer versions: v1.2.0-regexp")}, verdict{Rank: 1, Rule: "a", Accused: []string{"a"}}},
		{"by the fix", []diagnose.Finding{withFix(finding(1, "a", slow, "t.go", 40, rule.Measured, "other words"), "Keep the regexp. The line belongs to example.com/m v1.0.0.")}, verdict{Rank: 1, Explained: 1, Rule: "a", Accused: []string{"a"}}},
		{"by line", []diagnose.Finding{finding(1, "a", "main.g", "x/h.go", 9, rule.Measured, "regexp")}, verdict{Rank: 1, Explained: 1, Rule: "a", Accused: []string{"a"}}},
		{"by another function", []diagnose.Finding{finding(3, "a", "example.com/m.top", "z.go", 1, rule.Measured, "other words")}, verdict{Rank: 3, Rule: "a", Accused: []string{"a"}}},
	} {
		got := c.judge(&diagnose.Report{Findings: x.findings})
		if got.Rank != x.want.Rank || got.Explained != x.want.Explained || got.Rule != x.want.Rule || len(got.Accused) != len(x.want.Accused) {
			t.Errorf("%s: %+v, want %+v", x.what, got, x.want)
		}
	}
}

// The archives in testdata can be read, and no two have one number.
func TestOwnCases(t *testing.T) {
	cases, err := readCases(filepath.Join("testdata", "own"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range cases {
		number, _, _ := strings.Cut(c.ID, "-")
		if seen[number] != "" {
			t.Errorf("%s and %s have the same number", seen[number], c.ID)
		}
		seen[number] = c.ID
	}
}

// TestLatest: a run of some cases keeps the results of the others, and what was measured of fixed
// versions before.
func TestLatest(t *testing.T) {
	cases := []fieldCase{{ID: "01-a", Kind: "cpu"}, {ID: "02-b", Kind: "cpu"}, {ID: "90-c", Kind: clean}, {ID: "91-d", Kind: clean}}
	name := filepath.Join(t.TempDir(), "latest.json")
	first := table{Rows: []row{
		{c: &cases[0], verdict: verdict{Rank: 1, Explained: 1, Rule: "x", Promise: &span{Low: 0.1, High: 0.2}}, Fixed: &verdict{Rank: 2, Saving: 0.1, Other: true}, Measured: &span{Low: 0.15, High: 0.3}},
		{c: &cases[2], verdict: verdict{Rank: 1, Accused: []string{"y"}}},
	}}
	if err := first.latest(name, cases); err != nil || len(first.Rows) != 2 {
		t.Fatal(first.Rows, err)
	}
	second := table{Rows: []row{
		{c: &cases[0], verdict: verdict{Rank: 3}},
		{c: &cases[1], verdict: verdict{Rank: 2, Rule: "z"}},
		{c: &cases[2], err: errors.New("no port")},
	}}
	if err := second.latest(name, cases); err != nil || len(second.Rows) != 3 {
		t.Fatal(second.Rows, err)
	}
	r := second.Rows
	if r[0].Rank != 3 || r[0].Explained != 0 || r[0].Measured == nil || *r[0].Measured != (span{Low: 0.15, High: 0.3}) || r[0].Fixed == nil || r[0].Fixed.Rank != 2 || r[0].Fixed.Saving != 0.1 || !r[0].Fixed.Other {
		t.Errorf("a case that was tried again: %+v", r[0])
	}
	if r[1].Rule != "z" || r[1].Fixed != nil || len(r[2].Accused) != 1 {
		t.Errorf("a new case and one that failed: %+v, %+v", r[1], r[2])
	}
}

func TestReadCasesAndPage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("causes.json", `{"01": "regexp"}`)
	if _, err := readCases(dir); err == nil || !strings.Contains(err.Error(), "no cases") {
		t.Error(err)
	}
	write("cases/01-a/case.json", `{"id": "01-a", "module": "example.com/m", "bad_version": "v1.0.0", "kind": "cpu", "culprit_function": "m.f", "culprit_file_line": "f.go:1"}`)
	write("cases/90-b/case.json", `{"id": "90-b", "module": "example.com/n", "bad_version": "v1.0.0", "kind": "clean"}`)
	cases, err := readCases(dir)
	if err != nil || len(cases) != 2 || cases[0].words == nil || cases[1].words != nil {
		t.Fatal(cases, err)
	}
	var page bytes.Buffer
	t1 := table{Duration: 12 * time.Second, Rows: []row{
		{c: &cases[0], verdict: verdict{Rank: 2, Explained: 3, Rule: "x"}},
		{c: &cases[0], err: errors.New("it failed\nbadly | so")},
		{c: &cases[1], verdict: verdict{Accused: []string{"y"}}},
		{c: &cases[1]},
	}}
	t1.write(&page)
	for _, want := range []string{
		"Of 2 bugs: 0 at rank 1, 1 placed, 1 explained. Of 2 clean cases 1 accused.",
		"| 01-a | example.com/m v1.0.0 | cpu | 2 | 3 | `x` |", "error | – | badly / so |", "accused by `y`", "silent",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, page.String())
		}
	}
	write("cases/02-c/case.json", `{"id": "02-c", "kind": "cpu"}`)
	if _, err := readCases(dir); err == nil || !strings.Contains(err.Error(), "02-c") {
		t.Errorf("a case without a cause: %v", err)
	}
}
