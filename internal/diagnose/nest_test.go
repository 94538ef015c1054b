package diagnose

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// nesting is of a constructor that main.f calls, in which main.g compiles a pattern and main.h,
// which others call too, builds a string: 100, 200 and 60 samples of 1,000 below the constructor,
// and 40 of main.h elsewhere.
func nesting(removes bool) []rule.Rule {
	own := cpu(100, "main.New", "main.f")
	compiles := cpu(200, "regexp.Compile", "main.g", "main.New", "main.f")
	builds := cpu(60, "runtime.concatstring2", "main.h", "main.New", "main.f")
	other := cpu(40, "runtime.concatstring2", "main.h", "main.k")
	ctor := finds("ctor", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{own, compiles, builds}, Callees: []string{"main.New"}})
	ctor = claiming(ctor, func(c *rule.Claim) {
		c.Removes, c.Fraction = removes, rule.Fraction{Expect: 0.9, Low: 0.9, High: 0.9}
	})
	return []rule.Rule{
		ctor,
		finds("pattern", rule.Match{Site: at("main.g", "g.go", 2), CPU: []*site.Row{compiles}, Callees: []string{"regexp.Compile"}}),
		finds("concat", rule.Match{Site: at("main.h", "h.go", 3), CPU: []*site.Row{builds, other}, Callees: []string{"runtime.concatstring2"}}),
	}
}

// TestNested: a fix that removes a call also saves what is inside of it, and says so. What others
// call, too, remains.
func TestNested(t *testing.T) {
	r := diagnose(t, pass(), nesting(true)...)
	if got := order(r); got != "ctor@main.f pattern@main.g concat@main.h" {
		t.Fatal(got)
	}
	outer, inner, shared := &r.Findings[0], &r.Findings[1], &r.Findings[2]
	if fmt.Sprint(outer.Includes, inner.IncludedIn, shared.IncludedIn) != "[2] [1] []" || outer.SavingWith == nil || outer.CostWith == nil {
		t.Fatalf("includes %v, included in %v and %v; with them %+v", outer.Includes, inner.IncludedIn, shared.IncludedIn, outer.SavingWith)
	}
	if !strings.Contains(outer.Cause, "It takes 10 % of CPU. With the findings inside, which its fix removes too, it takes 36 % of CPU.") {
		t.Error(outer.Cause)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"alone", outer.Saving.Share, crowded(0.9 * 0.1)},
		{"with what it includes", outer.SavingWith.Share, crowded(0.9 * 0.36)},
		{"together with what it includes", Together(limitCPU, outer, inner).Value, crowded(0.9 * 0.36)},
		{"what is included", Together(limitCPU, inner).Value, crowded(0.8 * 0.2)},
		{"each for itself", Apart(limitCPU, outer, inner).Value, crowded(0.9*0.1) + crowded(0.8*0.2)},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s: saves %.4f, want %.4f", c.what, c.got, c.want)
		}
	}
}

// TestNestedMeasured: what a newer release was measured to save contains what the findings save in
// the function that it changed.
func TestNestedMeasured(t *testing.T) {
	rules := nesting(false)[1:]
	inside := []*site.Row{}
	for _, m := range []int{0, 1} {
		found, err := rules[m].Find(t.Context(), pass())
		if err != nil {
			t.Fatal(err)
		}
		inside = append(inside, found[0].CPU[0]) // of main.h those below main.New alone
	}
	newer := finds("newer", rule.Match{Site: at("main.New", "n.go", 9), Around: inside, Saving: &rule.Saving{Seconds: 3, Low: 2.9, High: 3.1}})
	newer.Needs = []rule.Need{rule.NeedUpgrade}
	p := pass()
	p.Manifest.Upgrade = &recording.Upgrade{}
	r := diagnose(t, p, append(rules, newer)...)
	if got := order(r); got != "newer@main.New pattern@main.g concat@main.h" {
		t.Fatal(got)
	}
	measured, inner, shared := &r.Findings[0], &r.Findings[1], &r.Findings[2]
	if fmt.Sprint(measured.Includes, inner.IncludedIn, shared.IncludedIn) != "[2] [1] []" || measured.SavingWith != nil {
		t.Fatalf("includes %v, included in %v and %v; with them %+v", measured.Includes, inner.IncludedIn, shared.IncludedIn, measured.SavingWith)
	}
	if got := Together(limitCPU, measured, inner).Value; math.Abs(got-measured.Saving.Share) > 1e-6 {
		t.Errorf("together %.4f, want %.4f", got, measured.Saving.Share)
	}
}

// TestNestedInPart: a fix that removes a part of the calls saves that part of the cost below them.
func TestNestedInPart(t *testing.T) {
	r := diagnose(t, pass(), nesting(true)...)
	outer, inner, shared := &r.Findings[0], &r.Findings[1], &r.Findings[2]
	if d := cmp.Diff([]Part{{Rank: 3, Share: 0.6}}, outer.IncludesPart); d != "" {
		t.Errorf("includes in part (-want +got):\n%s", d)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"with what it includes", outer.SavingWith.Share, crowded(0.9 * 0.36)},
		{"together with what it does not", Together(limitCPU, outer, inner, shared).Value, crowded(0.9*0.36) + 0.4*crowded(0.8*0.1)},
		{"the shared alone", Together(limitCPU, shared).Value, crowded(0.8 * 0.1)},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s: saves %.4f, want %.4f", c.what, c.got, c.want)
		}
	}
}

// TestNestedStays: if the fix keeps the calls inside, it does not save them.
func TestNestedStays(t *testing.T) {
	r := diagnose(t, pass(), nesting(false)...)
	if got := order(r); got != "pattern@main.g ctor@main.f concat@main.h" {
		t.Fatal(got)
	}
	for _, f := range r.Findings {
		if f.Includes != nil || f.IncludedIn != nil || f.SavingWith != nil || f.Whole() != f.Saving {
			t.Errorf("%s: includes %v, included in %v, saves %+v", f.Rule, f.Includes, f.IncludedIn, f.SavingWith)
		}
	}
}

// TestNestedAboveFloor: a call that costs almost nothing itself is shown if its removal saves what
// is inside.
func TestNestedAboveFloor(t *testing.T) {
	own, compiles := cpu(5, "main.New", "main.f"), cpu(200, "regexp.Compile", "main.g", "main.New", "main.f")
	ctor := finds("ctor", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{own, compiles}, Callees: []string{"main.New"}})
	pattern := finds("pattern", rule.Match{Site: at("main.g", "g.go", 2), CPU: []*site.Row{compiles}, Callees: []string{"regexp.Compile"}})
	for removes, want := range map[bool]string{true: "ctor@main.f pattern@main.g", false: "pattern@main.g"} {
		ctor = claiming(ctor, func(c *rule.Claim) { c.Removes = removes })
		if got := order(diagnose(t, pass(), ctor, pattern)); got != want {
			t.Errorf("removes %v: %q, want %q", removes, got, want)
		}
	}
}
