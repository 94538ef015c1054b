package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	nopgo "github.com/hone-go/hone/internal/diagnose/rules/no-pgo"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
)

// TestNoPGOPrograms: one program computes in Go code, the other in an assembly routine that no
// profile can speed up. Build settings are given by hand.
func TestNoPGOPrograms(t *testing.T) {
	r := nopgo.Rule()
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "no-pgo/testdata/"+name+".txtar")
		p.Table.Totals.CPUSamples = 1000 // as if the run had been longer
		find := func(build string) []rule.Match {
			code, err := gocode.Open(t.Context(), gocode.Config{BuildInfo: "go\tgo1.26.0\npath\texample.com/app\n" + build})
			if err != nil {
				t.Fatal(err)
			}
			q := *p
			q.Code = code
			matches, err := r.Find(t.Context(), &q)
			if err != nil {
				t.Fatal(err)
			}
			return matches
		}
		matches := find("build\t-compiler=gc\n")
		if caught := name == "caught"; (len(matches) == 1) != caught {
			t.Errorf("%s: %d matches", name, len(matches))
		}
		for _, m := range matches {
			if m.Confidence != rule.Hint || m.Saving.Seconds <= 0 || m.Saving.High >= 0.2*p.Table.Totals.TotalSeconds {
				t.Errorf("%s: %+v %+v", name, m, *m.Saving)
			}
		}
		if got := find("build\t-pgo=default.pgo\n"); len(got) > 0 {
			t.Errorf("%s: built with a profile: %s", name, got[0].Cause)
		}
		p.Manifest.Target.Kind = "url"
		if got := find(""); len(got) > 0 {
			t.Errorf("%s: built elsewhere: %s", name, got[0].Cause)
		}
	}
}
