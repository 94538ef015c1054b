package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestSavingOfKept: what a leak keeps may have been allocated at other lines, whose memory grows as
// well; not at lines whose memory does not grow, nor at those that another finding explains.
func TestSavingOfKept(t *testing.T) {
	live := func(function string, line int, bytes int64) *site.Site {
		s := at(function, "f.go", line)
		s.Live = []*site.Row{row(10, bytes, function)}
		return s
	}
	entry, inside, old, other := live("main.put", 1, 2<<20), live("main.make", 2, 3<<20), live("main.init", 3, 1<<20), live("main.queue", 4, 4<<20)
	p := pass()
	p.Table.Sites = []*site.Site{entry, inside, old, other}
	for _, s := range []*site.Site{entry, inside, other} {
		p.Growth = append(p.Growth, site.Grown{Frame: s.Frame, Bytes: 1 << 20, Objects: 5})
	}
	leak := func(id string, keeps bool, s *site.Site) rule.Rule {
		r := claiming(finds(id, rule.Match{Site: s, Live: s.Live}), func(c *rule.Claim) { c.Keeps = keeps })
		r.Kind = rule.Leak
		return r
	}
	saving := func(rules ...rule.Rule) Saving {
		for _, f := range diagnose(t, p, rules...).Findings {
			if f.Rule == "leak" {
				return *f.Saving
			}
		}
		t.Fatal("not found")
		return Saving{}
	}
	for _, c := range []struct {
		what              string
		rules             []rule.Rule
		least, most, high float64 // of ten MiB; fractions are 0.6, 0.8 and 0.9
	}{
		{"all that grows", []rule.Rule{leak("leak", true, entry)}, 0.12, 0.16 + 0.5*0.8*0.7, 0.18 + 0.9*0.7},
		{"what no other explains", []rule.Rule{leak("leak", true, entry), leak("queue", true, other)}, 0.12, 0.16 + 0.5*0.8*0.3, 0.18 + 0.9*0.3},
		{"what refers to nothing", []rule.Rule{leak("leak", false, entry)}, 0.12, 0.16, 0.18},
	} {
		s := saving(c.rules...)
		if math.Abs(s.Low-c.least) > 1e-6 || math.Abs(s.Share-c.most) > 1e-6 || math.Abs(s.High-c.high) > 1e-6 {
			t.Errorf("%s: %+v, want %.3f (%.3f to %.3f)", c.what, s, c.most, c.least, c.high)
		}
	}
}
