package report_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// A view applies pprof's options in one place; reports format what remains.
func ExampleNewView() {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frames := func(names ...string) (stack []profile.FrameSpec) {
		for _, name := range names {
			stack = append(stack, profile.FrameSpec{Function: name})
		}
		return stack
	}
	route := func(path string) []profile.Label { return []profile.Label{{Key: "route", Str: path}} }
	b.AddLabeled(frames("json.Marshal", "main.serve"), route("/users"), 3, 30e6)
	b.AddLabeled(frames("json.Marshal", "main.serve"), route("/carts"), 1, 10e6)
	b.AddLabeled(frames("main.render", "main.serve"), route("/users"), 6, 60e6)
	p, err := b.Profile()
	if err != nil {
		panic(err)
	}

	o := report.DefaultOptions()
	o.TagRoot = []string{"route"}
	o.Focus = regexp.MustCompile(`^json\.`)
	v, err := report.NewView(p, o)
	if err != nil {
		panic(err)
	}
	top, err := report.Top(v.Profile, v.TopOptions(3))
	if err != nil {
		panic(err)
	}
	unit := v.UnitFor(top.Smallest())
	for _, r := range top.Rows {
		fmt.Println(v.Format(r.Flat, unit), v.Format(r.Cum, unit), measure.Percent(r.Cum, v.Total), r)
	}
	// Output:
	// 40ms 40ms 40.00% json.Marshal
	// 0 10ms 10.00% /carts
	// 0 30ms 30.00% /users
}

func FuzzParseTagFilter(f *testing.F) {
	for _, s := range []string{"", "x", "a=b,c", "1kb:", ":2mb", "1:2", "-5s:+5s", "a=1kb:2kb", "9223372036854775808", "(", "=", "a=(b"} {
		f.Add(s)
	}
	p := profiletest.Small(f)
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := profile.ParseTagFilter(s)
		if err != nil {
			return
		}
		if filter.String() != s {
			t.Errorf("ParseTagFilter(%q) says %q", s, filter)
		}
		kept := p.Filter(profile.Filter{TagFocus: filter}).NumSamples()
		dropped := p.Filter(profile.Filter{TagIgnore: filter}).NumSamples()
		if kept+dropped != p.NumSamples() {
			t.Errorf("%q keeps %d and drops %d of %d samples", s, kept, dropped, p.NumSamples())
		}
	})
}

func TestViewRefuses(t *testing.T) {
	p := profiletest.Small(t)
	for name, set := range map[string]func(*report.Options){
		"a divisor of zero":    func(o *report.Options) { o.DivideBy = 0 },
		"an unknown value":     func(o *report.Options) { o.SampleIndex = "nosuch" },
		"an index out of them": func(o *report.Options) { o.SampleIndex = "9" },
	} {
		o := report.DefaultOptions()
		set(&o)
		if _, err := report.NewView(p, o); err == nil {
			t.Errorf("View takes %s", name)
		}
	}
}
