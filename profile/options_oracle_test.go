package profile_test

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
)

// viewText prints a view's Top as `pprof -top` prints it, from the line that
// says how much is shown.
func viewText(v *profile.View, top *profile.Top) string {
	var b strings.Builder
	unit := v.UnitFor(top.Smallest())
	if len(top.Rows) == 0 && v.Unit == "minimum" {
		unit = "auto" // pprof then chooses none: what has no known unit stays bare
	}
	value := func(n int64) string { return v.Format(n, unit) }
	percent := func(n int64) string { return profile.FormatPercent(n, v.Total) }
	fmt.Fprintf(&b, "Showing nodes accounting for %s, %s of %s total\n", value(top.Flat), strings.TrimSpace(percent(top.Flat)), value(v.Total))
	var sum int64
	for _, r := range top.Rows {
		sum += r.Flat
		name := r.String()
		if r.Inline != profile.NotInlined {
			name += " " + r.Inline.String()
		}
		fmt.Fprintf(&b, "%10s %s %s %10s %s  %s\n", value(r.Flat), percent(r.Flat), percent(sum), value(r.Cum), percent(r.Cum), name)
	}
	return b.String()
}

// shown cuts pprof's text down to what viewText prints.
func shown(report string) string {
	_, report, _ = strings.Cut(report, "Showing nodes")
	head, table, _ := strings.Cut(report, "cum%\n")
	head, _, _ = strings.Cut(head, "\n")
	return "Showing nodes" + head + "\n" + table
}

// sameView compares the whole table of a view with that of pprof.
func sameView(t testing.TB, g *google.Profile, o profile.ViewOptions, args ...string) {
	t.Helper()
	sameDiff(t, g, nil, profile.BaseOptions{}, o, args...)
}

func sameDiff(t testing.TB, g, base *google.Profile, against profile.BaseOptions, o profile.ViewOptions, args ...string) {
	t.Helper()
	p := fromGoogle(t, g)
	if base != nil {
		var err error
		if p, err = p.Against(fromGoogle(t, base), against); err != nil {
			t.Fatal(err)
		}
	}
	v, err := p.View(o)
	if err != nil {
		t.Fatal(err)
	}
	top, err := v.Profile.Top(v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-top"}, args...)
	want := strings.Split(shown(pprofDiff(t, g, base, args...)), "\n")
	if diff := cmp.Diff(want, strings.Split(viewText(v, top), "\n")); diff != "" {
		t.Fatalf("pprof %s (-pprof +hone):\n%s", strings.Join(args, " "), diff)
	}
}

// symbolised names all locations: pprof has a row for each binary's path where
// hone has one for its base name, and prints ":7" for line 7 of nothing.
func symbolised(g *google.Profile) *google.Profile {
	for i, st := range g.SampleType {
		st.Type = fmt.Sprint("type", i) // pprof tells them apart by name
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

// optionCase is one pprof option in both languages.
type optionCase struct {
	arg string
	set func(*profile.ViewOptions)
}

// optionCases are those of each option that a report in text obeys.
func optionCases() map[string][]optionCase {
	expressions := []string{"main", "f$", "runtime", "b.go", "T", "nothing", "^a$"}
	of := func(option string, to func(*profile.ViewOptions, *regexp.Regexp), texts ...string) []optionCase {
		var cases []optionCase
		for _, text := range texts {
			cases = append(cases, optionCase{"-" + option + "=" + text, func(o *profile.ViewOptions) { to(o, regexp.MustCompile(text)) }})
		}
		return cases
	}
	tag := func(option string, to func(*profile.ViewOptions, *profile.TagFilter)) []optionCase {
		var cases []optionCase
		for _, text := range []string{"x", "tenant=x", "tenant=x,y", "a:x,tenant:y", "2", "2:", ":2kb", "2kb:4kb", "a=1s:3s", "bytes=1:2", "1kb:3s", "0.5:", "bytes=:3kb", "-1:", "2ms:1hr"} {
			f, err := profile.ParseTagFilter(text)
			if err != nil {
				panic(err)
			}
			cases = append(cases, optionCase{"-" + option + "=" + text, func(o *profile.ViewOptions) { to(o, f) }})
		}
		return cases
	}
	return map[string][]optionCase{
		"focus":      of("focus", func(o *profile.ViewOptions, re *regexp.Regexp) { o.Focus = re }, expressions...),
		"ignore":     of("ignore", func(o *profile.ViewOptions, re *regexp.Regexp) { o.Ignore = re }, expressions...),
		"hide":       of("hide", func(o *profile.ViewOptions, re *regexp.Regexp) { o.Hide = re }, expressions...),
		"show":       of("show", func(o *profile.ViewOptions, re *regexp.Regexp) { o.Show = re }, expressions...),
		"show_from":  of("show_from", func(o *profile.ViewOptions, re *regexp.Regexp) { o.ShowFrom = re }, expressions...),
		"prune_from": of("prune_from", func(o *profile.ViewOptions, re *regexp.Regexp) { o.PruneFrom = re }, append(expressions, "operator$")...),
		"tagfocus":   tag("tagfocus", func(o *profile.ViewOptions, f *profile.TagFilter) { o.TagFocus = f }),
		"tagignore":  tag("tagignore", func(o *profile.ViewOptions, f *profile.TagFilter) { o.TagIgnore = f }),
		"tagroot": {
			{"-tagroot=tenant", func(o *profile.ViewOptions) { o.TagRoot = []string{"tenant"} }},
			{"-tagroot=bytes,a", func(o *profile.ViewOptions) { o.TagRoot = []string{"bytes", "a"} }},
		},
		"tagleaf": {
			{"-tagleaf=tenant", func(o *profile.ViewOptions) { o.TagLeaf = []string{"tenant"} }},
			{"-tagleaf=bytes,a", func(o *profile.ViewOptions) { o.TagLeaf = []string{"bytes", "a"} }},
		},
		"granularity": {
			{"-functions", func(o *profile.ViewOptions) { o.Granularity = profile.ByFunction }},
			{"-filefunctions", func(o *profile.ViewOptions) { o.Granularity = profile.ByFileFunction }},
			{"-lines", func(o *profile.ViewOptions) { o.Granularity = profile.ByLine }},
			{"-addresses", func(o *profile.ViewOptions) { o.Granularity = profile.ByAddress }},
		},
		"sort": {
			{"-flat", func(o *profile.ViewOptions) { o.Order = profile.ByFlat }},
			{"-cum", func(o *profile.ViewOptions) { o.Order = profile.ByCum }},
		},
		"noinlines":     {{"-noinlines", func(o *profile.ViewOptions) { o.NoInlines = true }}},
		"showcolumns":   {{"-showcolumns", func(o *profile.ViewOptions) { o.ShowColumns = true }}},
		"relative":      {{"-relative_percentages", func(o *profile.ViewOptions) { o.RelativePercentages = true }}},
		"drop_negative": {{"-drop_negative", func(o *profile.ViewOptions) { o.DropNegative = true }}},
		"mean":          {{"-mean", func(o *profile.ViewOptions) { o.Mean = true }}},
		"divide_by": {
			{"-divide_by=3", func(o *profile.ViewOptions) { o.DivideBy = 3 }},
			{"-divide_by=0.5", func(o *profile.ViewOptions) { o.DivideBy = 0.5 }},
			{"-divide_by=-2", func(o *profile.ViewOptions) { o.DivideBy = -2 }},
		},
		"unit": {
			{"-unit=auto", func(o *profile.ViewOptions) { o.Unit = "auto" }},
			{"-unit=ms", func(o *profile.ViewOptions) { o.Unit = "ms" }},
			{"-unit=MB", func(o *profile.ViewOptions) { o.Unit = "MB" }},
		},
		"nodecount": {
			{"-nodecount=0", func(o *profile.ViewOptions) { o.NodeCount = 0 }},
			{"-nodecount=3", func(o *profile.ViewOptions) { o.NodeCount = 3 }},
		},
		"nodefraction": {
			{"-nodefraction=0", func(o *profile.ViewOptions) { o.NodeFraction = 0 }},
			{"-nodefraction=0.3", func(o *profile.ViewOptions) { o.NodeFraction = 0.3 }},
		},
		"edgefraction": {{"-edgefraction=0.4", func(o *profile.ViewOptions) { o.EdgeFraction = 0.4 }}},
		"trim_path": {
			{"-trim_path=dir", func(o *profile.ViewOptions) { o.TrimPath = "dir" }},
			{"-trim_path=/x:dir/", func(o *profile.ViewOptions) { o.TrimPath = "/x:dir/" }},
		},
		"source_path":  {{"-source_path=/home/dir", func(o *profile.ViewOptions) { o.SourcePath = "/home/dir" }}},
		"sample_index": {{"-sample_index=0", func(o *profile.ViewOptions) { o.SampleIndex = "0" }}, {"-sample_index=type0", func(o *profile.ViewOptions) { o.SampleIndex = "type0" }}},
	}
}

// oneOfEachGroup: pprof remembers a group's choice from call to call.
func chosen(o profile.ViewOptions) []string {
	return []string{
		[]string{"-functions", "-filefunctions", "-files", "-lines", "-addresses"}[o.Granularity],
		[]string{"-flat", "-cum"}[o.Order],
	}
}

func TestEachOptionEqualsPprof(t *testing.T) {
	for name, cases := range optionCases() {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			g := reparse(t, symbolised(anyProfile(true).Draw(rt, "profile")))
			c := rapid.SampledFrom(cases).Draw(rt, "case")
			o := profile.DefaultViewOptions()
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
		g := reparse(t, symbolised(anyProfile(true).Draw(rt, "profile")))
		o := profile.DefaultViewOptions()
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
		series := anySeries(rt, 2)
		for i := range series {
			series[i] = reparse(t, symbolised(series[i]))
		}
		o := profile.DefaultViewOptions()
		against := profile.BaseOptions{Mark: rapid.Bool().Draw(rt, "diff_base"), Normalize: rapid.Bool().Draw(rt, "normalize")}
		// Values of both signs in one profile make it a difference already, and pprof's
		// order of merging, scaling and adding up magnitudes then shows in its totals; that of
		// merging and scaling shows in the rounding of rows that have one stack.
		for i, g := range series {
			for _, sample := range g.Sample {
				for i, v := range sample.Value {
					sample.Value[i] = max(v, -v)
				}
			}
			series[i] = g.Compact()
		}
		if equalSums(series[0], series[1]) {
			// pprof forgets a sample whose only value is in a column that needs no scaling.
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
		g := reparse(t, anyProfile(true).Draw(rt, "profile"))
		expression := func(name string) *regexp.Regexp {
			s := rapid.SampledFrom([]string{"", "tenant", "a", "^a$", "bytes|tenant", "nothing"}).Draw(rt, name)
			if s == "" {
				return nil
			}
			return regexp.MustCompile(s)
		}
		f := profile.Filter{TagShow: expression("tagshow"), TagHide: expression("taghide")}
		got := toGoogle(t, fromGoogle(t, g).Filter(f))
		g.FilterTagsByName(f.TagShow, f.TagHide)
		sameProfile(t, fmt.Sprintf("filter %+v", f), reparse(t, g), got)
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
		o := profile.DefaultViewOptions()
		o.AllFrames = all
		v, err := p.View(o)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.Profile.Stack(0, nil)); got != map[bool]int{false: 1, true: 2}[all] {
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
	o := profile.DefaultViewOptions()
	nothing := regexp.MustCompile("^nothing$")
	tag, err := profile.ParseTagFilter("nothing=1")
	if err != nil {
		t.Fatal(err)
	}
	o.Filter = profile.Filter{Focus: nothing, Hide: nothing, Ignore: regexp.MustCompile("main"), TagFocus: tag}
	v, err := small(t).View(o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"focus", "hide", "tagfocus"}; !slices.Equal(v.Unmatched, want) {
		t.Errorf("got %v, want %v", v.Unmatched, want)
	}
}

// TestOptionsOnRecordedProfiles compares whole tables on what this process
// records of itself: real inlining, real addresses, heap profiles with sizes.
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
		set  func(*profile.ViewOptions)
	}{
		{nil, func(*profile.ViewOptions) {}},
		{[]string{"-noinlines", "-nodefraction=0"}, func(o *profile.ViewOptions) { o.NoInlines, o.NodeFraction = true, 0 }},
		{nil, func(o *profile.ViewOptions) { o.Granularity = profile.ByAddress }},
		{[]string{"-nodecount=12"}, func(o *profile.ViewOptions) { o.Granularity, o.Order, o.NodeCount = profile.ByLine, profile.ByCum, 12 }},
		{[]string{"-tagfocus=1kb:"}, func(o *profile.ViewOptions) { o.TagFocus = tag("1kb:") }},
		{[]string{"-tagignore=bytes=:64b"}, func(o *profile.ViewOptions) { o.TagIgnore = tag("bytes=:64b") }},
		{[]string{"-tagroot=bytes"}, func(o *profile.ViewOptions) { o.TagRoot = []string{"bytes"} }},
		{[]string{"-tagleaf=bytes", "-unit=kb"}, func(o *profile.ViewOptions) { o.TagLeaf, o.Unit = []string{"bytes"}, "kb" }},
		{[]string{"-show_from=profile_test", "-relative_percentages"}, func(o *profile.ViewOptions) {
			o.ShowFrom, o.RelativePercentages = regexp.MustCompile("profile_test"), true
		}},
		{[]string{"-prune_from=^runtime"}, func(o *profile.ViewOptions) { o.PruneFrom = regexp.MustCompile("^runtime") }},
		{[]string{"-mean"}, func(o *profile.ViewOptions) { o.Mean = true }},
		{[]string{"-divide_by=7", "-unit=auto"}, func(o *profile.ViewOptions) { o.DivideBy, o.Unit = 7, "auto" }},
	}
	for name, g := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			for i := range g.SampleType {
				for _, c := range cases {
					o := profile.DefaultViewOptions()
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
		series := anySeries(rt, 2)
		p, base := fromGoogle(t, series[0]), fromGoogle(t, series[1])
		before, beforeBase := describe(toGoogle(t, p)), describe(toGoogle(t, base))
		for range 2 { // a second time would find what a first one left in the pages
			if _, err := p.Against(base, profile.BaseOptions{Mark: true, Normalize: rapid.Bool().Draw(rt, "normalize")}); err != nil {
				t.Fatal(err)
			}
		}
		if describe(toGoogle(t, p)) != before || describe(toGoogle(t, base)) != beforeBase {
			t.Fatal("a profile has changed")
		}
	})
}
