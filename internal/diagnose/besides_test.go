package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
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
	if want := 0.8 * trapped.Value * 0.2; math.Abs(more.Share-plain.Share-want) > 1e-6 {
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
	for bytes, want := range map[int64]float64{50 << 20: 0.8 * barred.Value * 0.5 * 0.1, 0: 0} {
		plain, more := save("main.h", bytes), save("runtime.wbBufFlush1", bytes)
		if math.Abs(more.Share-plain.Share-want) > 1e-6 {
			t.Errorf("%d bytes: saves %.4f, without barriers %.4f; want %.4f more", bytes, more.Share, plain.Share, want)
		}
	}
}
