package diagnose

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

func TestSpent(t *testing.T) {
	table := &site.Table{
		Sites: []*site.Site{
			{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Main}}, Cost: site.Cost{CPUSeconds: 2}},
			{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Main}}, Cost: site.Cost{CPUSeconds: 1}},
			{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Dependency}}, Cost: site.Cost{CPUSeconds: 1}},
		},
		Buckets: []site.Bucket{{Name: "scheduler", Seconds: 1}, {Name: "none"}, {Name: "collector", Seconds: 5}},
	}
	table.Totals.TotalSeconds = 10
	want := []Spent{{"your lines", 0.3}, {"dependencies", 0.1}, {"collector", 0.5}, {"scheduler", 0.1}}
	if got := spent(table); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := spent(&site.Table{}); got != nil {
		t.Errorf("nothing was profiled: %v", got)
	}
}
