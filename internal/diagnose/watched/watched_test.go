package watched_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
)

// TestRecursive: a function that calls itself in few of its rows is like any other.
func TestRecursive(t *testing.T) {
	row := func(value int64, functions ...string) *site.Row {
		r := &site.Row{Value: value}
		for _, f := range functions {
			r.Stack = append(r.Stack, &site.Frame{Function: f})
		}
		return r
	}
	once := func(value int64) *site.Row { return row(value, "main.match", "main.main") }
	twice := func(value int64) *site.Row { return row(value, "main.match", "main.match", "main.main") }
	for name, c := range map[string]struct {
		cpu, allocs []*site.Row
		want        bool
		nanoseconds int64
	}{
		"never":               {cpu: []*site.Row{once(10)}, nanoseconds: 10},
		"seldom":              {cpu: []*site.Row{once(95), twice(5)}, nanoseconds: 100},
		"mostly":              {cpu: []*site.Row{once(10), twice(50)}, want: true, nanoseconds: 60},
		"where it allocates":  {cpu: []*site.Row{once(10)}, allocs: []*site.Row{twice(50)}, want: true, nanoseconds: 10},
		"seldom allocates so": {cpu: []*site.Row{once(10)}, allocs: []*site.Row{once(99), twice(1)}, nanoseconds: 10},
	} {
		p := &rule.Pass{Table: &site.Table{Sites: []*site.Site{{CPU: c.cpu, Allocs: c.allocs}}}, Inputs: &inputs.Counts{Functions: []inputs.Function{{Name: "main.match"}}}}
		got := watched.Costs(p)["main.match"]
		if got.Recursive != c.want || got.Nanoseconds != c.nanoseconds {
			t.Errorf("%s: recursive %t and %d ns, want %t and %d", name, got.Recursive, got.Nanoseconds, c.want, c.nanoseconds)
		}
	}
}
