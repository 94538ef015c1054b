package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/internal/pprofdriver"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// labelled generates profiles with inlined calls, labels of all kinds and frames without symbols.
func labelled() *rapid.Generator[*google.Profile] {
	return rapid.Custom(func(t *rapid.T) *google.Profile {
		small := rapid.Int64Range(0, 9)
		g := &google.Profile{
			SampleType:        []*google.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
			DefaultSampleType: rapid.SampledFrom([]string{"", "cpu"}).Draw(t, "default"),
			PeriodType:        &google.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: small.Draw(t, "period"),
			TimeNanos: rapid.Int64Range(1, 2e18).Draw(t, "time"), DurationNanos: rapid.Int64Range(0, 4e11).Draw(t, "duration"),
			Comments: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a comment", "# hidden", "b"}), 0, 3, rapid.ID).Draw(t, "comments"),
			DocURL:   rapid.SampledFrom([]string{"", "https://example.com/doc"}).Draw(t, "doc"),
			Mapping:  []*google.Mapping{{ID: 1, Start: 0x1000, Limit: 0x9000, File: "/bin/server", BuildID: "b1", HasFunctions: true}},
		}
		for i, name := range []string{"main.main", "main.f", "runtime.mallocgc", "lib.(*T).M"} {
			g.Function = append(g.Function, &google.Function{ID: uint64(i + 1), Name: name, SystemName: rapid.SampledFrom([]string{name, "sys"}).Draw(t, "system"), Filename: "dir/../a.go", StartLine: small.Draw(t, "start")})
		}
		for i := range 6 {
			l := &google.Location{ID: uint64(i + 1), Address: uint64(0x1000 + i)}
			if rapid.Bool().Draw(t, "mapped") {
				l.Mapping = g.Mapping[0]
			}
			for range rapid.IntRange(0, 3).Draw(t, "lines") {
				l.Line = append(l.Line, google.Line{Function: rapid.SampledFrom(g.Function).Draw(t, "function"), Line: small.Draw(t, "line"), Column: small.Draw(t, "column")})
			}
			g.Location = append(g.Location, l)
		}
		for range rapid.IntRange(1, 10).Draw(t, "samples") {
			// Two tags of −3 and 3 have no defined order in pprof, so no value is negative.
			s := &google.Sample{Value: []int64{rapid.Int64Range(0, 9).Draw(t, "count"), rapid.Int64Range(0, 1e11).Draw(t, "cpu")}}
			for range rapid.IntRange(0, 5).Draw(t, "depth") {
				s.Location = append(s.Location, rapid.SampledFrom(g.Location).Draw(t, "location"))
			}
			if rapid.Bool().Draw(t, "texts") {
				s.Label = map[string][]string{"tenant": rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 1, 2).Draw(t, "tenant")}
			}
			if rapid.Bool().Draw(t, "numbers") {
				s.NumLabel = map[string][]int64{"bytes": {small.Draw(t, "bytes") + 1, 1 << 20}, "request": {small.Draw(t, "request") + 1}}
				s.NumUnit = map[string][]string{"bytes": {"kb", ""}}
			}
			g.Sample = append(g.Sample, s)
		}
		return g
	})
}

// TestSampleReportsPrintWhatPprofPrints compares whole texts.
func TestSampleReportsPrintWhatPprofPrints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := labelled().Draw(rt, "profile")
		var b bytes.Buffer
		if err := g.Write(&b); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Decode(&b, 0)
		if err != nil {
			t.Fatal(err)
		}
		index := rapid.IntRange(0, 1).Draw(rt, "index")
		mean, divide := rapid.Bool().Draw(rt, "mean"), rapid.SampledFrom([]float64{1, 3}).Draw(rt, "divide_by")
		unit := rapid.SampledFrom([]string{"minimum", "ms"}).Draw(rt, "unit")
		o := report.DefaultOptions()
		o.SampleIndex, o.Mean, o.DivideBy, o.Unit = fmt.Sprint(index), mean, divide, unit
		o.RelativePercentages, o.NoInlines = rapid.Bool().Draw(rt, "relative_percentages"), rapid.Bool().Draw(rt, "noinlines")
		o.ShowColumns = rapid.Bool().Draw(rt, "showcolumns")
		focus := rapid.SampledFrom([]string{"", "main"}).Draw(rt, "focus")
		if focus != "" {
			o.Focus = regexp.MustCompile(focus)
		}
		options := []string{
			fmt.Sprintf("-sample_index=%d", index), fmt.Sprintf("-mean=%t", mean), fmt.Sprintf("-divide_by=%g", divide), "-unit=" + unit,
			"-tagroot=", "-tagleaf=", "-focus=" + focus, fmt.Sprintf("-showcolumns=%t", o.ShowColumns), fmt.Sprintf("-noinlines=%t", o.NoInlines), fmt.Sprintf("-relative_percentages=%t", o.RelativePercentages),
		}
		page := func() SamplesPage {
			v, err := report.NewView(p, o)
			if err != nil {
				t.Fatal(err)
			}
			return SamplesPage{View: v}
		}
		same := func(report string, draw func(io.Writer), args ...string) {
			var b bytes.Buffer
			draw(&b)
			want := pprofdriver.Run(t, g, nil, append(append(args, "-"+report), options...)...)
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(b.String(), "\n")); diff != "" {
				rt.Fatalf("%s %v (-pprof +hone):\n%s", report, args, diff)
			}
		}
		for granularity, flag := range map[profile.Granularity]string{
			profile.ByFunction: "-functions", profile.ByFileFunction: "-filefunctions", profile.ByLine: "-lines", profile.ByAddress: "-addresses",
		} {
			o.Granularity = granularity
			same("traces", func(w io.Writer) { Traces(w, page(), Style{}) }, flag)
			var b bytes.Buffer
			if err := TracesJSON(&b, page()); err != nil || !json.Valid(b.Bytes()) {
				rt.Fatalf("error %v, JSON:\n%s", err, b.String())
			}
		}
		same("tags", func(w io.Writer) { Tags(w, page(), page().View.Tags()) })
		same("raw", func(w io.Writer) { Raw(w, page().View.Profile) })
	})
}
