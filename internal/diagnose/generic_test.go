package diagnose

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestGeneric: a cost without a known mistake comes after all findings, promises nothing, is not
// counted as hidden, and does not name lines that are mostly explained.
func TestGeneric(t *testing.T) {
	known, half, alone, cold := at("main.known", "f.go", 1), at("main.half", "f.go", 2), at("main.alone", "f.go", 3), at("main.cold", "f.go", 4)
	sprintf, knownRest := cpu(90, "fmt.Sprintf", "main.known"), cpu(30, "main.known")
	itoa, halfRest := cpu(30, "strconv.Itoa", "main.half"), cpu(60, "main.half")
	only := cpu(300, "main.alone")
	generic := finds("generic",
		rule.Match{Site: known, CPU: []*site.Row{sprintf, knownRest}, Confidence: rule.Hint},
		rule.Match{Site: half, CPU: []*site.Row{itoa, halfRest}, Confidence: rule.Hint},
		rule.Match{Site: alone, CPU: []*site.Row{only}, Confidence: rule.Hint, Kind: rule.IO},
		rule.Match{Site: cold, CPU: []*site.Row{cpu(2, "main.cold")}, Confidence: rule.Hint},
	)
	generic = claiming(generic, func(c *rule.Claim) { *c = rule.Claim{Specificity: -100} })
	generic.Generic = true
	r := diagnose(t, pass(), generic, finds("named",
		rule.Match{Site: known, CPU: []*site.Row{sprintf}, Callees: []string{"fmt.Sprintf"}},
		rule.Match{Site: half, CPU: []*site.Row{itoa}, Callees: []string{"strconv.Itoa"}, Confidence: rule.Hint},
	))
	if got, want := order(r), "named@main.known named@main.half generic@main.alone generic@main.half"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if f := r.Findings[2]; f.Saving != nil || !f.Generic || f.Kind != rule.IO || len(f.TiedWith) > 0 || f.Cost.WithGC.Share != 0.3 {
		t.Errorf("%+v", f)
	}
	if r.Findings[0].Generic || r.Hidden.BelowFloor != 0 {
		t.Errorf("%+v, hidden %d", r.Findings[0], r.Hidden.BelowFloor)
	}
}

// TestGenericLines: for several lines of a function, the finding describes the most expensive one,
// with only that line's evidence, and says that the cost is that of all.
func TestGenericLines(t *testing.T) {
	first, second := at("main.next", "f.go", 1), at("main.next", "f.go", 2)
	generic := finds("generic",
		rule.Match{Site: first, CPU: []*site.Row{cpu(200, "main.next")}, Cause: "The line runs twice.", Confidence: rule.Hint},
		rule.Match{Site: second, CPU: []*site.Row{cpu(100, "fmt.Sprint", "main.next")}, Confidence: rule.Hint,
			Evidence: []rule.Evidence{{What: "calls", Value: "fmt.Sprint"}}},
	)
	generic = claiming(generic, func(c *rule.Claim) { *c = rule.Claim{Specificity: -100} })
	generic.Generic = true
	r := diagnose(t, pass(), generic)
	if len(r.Findings) != 1 || len(r.Findings[0].Sites) != 2 {
		t.Fatalf("%+v", r.Findings)
	}
	f := r.Findings[0]
	if want := "The line runs twice. With 1 other line of its function it takes 30 % of CPU."; f.Line != 1 || f.Cause != want {
		t.Errorf("line %d: %q, want %q", f.Line, f.Cause, want)
	}
	for _, e := range f.Evidence {
		if e.What == "calls" {
			t.Errorf("the other line's evidence: %+v", e)
		}
	}
}
