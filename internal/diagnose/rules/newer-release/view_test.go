package newerrelease

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestBelow: a function that another one calls is a second one if it has much of the saved CPU.
func TestBelow(t *testing.T) {
	p, row := passOf(t)
	cpu := view{saves: 0.2, after: costs{module + ".Parse": 0.70, module + ".sum": 0.15, module + ".step": 0.05}, rows: []*site.Row{
		row(25, "sum", "section", "Parse", "Next"),
		row(10, "step", "Parse", "Next"),
		row(55, "Parse", "Next"),
		row(10, "sum", "Write"),
	}}
	bytes := view{saves: 0.5, bytes: true, other: &cpu}
	for name, v := range map[string]view{"of CPU": cpu, "of allocations": bytes} {
		got := v.below(p, module, module+".Parse").list
		if len(got) != 2 || got[0].function != module+".section" || got[1].function != module+".sum" || math.Abs(got[1].less-0.2) > 1e-9 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	bytes.other = nil
	if got := bytes.below(p, module, module+".Parse").list; len(got) > 0 {
		t.Errorf("without a saving of CPU: %+v", got)
	}
}

const module = "example.com/dep"

// passOf returns a pass that knows a module, and a function that makes rows of its functions.
func passOf(t *testing.T) (*rule.Pass, func(value int64, functions ...string) *site.Row) {
	code, err := gocode.Open(t.Context(), gocode.Config{
		BuildInfo: "go\tgo1.26.8\npath\texample.com/x\nmod\texample.com/x\t(devel)\t\ndep\t" + module + "\tv1.0.0\th1:x=\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	return &rule.Pass{Code: code}, func(value int64, functions ...string) *site.Row {
		r := &site.Row{Value: value}
		for i, name := range functions {
			f := &site.Frame{Function: module + "." + name, File: name + ".go", Line: 10 + i}
			f.Owner.Module = module
			r.Stack = append(r.Stack, f)
		}
		return r
	}
}

// TestWithout: a second function is one that is never in a stack with the first, and saves enough.
func TestWithout(t *testing.T) {
	p, row := passOf(t)
	v := view{saves: 0.6, after: costs{module + ".Decode": 0.05, module + ".Little": 0.02}, rows: []*site.Row{
		row(40, "scan", "Encode", "Both"),
		row(30, "grow", "Decode", "Run"),
		row(5, "Little"),
		row(25, "main", "Both"), // which Encode's stacks have, too
	}}
	v.list = savings(p, module, rowCosts(v.rows), v.after)
	rest := v.without(p, module, module+".Encode")
	got := map[string]float64{}
	for _, f := range rest.list {
		got[f.function] = f.less
	}
	want := map[string]float64{".grow": 0.3, ".Decode": 0.25, ".Run": 0.3, ".main": 0.25}
	for name, less := range want {
		if math.Abs(got[module+name]-less) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got[module+name], less)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	m := recording.ModuleUpgrade{Path: module}
	if hot, share := v.hottest(m, module+".Encode"); hot == nil || hot.File != "scan.go" || share != 1 {
		t.Errorf("hottest line %+v, %g", hot, share)
	}
	v.saves = 0 // of waiting, or of what stays, nothing is known with the newer release
	if rest := v.without(p, module, module+".Encode"); len(rest.list) > 0 {
		t.Errorf("%v", rest.list)
	}
}
