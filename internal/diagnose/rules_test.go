package diagnose

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
)

// TestRules: every rule is complete, and every folder of rules/ is listed.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] {
			t.Errorf("%s is listed twice", r.ID)
		}
		seen[r.ID] = true
		if r.Kind == "" || r.Title == "" || r.Finder == nil {
			t.Errorf("%s: incomplete", r.ID)
		}
		_, program := r.Finder.(finder.Program)
		_, trace := r.Finder.(finder.Trace)
		if f := r.Finder.Claims().Fraction; !f.Valid() || f.Expect == 0 && !r.Generic && !program && !trace {
			t.Errorf("%s: fraction %+v", r.ID, f)
		}
		for _, want := range []string{"It is fine", "Seen in the field:"} {
			if !strings.Contains(strings.Join(strings.Fields(r.Doc), " "), want) {
				t.Errorf("%s: its doc lacks %q", r.ID, want)
			}
		}
		for line := range strings.Lines(r.Doc) {
			if len(line) > 85 {
				t.Errorf("%s: a line of its doc is too long: %s", r.ID, line)
			}
		}
		for _, program := range []string{"caught.txtar", "nearmiss.txtar"} {
			if _, err := os.Stat(filepath.Join("rules", r.ID, "testdata", program)); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if got, ok := Explain(r.ID); !ok || got.Title != r.Title {
			t.Errorf("Explain(%q) = %v, %t", r.ID, got.ID, ok)
		}
	}
	folders, err := filepath.Glob(filepath.Join("rules", "*", "rule.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if id := filepath.Base(filepath.Dir(f)); !seen[id] {
			t.Errorf("rules/%s is in no list", id)
		}
	}
	if _, ok := Explain("no-such-rule"); ok {
		t.Error("Explain knows a rule that is none")
	}
}

// TestPagesCountTheRules: where a page gives the number of rules, it is right.
func TestPagesCountTheRules(t *testing.T) {
	count := regexp.MustCompile(`(\d+) rules`)
	said := 0
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range count.FindAllStringSubmatch(string(text), -1) {
			if said++; m[1] != strconv.Itoa(len(Rules())) {
				t.Errorf("%s: %s, there are %d", name, m[0], len(Rules()))
			}
		}
	}
	if said == 0 {
		t.Error("no page says how many rules there are")
	}
}

// TestRulesKnowNoProgram: a rule that names the example it was written for would find nothing else.
func TestRulesKnowNoProgram(t *testing.T) {
	programs := regexp.MustCompile(`(?i)"[^"\n]*(leftpad|statsd)[^"\n]*"`)
	folders, _ := filepath.Glob(filepath.Join("rules", "*", "*.go"))
	for _, f := range folders {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if m := programs.Find(text); m != nil {
			t.Errorf("%s: %s", f, m)
		}
	}
}
