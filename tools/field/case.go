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
	Function string   `json:"culprit_function"` // in pprof's spelling
	Place    string   `json:"culprit_file_line"`
	Also     []string `json:"also_acceptable"` // "function (file:line)"; the location may be missing
	GoodGet  []string `json:"good_get"`        // arguments of go get for the fixed version

	UpgradeFixes bool `json:"upgrade_fixes"` // whether the version Good fixes it

	// For cases that are archives: the cause of the fault, and an expression that a correct
	// explanation matches.
	Cause string `json:"cause"`
	Words string `json:"words"`
	service

	dir   string         // of a case that is a directory
	files []txtar.File   // of a case that is an archive
	words *regexp.Regexp // matches a correct explanation; nil for clean cases
}

// clean is the kind of cases that have nothing to report.
const clean = "clean"

// readCases reads the cases below a directory, sorted by name.
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

// verdict is hone's result on a case.
type verdict struct {
	Rank      int     // of the first finding at an acceptable location; 0 for none
	Explained int     // rank of the finding that explains it; 0 for none
	Rule      string  // of that finding, or of the one at Rank
	Promise   *span   // share that fixes save, for the findings that the fixed version no longer has, including what they contain
	Saving    float64 // share that the finding that explains it saves; 0 for none
	Other     bool    // of a fixed version: the explanation is not the finding that explained the fault
	Accused   []string

	accusing   []*diagnose.Finding // that rank above a hint
	explaining []*diagnose.Finding // that explain it
}

// placed is the lowest rank of a finding that counts.
const placed = 3

// judge compares the findings with the known fault of a case.
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
		words := strings.Join([]string{f.Rule, f.Title, f.Cause, advice(f.Fix)}, " ")
		if f.Rank <= placed && f.Confidence != rule.Hint && c.words.MatchString(words) {
			v.explaining = append(v.explaining, f)
		}
	}
	if len(v.explaining) > 0 {
		v.explainedBy(v.explaining[0])
	}
	return v
}

func (v *verdict) explainedBy(f *diagnose.Finding) {
	v.Explained, v.Rule, v.Saving = f.Rank, f.Rule, 0
	if s := f.Whole(); s != nil {
		v.Saving = s.Share
	}
}

// advice returns the fix without the sentences about newer versions: hone adds them to every
// finding in a dependency, whatever its cause is, and often they name the version that has the fix.
func advice(fix string) string {
	before, _, _ := strings.Cut(fix, diagnose.OwnerNamed)
	return before
}

// promise sets what the findings predict together, if one of them explains the case. Findings that
// the fixed version still has are left out, because the fix did not touch them. All others of the
// same resource count, because a release seldom fixes only one thing. Together charges nothing
// twice.
func (v *verdict) promise(fixed *diagnose.Report) {
	v.Promise = nil
	resource, of := v.resource()
	if resource == "" {
		return
	}
	var gone []*diagnose.Finding
	for _, f := range v.accusing {
		s := f.Whole()
		still := slices.ContainsFunc(fixed.Findings, func(o diagnose.Finding) bool {
			return o.Rule == f.Rule && o.Function == f.Function && o.Confidence != rule.Hint
		})
		if s != nil && s.Resource == resource && s.Of == of && !still {
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return
	}
	share := totalOf(resource, of)
	s := diagnose.Together(resource, gone...)
	v.Promise = &span{Low: s.Low, High: s.High, Of: share}
	for _, f := range gone { // a finding that includes another with a larger saving does not replace it
		if w := f.Whole(); w.Share > s.Value {
			s.Value, v.Promise = w.Share, &span{Low: w.Low, High: w.High, Of: share}
		}
	}
}

// resource returns what the finding that explains the case saves, and of which time if that has a
// name; "" if it promises no saving.
func (v *verdict) resource() (resource, of string) {
	for _, f := range v.accusing {
		if s := f.Whole(); f.Rank == v.Explained && s != nil {
			return s.Resource, s.Of
		}
	}
	return "", ""
}

// totalOf returns what a saving of a resource is a share of.
func totalOf(resource, of string) total {
	switch {
	case resource == "memory":
		return liveMemory
	case of != "":
		return total(of)
	case resource == "latency":
		return timeOfRequest
	}
	return ""
}

// at reports whether a finding is at an acceptable location.
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

// near reports whether a function is the wanted one or a function literal in it, or a line is
// within two lines of "file:line".
func near(want, place, function, file string, line int) bool {
	if want != "" && (function == want || strings.HasPrefix(function, want+".func")) {
		return true
	}
	name, number, ok := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	return ok && err == nil && name == path.Base(file) && max(n-line, line-n) <= 2
}
