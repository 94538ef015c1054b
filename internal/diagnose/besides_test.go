package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// TestSavingOfSystemCalls: system calls leave cold caches to the code that makes them, so fewer of
// them may save more than they cost.
func TestSavingOfSystemCalls(t *testing.T) {
	save := func(leaf string) Saving {
		f := diagnose(t, pass(), finds("calls", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(200, leaf, "main.f")}})).Findings
		if len(f) != 1 {
			t.Fatal(f)
		}
		return *f[0].Saving
	}
	plain, more := save("main.g"), save("internal/runtime/syscall/linux.Syscall6")
	if want := crowded(0.8*0.2*(1+trapped.Value)) - crowded(0.8*0.2); math.Abs(more.Share-plain.Share-want) > 1e-6 {
		t.Errorf("saves %.4f, without system calls %.4f; want %.4f more", more.Share, plain.Share, want)
	}
	if more.High < plain.High+0.03 {
		t.Errorf("%+v, without system calls %+v", more, plain)
	}
}

// TestSavingOfBarriers: fewer collections spend less time in the write barriers of other lines, by
// the share of the bytes.
func TestSavingOfBarriers(t *testing.T) {
	save := func(leaf string, bytes int64) Saving {
		p := pass()
		others := at("main.g", "g.go", 1)
		others.CPU = []*site.Row{cpu(100, leaf, "main.g")}
		p.Table.Sites = []*site.Site{others}
		f := diagnose(t, p, finds("makes", rule.Match{
			Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(200, "gcWriteBarrier", "main.f")}, Allocs: []*site.Row{row(10, bytes, "main.f")},
		})).Findings
		if len(f) != 1 {
			t.Fatal(f)
		}
		return *f[0].Saving
	}
	for bytes, barriers := range map[int64]float64{50 << 20: 0.8 * barred.Value * 0.5 * 0.1, 0: 0} {
		plain, more := save("main.h", bytes), save("runtime.wbBufFlush1", bytes)
		// Both are slightly more than the square of what they save without crowding.
		want := barriers * (1 + crowding.Value*plain.Share*(2-3*plain.Share))
		if math.Abs(more.Share-plain.Share-want) > 1e-6 {
			t.Errorf("%d bytes: saves %.4f, without barriers %.4f; want %.4f more", bytes, more.Share, plain.Share, want)
		}
	}
}

// crowded returns the expected saving of a fix that saves so much without what others gain by it.
func crowded(saved float64) float64 {
	return withCrowding(stats.Interval{Value: saved, Low: saved, High: saved}).Value
}

// TestCrowding: code between two runs of a line runs faster without it, the more of the time the
// line has; as long as nothing is known of that code, it may also gain nothing.
func TestCrowding(t *testing.T) {
	for _, c := range []struct{ saves, least, most float64 }{{0.05, 0.05, 0.053}, {0.3, 0.31, 0.34}, {0.6, 0.65, 0.69}, {0.9, 0.92, 0.94}, {1, 1, 1}} {
		with := withCrowding(stats.Interval{Value: c.saves, Low: c.saves / 2, High: c.saves})
		if with.Value < c.least || with.Value > c.most {
			t.Errorf("%.2f: saves %.3f, want %.2f to %.2f", c.saves, with.Value, c.least, c.most)
		}
		if with.Low > with.Value-c.saves/2+1e-9 || with.High < with.Value || with.High > 1 {
			t.Errorf("%.2f: saves %+v", c.saves, with)
		}
	}
	if with := withCrowding(stats.Interval{Value: 0.6, Low: 0.6, High: 0.6}); with.Low > 0.6+1e-9 {
		t.Errorf("saves at least %.3f, want what the line costs", with.Low)
	}
	bench := pass()
	bench.Manifest.Target.Bench = "."
	alone := finds("alone", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(600, "main.f")}})
	if got, want := diagnose(t, bench, alone).Findings[0].Saving.Share, 0.8*0.6; math.Abs(got-want) > 1e-6 {
		t.Errorf("saves %.4f of a benchmark, want %.4f", got, want)
	}
	if got, want := diagnose(t, pass(), alone).Findings[0].Saving.Share, crowded(0.8*0.6); math.Abs(got-want) > 1e-6 {
		t.Errorf("saves %.4f of a service, want %.4f", got, want)
	}
	knows := claiming(finds("knows", rule.Match{Site: at("main.f", "f.go", 1), CPU: []*site.Row{cpu(600, "main.f")}}), func(c *rule.Claim) {
		c.Beside = stats.Interval{Value: 0.1, Low: 0.1, High: 0.1}
	})
	if got, want := diagnose(t, pass(), knows).Findings[0].Saving.Share, 0.8*0.6+0.1*0.6; math.Abs(got-want) > 1e-6 {
		t.Errorf("saves %.4f where the rule knows what the others gain, want %.4f", got, want)
	}
}
