package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// fieldCase is a case.json.
type fieldCase struct {
	ID       string   `json:"id"`
	Module   string   `json:"module"`
	Bad      string   `json:"bad_version"`
	Good     string   `json:"good_version"`
	Kind     string   `json:"kind"`
	Function string   `json:"culprit_function"` // as pprof prints it
	Place    string   `json:"culprit_file_line"`
	Also     []string `json:"also_acceptable"` // "function (file:line)", the place may be missing
	GoodGet  []string `json:"good_get"`        // what to go get for the fixed version

	UpgradeFixes bool `json:"upgrade_fixes"` // whether Good does

	// Of the cases that are archives: what causes the fault, and the expression that a right explanation matches.
	Cause string `json:"cause"`
	Words string `json:"words"`
	service

	dir   string         // of a case that is a directory
	files []txtar.File   // of a case that is an archive
	words *regexp.Regexp // of a right explanation; nil for clean cases
}

// clean is the kind of cases that have nothing to report.
const clean = "clean"

// readCases reads the cases below a directory, in the order of their names.
func readCases(dir string) ([]fieldCase, error) {
	if archives, err := filepath.Glob(filepath.Join(dir, "*.txtar")); err != nil || len(archives) > 0 {
		if err != nil {
			return nil, err
		}
		return readOwn(archives)
	}
	text, err := os.ReadFile(filepath.Join(dir, "causes.json"))
	if err != nil {
		return nil, err
	}
	causes := map[string]string{}
	if err := json.Unmarshal(text, &causes); err != nil {
		return nil, fmt.Errorf("causes.json: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cases", "*", "case.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no cases below %s (%v)", filepath.Join(dir, "cases"), err)
	}
	var all []fieldCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := fieldCase{dir: filepath.Dir(file)}
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		number, _, _ := strings.Cut(c.ID, "-")
		if c.Kind != clean {
			if c.words, err = regexp.Compile("(?i)" + causes[number]); err != nil || causes[number] == "" {
				return nil, fmt.Errorf("causes.json: %s: %q: %v", c.ID, causes[number], err)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// verdict is how hone did on a case.
type verdict struct {
	Rank      int    // of the first finding at an acceptable place; 0 for none
	Explained int    // rank of the finding that explains it; 0 for none
	Rule      string // of that finding, or of the one at Rank
	Promise   *span  // share of the CPU that the fixes of the findings that the fixed version no longer has save, with what they include
	Accused   []string

	accusing []*diagnose.Finding // above a hint
}

// placed is how far down a finding may stand to count.
const placed = 3

// judge compares the findings with what is known of a case.
func (c *fieldCase) judge(r *diagnose.Report) verdict {
	var v verdict
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Confidence != rule.Hint {
			v.Accused = append(v.Accused, f.Rule)
			v.accusing = append(v.accusing, f)
		}
		if c.Kind == clean || !c.at(f) {
			continue
		}
		if v.Rank == 0 {
			v.Rank, v.Rule = f.Rank, f.Rule
		}
		words := strings.Join([]string{f.Rule, f.Title, f.Cause, f.Fix}, " ")
		if v.Explained == 0 && f.Rank <= placed && f.Confidence != rule.Hint && c.words.MatchString(words) {
			v.Explained, v.Rule = f.Rank, f.Rule
		}
	}
	return v
}

// promise sets what findings promise together, if one of them explains the case. Those that are still in the fixed version are
// left out: the fix did not touch them. All others count, as a release seldom repairs one thing only. Together charges
// nothing twice.
func (v *verdict) promise(fixed *diagnose.Report) {
	var gone []*diagnose.Finding
	for _, f := range v.accusing {
		s := f.Whole()
		still := slices.ContainsFunc(fixed.Findings, func(o diagnose.Finding) bool {
			return o.Rule == f.Rule && o.Function == f.Function && o.Confidence != rule.Hint
		})
		if s != nil && s.Resource == "cpu" && !still {
			gone = append(gone, f)
		}
	}
	v.Promise = nil
	if v.Explained > 0 && len(gone) > 0 {
		s := diagnose.Together("cpu", gone...)
		v.Promise = &span{Low: s.Low, High: s.High}
		for _, f := range gone { // one that includes another with a larger saving does not replace it
			if w := f.Whole(); w.Share > s.Value {
				s.Value, v.Promise = w.Share, &span{Low: w.Low, High: w.High}
			}
		}
	}
}

// at reports whether a finding is at an acceptable place.
func (c *fieldCase) at(f *diagnose.Finding) bool {
	for _, p := range append([]string{c.Function + " (" + c.Place + ")"}, c.Also...) {
		function, rest, _ := strings.Cut(p, " (")
		if near(function, strings.TrimSuffix(rest, ")"), f.Function, f.File, f.Line) {
			return true
		}
		if slices.ContainsFunc(f.Sites, func(s diagnose.SiteRef) bool {
			return near(function, strings.TrimSuffix(rest, ")"), f.Function, s.File, s.Line)
		}) {
			return true
		}
	}
	return false
}

// near reports whether a function is the wanted one or a literal in it, or a line is within two of "file:line".
func near(want, place, function, file string, line int) bool {
	if want != "" && (function == want || strings.HasPrefix(function, want+".func")) {
		return true
	}
	name, number, ok := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	return ok && err == nil && name == path.Base(file) && max(n-line, line-n) <= 2
}
