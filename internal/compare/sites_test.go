package compare

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// stackRow returns a row with that many samples; frames that start with "main." are the main
// module's.
func stackRow(samples int64, owner int, functions ...string) *site.Row {
	r := &site.Row{Count: samples, Value: samples * 1e7, Owner: owner}
	for _, f := range functions {
		kind := gocode.Dependency
		if f[:5] == "main." {
			kind = gocode.Main
		}
		r.Stack = append(r.Stack, &site.Frame{Function: f, Owner: gocode.Owner{Kind: kind}})
	}
	return r
}

// What a function calls in other modules counts as its own, up to the next line of the main module.
func TestSpendingGoesToTheNearestFunction(t *testing.T) {
	table := &site.Table{Sites: []*site.Site{{CPU: []*site.Row{
		stackRow(1, 0, "main.report", "main.handle"),
		stackRow(2, 0, "labels.With", "main.report", "main.handle"),
		stackRow(4, 1, "hash.Sum", "labels.With", "main.report.func1", "main.report"),
		stackRow(8, 0, "main.helper", "main.report"), // helper's own, and nobody asked about it
		stackRow(16, 0, "flate.New", "chi.encode", "main.handle"),
		stackRow(32, 0, "main.reports", "main.handle"),
	}}}}
	got := map[string]int64{}
	for name, s := range spending(table, []string{"main.report", "chi.encode"}) {
		for _, r := range s.cpu {
			got[name] += r.Count
		}
	}
	if len(got) != 2 || got["main.report"] != 7 || got["chi.encode"] != 16 {
		t.Errorf("%v", got)
	}
	if s := (spent{}).share(&site.Table{}); s.Value != 0 || math.IsNaN(s.Low) {
		t.Errorf("of no CPU %v", s)
	}
}
