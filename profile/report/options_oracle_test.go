package report_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// viewText prints a view's Top as `pprof -top` prints it, from the line that states how much is
// shown.
func viewText(v *report.View, top *report.Table) string {
	var b strings.Builder
	unit := v.UnitFor(top.Smallest())
	if len(top.Rows) == 0 && v.Unit == "minimum" {
		unit = "auto" // pprof then chooses no unit: values of unknown units have none
	}
	value := func(n int64) string { return v.Format(n, unit) }
	percent := func(n int64) string { return measure.Percent(n, v.Total) }
	fmt.Fprintf(&b, "Showing nodes accounting for %s, %s of %s total\n", value(top.Flat), strings.TrimSpace(percent(top.Flat)), value(v.Total))
	var sum int64
	for _, r := range top.Rows {
		sum += r.Flat
		name := r.String()
		if r.Inline != report.NotInlined {
			name += " " + r.Inline.String()
		}
		fmt.Fprintf(&b, "%10s %s %s %10s %s  %s\n", value(r.Flat), percent(r.Flat), percent(sum), value(r.Cum), percent(r.Cum), name)
	}
	return b.String()
}

// shown reduces pprof's text to what viewText prints.
func shown(report string) string {
	_, report, _ = strings.Cut(report, "Showing nodes")
	head, table, _ := strings.Cut(report, "cum%\n")
	head, _, _ = strings.Cut(head, "\n")
	return "Showing nodes" + head + "\n" + table
}

// sameView compares the whole table of a view with that of pprof.
func sameView(t testing.TB, g *google.Profile, o report.Options, args ...string) {
	t.Helper()
	sameDiff(t, g, nil, profile.Subtraction{}, o, args...)
}

func sameDiff(t testing.TB, g, base *google.Profile, against profile.Subtraction, o report.Options, args ...string) {
	t.Helper()
	p := profiletest.FromGoogle(t, g)
	if base != nil {
		var err error
		if p, err = profile.Subtract(p, profiletest.FromGoogle(t, base), against); err != nil {
			t.Fatal(err)
		}
	}
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-top"}, args...)
	want := strings.Split(shown(pprofDiff(t, g, base, args...)), "\n")
	if diff := cmp.Diff(want, strings.Split(viewText(v, top), "\n")); diff != "" {
		t.Fatalf("pprof %s (-pprof +hone):\n%s", strings.Join(args, " "), diff)
	}
}

// symbolised names all locations: pprof has a row for each binary's path where hone has one for its
// base name, and prints ":7" for line 7 of a location without a name.
func symbolised(g *google.Profile) *google.Profile {
	for i, st := range g.SampleType {
		st.Type = fmt.Sprint("type", i) // pprof distinguishes them by name
	}
	g.DropFrames, g.KeepFrames = "", ""
	for _, l := range g.Location {
		if len(l.Line) == 0 {
			l.Line = []google.Line{{Function: g.Function[0]}}
		}
		for i := range l.Line {
			l.Line[i].Line = max(1, l.Line[i].Line)
			l.Line[i].Column = max(0, l.Line[i].Column)
		}
	}
	return g
}

// optionCase is one pprof option in hone's and in pprof's form.
type optionCase struct {
	arg string
	set func(*report.Options)
}

// optionCases has cases for each option that a text report uses.
func optionCases() map[string][]optionCase {
	expressions := []string{"main", "f$", "runtime", "b.go", "T", "nothing", "^a$"}
	of := func(option string, to func(*report.Options, *regexp.Regexp), texts ...string) []optionCase {
		var cases []optionCase
		for _, text := range texts {
			cases = append(cases, optionCase{"-" + option + "=" + text, func(o *report.Options) { to(o, regexp.MustCompile(text)) }})
		}
		return cases
	}
	tag := func(option string, to func(*report.Options, *profile.TagFilter)) []optionCase {
		var cases []optionCase
		for _, text := range []string{"x", "tenant=x", "tenant=x,y", "a:x,tenant:y", "2", "2:", ":2kb", "2kb:4kb", "a=1s:3s", "bytes=1:2", "1kb:3s", "0.5:", "bytes=:3kb", "-1:", "2ms:1hr"} {
			f, err := profile.ParseTagFilter(text)
			if err != nil {
				panic(err)
			}
			cases = append(cases, optionCase{"-" + option + "=" + text, func(o *report.Options) { to(o, f) }})
		}
		return cases
	}
	return map[string][]optionCase{
		"focus":      of("focus", func(o *report.Options, re *regexp.Regexp) { o.Focus = re }, expressions...),
		"ignore":     of("ignore", func(o *report.Options, re *regexp.Regexp) { o.Ignore = re }, expressions...),
		"hide":       of("hide", func(o *report.Options, re *regexp.Regexp) { o.Hide = re }, expressions...),
		"show":       of("show", func(o *report.Options, re *regexp.Regexp) { o.Show = re }, expressions...),
		"show_from":  of("show_from", func(o *report.Options, re *regexp.Regexp) { o.ShowFrom = re }, expressions...),
		"prune_from": of("prune_from", func(o *report.Options, re *regexp.Regexp) { o.PruneFrom = re }, append(expressions, "operator$")...),
		"tagfocus":   tag("tagfocus", func(o *report.Options, f *profile.TagFilter) { o.TagFocus = f }),
		"tagignore":  tag("tagignore", func(o *report.Options, f *profile.TagFilter) { o.TagIgnore = f }),
		"tagroot": {
			{"-tagroot=tenant", func(o *report.Options) { o.TagRoot = []string{"tenant"} }},
			{"-tagroot=bytes,a", func(o *report.Options) { o.TagRoot = []string{"bytes", "a"} }},
		},
		"tagleaf": {
			{"-tagleaf=tenant", func(o *report.Options) { o.TagLeaf = []string{"tenant"} }},
			{"-tagleaf=bytes,a", func(o *report.Options) { o.TagLeaf = []string{"bytes", "a"} }},
		},
		"granularity": {
			{"-functions", func(o *report.Options) { o.Granularity = profile.ByFunction }},
			{"-filefunctions", func(o *report.Options) { o.Granularity = profile.ByFileFunction }},
			{"-lines", func(o *report.Options) { o.Granularity = profile.ByLine }},
			{"-addresses", func(o *report.Options) { o.Granularity = profile.ByAddress }},
		},
		"sort": {
			{"-flat", func(o *report.Options) { o.Order = report.ByFlat }},
			{"-cum", func(o *report.Options) { o.Order = report.ByCum }},
		},
		"noinlines":     {{"-noinlines", func(o *report.Options) { o.NoInlines = true }}},
		"showcolumns":   {{"-showcolumns", func(o *report.Options) { o.ShowColumns = true }}},
		"relative":      {{"-relative_percentages", func(o *report.Options) { o.RelativePercentages = true }}},
		"drop_negative": {{"-drop_negative", func(o *report.Options) { o.DropNegative = true }}},
		"mean":          {{"-mean", func(o *report.Options) { o.Mean = true }}},
		"divide_by": {
			{"-divide_by=3", func(o *report.Options) { o.DivideBy = 3 }},
			{"-divide_by=0.5", func(o *report.Options) { o.DivideBy = 0.5 }},
			{"-divide_by=-2", func(o *report.Options) { o.DivideBy = -2 }},
		},
		"unit": {
			{"-unit=auto", func(o *report.Options) { o.Unit = "auto" }},
			{"-unit=ms", func(o *report.Options) { o.Unit = "ms" }},
			{"-unit=MB", func(o *report.Options) { o.Unit = "MB" }},
		},
		"nodecount": {
			{"-nodecount=0", func(o *report.Options) { o.NodeCount = 0 }},
			{"-nodecount=3", func(o *report.Options) { o.NodeCount = 3 }},
		},
		"nodefraction": {
			{"-nodefraction=0", func(o *report.Options) { o.NodeFraction = 0 }},
			{"-nodefraction=0.3", func(o *report.Options) { o.NodeFraction = 0.3 }},
		},
		"edgefraction": {{"-edgefraction=0.4", func(o *report.Options) { o.EdgeFraction = 0.4 }}},
		"trim_path": {
			{"-trim_path=dir", func(o *report.Options) { o.TrimPath = "dir" }},
			{"-trim_path=/x:dir/", func(o *report.Options) { o.TrimPath = "/x:dir/" }},
		},
		"source_path":  {{"-source_path=/home/dir", func(o *report.Options) { o.SourcePath = "/home/dir" }}},
		"sample_index": {{"-sample_index=0", func(o *report.Options) { o.SampleIndex = "0" }}, {"-sample_index=type0", func(o *report.Options) { o.SampleIndex = "type0" }}},
	}
}

// chosen returns the flags of every group of options, because pprof keeps a group's choice from
// call to call.
func chosen(o report.Options) []string {
	return []string{
		[]string{"-functions", "-filefunctions", "-files", "-lines", "-addresses"}[o.Granularity],
		[]string{"-flat", "-cum"}[o.Order],
	}
}

func TestEachOptionEqualsPprof(t *testing.T) {
	for name, cases := range optionCases() {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			g := profiletest.Reparse(t, symbolised(profiletest.Any(true).Draw(rt, "profile")))
			c := rapid.SampledFrom(cases).Draw(rt, "case")
			o := report.DefaultOptions()
			c.set(&o)
			args := chosen(o)
			if !slices.Contains(args, c.arg) {
				args = append(args, c.arg)
			}
			sameView(t, g, o, args...)
		}))
	}
}

func TestOptionsTogetherEqualPprof(t *testing.T) {
	all := optionCases()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Reparse(t, symbolised(profiletest.Any(true).Draw(rt, "profile")))
		o := report.DefaultOptions()
		var args []string
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 8, rapid.ID).Draw(rt, "options") {
			c := rapid.SampledFrom(all[name]).Draw(rt, name)
			c.set(&o)
			if name != "granularity" && name != "sort" {
				args = append(args, c.arg)
			}
		}
		sameView(t, g, o, append(chosen(o), args...)...)
	})
}

func TestBasesEqualPprof(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, 2)
		for i := range series {
			series[i] = profiletest.Reparse(t, symbolised(series[i]))
		}
		o := report.DefaultOptions()
		against := profile.Subtraction{Mark: rapid.Bool().Draw(rt, "diff_base"), Normalize: rapid.Bool().Draw(rt, "normalize")}
		// Values of both signs in one profile make it a difference already; then pprof's order of
		// merging, scaling and adding magnitudes affects its totals, and that of merging and
		// scaling affects the rounding of rows that have one stack.
		for i, g := range series {
			for _, sample := range g.Sample {
				for i, v := range sample.Value {
					sample.Value[i] = max(v, -v)
				}
			}
			series[i] = g.Compact()
		}
		if equalSums(series[0], series[1]) {
			// pprof drops a sample whose only value is in a column that needs no scaling.
			against.Normalize = false
		}
		o.DropNegative = rapid.Bool().Draw(rt, "drop negative")
		o.RelativePercentages = rapid.Bool().Draw(rt, "relative")
		if rapid.Bool().Draw(rt, "focus") {
			o.Focus = regexp.MustCompile("main")
		}
		args := append(chosen(o), fmt.Sprintf("-normalize=%v", against.Normalize), fmt.Sprintf("-drop_negative=%v", o.DropNegative),
			fmt.Sprintf("-relative_percentages=%v", o.RelativePercentages), map[bool]string{true: "-diff_base=base", false: "-base=base"}[against.Mark])
		if o.Focus != nil {
			args = append(args, "-focus=main")
		}
		sameDiff(t, series[0], series[1], against, o, args...)
	})
}

// equalSums reports whether any column has the same sum in both profiles.
func equalSums(a, b *google.Profile) bool {
	for i := range a.SampleType {
		var sums [2]int64
		for k, p := range []*google.Profile{a, b} {
			for _, s := range p.Sample {
				sums[k] += s.Value[i]
			}
		}
		if sums[0] == sums[1] {
			return true
		}
	}
	return false
}

func TestTagShowAndHideEqualGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Reparse(t, profiletest.Any(true).Draw(rt, "profile"))
		expression := func(name string) *regexp.Regexp {
			s := rapid.SampledFrom([]string{"", "tenant", "a", "^a$", "bytes|tenant", "nothing"}).Draw(rt, name)
			if s == "" {
				return nil
			}
			return regexp.MustCompile(s)
		}
		f := profile.Filter{TagShow: expression("tagshow"), TagHide: expression("taghide")}
		got := profiletest.ToGoogle(t, profiletest.FromGoogle(t, g).Filter(f))
		g.FilterTagsByName(f.TagShow, f.TagHide)
		profiletest.Same(t, fmt.Sprintf("filter %+v", f), profiletest.Reparse(t, g), got)
	})
}

func TestAllFramesKeepsWhatTheProfileDrops(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	b.Add([]profile.FrameSpec{{Function: "runtime.inner"}, {Function: "main.f"}}, 1)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.DropFrames = `runtime\..*`
	for _, all := range []bool{false, true} {
		o := report.DefaultOptions()
		o.AllFrames = all
		v, err := report.NewView(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.Profile.Stack(0)); got != map[bool]int{false: 1, true: 2}[all] {
			t.Errorf("AllFrames %v: %d frames", all, got)
		}
	}
}

func TestTagFilterErrors(t *testing.T) {
	for _, text := range []string{"(", "tenant=(", "99999999999999999999kb", "1:99999999999999999999", "x,["} {
		if _, err := profile.ParseTagFilter(text); err == nil {
			t.Errorf("ParseTagFilter(%q) has no error", text)
		}
	}
}

func TestFiltersThatMatchNothingAreNamed(t *testing.T) {
	o := report.DefaultOptions()
	nothing := regexp.MustCompile("^nothing$")
	tag, err := profile.ParseTagFilter("nothing=1")
	if err != nil {
		t.Fatal(err)
	}
	o.Filter = profile.Filter{Focus: nothing, Hide: nothing, Ignore: regexp.MustCompile("main"), TagFocus: tag}
	v, err := report.NewView(profiletest.Small(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"focus", "hide", "tagfocus"}; !slices.Equal(v.Unmatched, want) {
		t.Errorf("got %v, want %v", v.Unmatched, want)
	}
}

// TestOptionsOnRecordedProfiles compares whole tables of profiles that this process records of
// itself: real inlining, real addresses, heap profiles with sizes.
func TestOptionsOnRecordedProfiles(t *testing.T) {
	tag := func(text string) *profile.TagFilter {
		f, err := profile.ParseTagFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	cases := []struct {
		args []string
		set  func(*report.Options)
	}{
		{nil, func(*report.Options) {}},
		{[]string{"-noinlines", "-nodefraction=0"}, func(o *report.Options) { o.NoInlines, o.NodeFraction = true, 0 }},
		{nil, func(o *report.Options) { o.Granularity = profile.ByAddress }},
		{[]string{"-nodecount=12"}, func(o *report.Options) { o.Granularity, o.Order, o.NodeCount = profile.ByLine, report.ByCum, 12 }},
		{[]string{"-tagfocus=1kb:"}, func(o *report.Options) { o.TagFocus = tag("1kb:") }},
		{[]string{"-tagignore=bytes=:64b"}, func(o *report.Options) { o.TagIgnore = tag("bytes=:64b") }},
		{[]string{"-tagroot=bytes"}, func(o *report.Options) { o.TagRoot = []string{"bytes"} }},
		{[]string{"-tagleaf=bytes", "-unit=kb"}, func(o *report.Options) { o.TagLeaf, o.Unit = []string{"bytes"}, "kb" }},
		{[]string{"-show_from=profiletest", "-relative_percentages"}, func(o *report.Options) {
			o.ShowFrom, o.RelativePercentages = regexp.MustCompile("profiletest"), true
		}},
		{[]string{"-prune_from=^runtime"}, func(o *report.Options) { o.PruneFrom = regexp.MustCompile("^runtime") }},
		{[]string{"-mean"}, func(o *report.Options) { o.Mean = true }},
		{[]string{"-divide_by=7", "-unit=auto"}, func(o *report.Options) { o.DivideBy, o.Unit = 7, "auto" }},
	}
	for name, g := range profiletest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			for i := range g.SampleType {
				for _, c := range cases {
					o := report.DefaultOptions()
					o.SampleIndex = fmt.Sprint(i)
					c.set(&o)
					sameView(t, g, o, append(append(chosen(o), "-sample_index="+o.SampleIndex), c.args...)...)
				}
			}
		})
	}
}

func TestAgainstLeavesBothSidesAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, 2)
		p, base := profiletest.FromGoogle(t, series[0]), profiletest.FromGoogle(t, series[1])
		before, beforeBase := profiletest.Describe(profiletest.ToGoogle(t, p)), profiletest.Describe(profiletest.ToGoogle(t, base))
		for range 2 { // a second time would find what the first one left in the pages
			if _, err := profile.Subtract(p, base, profile.Subtraction{Mark: true, Normalize: rapid.Bool().Draw(rt, "normalize")}); err != nil {
				t.Fatal(err)
			}
		}
		if profiletest.Describe(profiletest.ToGoogle(t, p)) != before || profiletest.Describe(profiletest.ToGoogle(t, base)) != beforeBase {
			t.Fatal("a profile has changed")
		}
	})
}
