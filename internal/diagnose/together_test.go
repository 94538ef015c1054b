package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// promised returns a finding of a rule: a CPU cost, exact or not, and what the fix saves of it.
func promised(id string, cost, sampling, fraction, belief float64) *Finding {
	share := cost * fraction
	spread := math.Hypot(sampling*fraction, belief*cost)
	return &Finding{
		Rule:   id,
		Saving: &Saving{Resource: limitCPU, Share: share, Low: share - spread, High: share + spread},
		Cost:   Cost{WithGC: &Range{Share: cost, Low: cost - sampling, High: cost + sampling}, GCShare: ptr(0.0)},
	}
}

func TestTogether(t *testing.T) {
	sampled := func(id string) *Finding { return promised(id, 0.1, 0.03, 0.5, 0) }
	believed := func(id string) *Finding { return promised(id, 0.1, 0, 0.5, 0.2) }
	half := func(got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("half an interval is %g, want %g", got, want)
		}
	}
	for _, c := range []struct {
		a, b *Finding
		want float64
	}{
		{sampled("x"), sampled("y"), 0.015 * math.Sqrt2},
		{sampled("x"), sampled("x"), 0.015 * math.Sqrt2}, // the samples of two functions are independent
		{believed("x"), believed("y"), 0.02 * math.Sqrt2},
		{believed("x"), believed("x"), 0.04}, // one estimate, wrong for both or for neither
		{sampled("x"), believed("y"), 0.025},
	} {
		i := Together(limitCPU, c.a, c.b)
		half(i.Value, 0.1)
		half(i.High-i.Value, c.want)
		half(i.Value-i.Low, c.want)
	}
	twice := sampled("x")
	if i := Together(limitCPU, twice, twice, nil); i.Value != 0.05 {
		t.Errorf("the same finding twice: %v", i)
	}
	host := sampled("x")
	host.Also = []Finding{*promised("small", 0.01, 0, 0.5, 0)}
	half(Together(limitCPU, host).Value, 0.055)
	if i := Together(limitLatency, host); i.Value != 0 || i.High != 0 {
		t.Errorf("of another resource: %v", i)
	}
}

// A setting saves nothing of the collection that no longer happens.
func TestTogetherChargesCollectionOnce(t *testing.T) {
	code := promised("x", 0.2, 0, 1, 0)
	code.Cost.GCShare = ptr(0.05)
	setting := &Finding{Rule: "gc", Kind: rule.Config, Saving: &Saving{Resource: limitCPU, Share: 0.06, Low: 0.06, High: 0.06, OfCollector: 0.06}, Cost: Cost{GCShare: ptr(0.1)}}
	if i := Together(limitCPU, code, setting); math.Abs(i.Value-0.23) > 1e-12 {
		t.Errorf("%v, want 0.2 and half of 0.06", i)
	}
	setting.Saving.OfCollector = 0.03
	if i := Together(limitCPU, code, setting); math.Abs(i.Value-0.245) > 1e-12 {
		t.Errorf("%v, want 0.2, 0.03 and half of 0.03", i)
	}
	setting.Saving.OfCollector = 0
	if i := Together(limitCPU, code, setting); math.Abs(i.Value-0.26) > 1e-12 {
		t.Errorf("%v, want all of both where the setting saves no collection", i)
	}
}

// TestLiveMemoryIsNotAllocatedAgain: what start-up code left in memory is neither a finding nor a
// saving of a rule about repeated allocation; a rule about memory may claim it.
func TestLiveMemoryIsNotAllocatedAgain(t *testing.T) {
	live := func(function string) []*site.Row { return []*site.Row{row(1000, 5<<20, function)} }
	small := rule.Match{Site: at("main.both", "f.go", 2), Live: live("main.both"), CPU: []*site.Row{cpu(2, "x", "main.both")}}
	start := rule.Match{Site: at("main.start", "f.go", 1), Live: live("main.start")}
	r := diagnose(t, pass(), finds("x", start, small))
	if got := order(r); got != "" || r.Hidden.BelowFloor != 1 {
		t.Errorf("%q, %d hidden", got, r.Hidden.BelowFloor)
	}
	for _, about := range []rule.Rule{{ID: "leak", Kind: rule.Leak}, {ID: "says", Kind: rule.Alloc, Memory: true}} {
		with := finds(about.ID, start)
		with.Kind, with.Memory = about.Kind, about.Memory
		r = diagnose(t, pass(), with)
		if len(r.Findings) != 1 || r.Findings[0].Saving.Resource != limitMemory {
			t.Errorf("%s: %+v", about.ID, r.Findings)
		}
	}
}

// TestCompany: a finding that is too small to be reported separately is reported with a finding of
// the same function.
func TestCompany(t *testing.T) {
	big := rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(100, "x", "main.f")}}
	few := rule.Match{Site: at("main.f", "f.go", 2), CPU: []*site.Row{cpu(7, "y", "main.f")}}
	made := rule.Match{Site: at("main.f", "f.go", 3), Allocs: []*site.Row{row(60_000, 60_000*8, "main.f")}}
	chance := rule.Match{Site: at("main.f", "f.go", 4), CPU: []*site.Row{cpu(1, "z", "main.f")}}
	alone := rule.Match{Site: at("main.g", "f.go", 5), CPU: []*site.Row{cpu(7, "y", "main.g")}}
	r := diagnose(t, pass(), finds("big", big), finds("few", few, alone), finds("made", made), finds("chance", chance))
	if got := order(r); got != "big@main.f" {
		t.Fatal(got)
	}
	var also []string
	for _, f := range r.Findings[0].Also {
		also = append(also, f.Rule)
	}
	if len(also) != 2 || also[0] != "few" || also[1] != "made" || r.Hidden.BelowFloor != 2 {
		t.Errorf("company %v, %d hidden", also, r.Hidden.BelowFloor)
	}
}
