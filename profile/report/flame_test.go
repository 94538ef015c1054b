package report_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// flamePaths names each box by the functions from the root to it.
func flamePaths(f *report.FlameGraph) []string {
	paths := make([]string, len(f.Boxes))
	for i, b := range f.Boxes {
		if b.Parent >= 0 {
			paths[i] = paths[b.Parent] + "/" + f.Functions[b.Function].Name
		}
	}
	return paths
}

// checkLayout checks what a page relies on when it draws.
func checkLayout(t *rapid.T, f *report.FlameGraph) {
	inside := make([]int64, len(f.Boxes)) // right edge of the last child
	below := make([]int64, len(f.Boxes))
	var gaps int64
	for i, b := range f.Boxes {
		inside[i] = b.X
		if b.Width <= 0 || b.Value > b.Width || -b.Value > b.Width {
			t.Fatalf("box %d: width %d, value %d", i, b.Width, b.Value)
		}
		if b.Parent < 0 {
			if i != 0 || b.Depth != 0 || b.X != 0 {
				t.Fatalf("box %d has no parent: %+v", i, b)
			}
			continue
		}
		parent := f.Boxes[b.Parent]
		if int(b.Parent) >= i || b.Depth != parent.Depth+1 {
			t.Fatalf("box %d: %+v below %+v", i, b, parent)
		}
		if b.X != inside[b.Parent] || b.X+b.Width > parent.X+parent.Width {
			t.Fatalf("box %d: %+v does not follow its sibling within %+v", i, b, parent)
		}
		inside[b.Parent] = b.X + b.Width
		below[b.Parent] += b.Width
	}
	for i, b := range f.Boxes {
		gaps += b.Width - below[i] - max(b.Self, -b.Self)
	}
	if f.Dropped > gaps { // samples that end here may cancel out in Self
		t.Fatalf("dropped %d of gaps of %d", f.Dropped, gaps)
	}
}

func TestFlameEqualsNaiveTrie(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := profiletest.FromGoogle(t, profiletest.Any(true).Draw(rt, "profile"))
		o := report.FlameOptions{SampleIndex: rapid.IntRange(0, len(p.SampleTypes)-1).Draw(rt, "index"), Inverted: rapid.Bool().Draw(rt, "inverted")}
		full, err := report.Flame(p, o)
		if err != nil {
			t.Fatal(err)
		}

		type sums struct{ Width, Value, Self int64 }
		want := map[string]sums{}
		add := func(path string, v int64, self bool) {
			s := want[path]
			s.Width += max(v, -v)
			s.Value += v
			if self {
				s.Self += v
			}
			want[path] = s
		}
		view := report.DefaultOptions()
		view.SampleIndex, view.AllFrames = strconv.Itoa(o.SampleIndex), true
		v, err := report.NewView(p, view)
		if err != nil {
			t.Fatal(err)
		}
		with := map[int]bool{}
		rows, traces := v.Traces()
		for trace := range traces {
			frames := slices.Clone(trace.Frames)
			with[trace.Sample] = true
			if !o.Inverted {
				slices.Reverse(frames)
			}
			if trace.Value == 0 {
				continue
			}
			path := ""
			add(path, trace.Value, false)
			for i, f := range frames {
				path += "/" + rows[f.Row].Name
				add(path, trace.Value, i == len(frames)-1)
			}
		}
		for row, v := range p.Values(o.SampleIndex) {
			if !with[row] && v != 0 {
				add("", v, true)
			}
		}
		if len(want) == 0 {
			want[""] = sums{}
		}
		got := map[string]sums{}
		for i, path := range flamePaths(full) {
			b := full.Boxes[i]
			got[path] = sums{b.Width, b.Value, b.Self}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("-naive +hone:\n%s", diff)
		}
		if full.Boxes[0].Width == 0 {
			return
		}
		checkLayout(rt, full)
		if full.Dropped != 0 {
			rt.Fatalf("nothing was to be dropped, but %d was", full.Dropped)
		}

		callees, callers, err := report.FlamePair(p, report.FlameOptions{SampleIndex: o.SampleIndex})
		if err != nil {
			t.Fatal(err)
		}
		one := callees
		if o.Inverted {
			one = callers
		}
		if diff := cmp.Diff(full, one); diff != "" {
			rt.Fatalf("one of a pair (-alone +paired):\n%s", diff)
		}

		o.MaxBoxes = rapid.IntRange(1, 9).Draw(rt, "boxes")
		few, err := report.Flame(p, o)
		if err != nil {
			t.Fatal(err)
		}
		checkLayout(rt, few)
		widths := func(f *report.FlameGraph) []int64 {
			var w []int64
			for _, b := range f.Boxes {
				w = append(w, b.Width)
			}
			slices.Sort(w)
			slices.Reverse(w)
			return w
		}
		all := widths(full)
		if diff := cmp.Diff(all[:min(len(all), o.MaxBoxes)], widths(few)); diff != "" {
			rt.Fatalf("the widest %d boxes (-want +got):\n%s", o.MaxBoxes, diff)
		}
		for i, path := range flamePaths(few) {
			if got[path].Width != few.Boxes[i].Width {
				rt.Fatalf("%s: width %d, but %d with all boxes", path, few.Boxes[i].Width, got[path].Width)
			}
		}
	})
}

// TestFlameFilters compares filters that leave the stacks as they are, one after the other with one
// cache, with those of the filtered profile.
func TestFlameFilters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := profiletest.FromGoogle(t, profiletest.Any(true).Draw(rt, "profile"))
		cache := report.NewCache(p)
		texts := []string{".", "^$"}
		for _, f := range p.Functions {
			texts = append(texts, regexp.QuoteMeta(f.Name), "^"+regexp.QuoteMeta(f.Name)+"$", regexp.QuoteMeta(f.Filename))
		}
		for _, m := range p.Mappings {
			texts = append(texts, regexp.QuoteMeta(m.File))
		}
		expression := func(name string) *regexp.Regexp {
			if !rapid.Bool().Draw(rt, name+" given") {
				return nil
			}
			return regexp.MustCompile(rapid.SampledFrom(texts).Draw(rt, name))
		}
		tags := []string{"nothing", "."}
		for set := range p.NumLabelSets() {
			for _, l := range p.LabelsOf(set) {
				tags = append(tags, regexp.QuoteMeta(l.Key), regexp.QuoteMeta(l.Str))
			}
		}
		label := func(name string) *profile.TagFilter {
			if !rapid.Bool().Draw(rt, name+" given") {
				return nil
			}
			f, err := profile.ParseTagFilter(rapid.SampledFrom(tags).Draw(rt, name))
			if err != nil {
				return nil // a comma or a colon in a label
			}
			return f
		}
		for range 4 {
			o := report.FlameOptions{
				SampleIndex: rapid.IntRange(0, len(p.SampleTypes)-1).Draw(rt, "index"), Inverted: rapid.Bool().Draw(rt, "inverted"),
				Granularity: rapid.SampledFrom([]profile.Granularity{profile.ByFunction, profile.ByFile, profile.ByLine, profile.ByAddress}).Draw(rt, "granularity"),
			}
			f := profile.Filter{
				Focus: expression("focus"), Ignore: expression("ignore"), Hide: expression("hide"), Show: expression("show"), ShowFrom: expression("show_from"),
				TagFocus: label("tagfocus"), TagIgnore: label("tagignore"),
			}
			want, err := report.Flame(p.Filter(f), o)
			if err != nil {
				t.Fatal(err)
			}
			want.Total = p.Total(o.SampleIndex)
			_, unmatched := f.Apply(p)
			if sel, missed := f.Select(p); sel != nil && !slices.Equal(unmatched, missed) {
				rt.Fatalf("%+v: Apply did not match %q, Select %q", f, unmatched, missed)
			}
			o.Filter, o.Cache = f, cache
			got, err := report.Flame(p, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("%+v (-filtered +flame):\n%s", f, diff)
			}
		}
	})
}

// TestFlameFiltersOfManyStacks does the same with so many stacks that the order sorts groups, and
// with tables.
func TestFlameFiltersOfManyStacks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for range 4000 {
		var stack []profile.FrameSpec
		for n := r.IntN(12); len(stack) < n; { // often with the same function twice
			f := int(float64(40) * r.Float64() * r.Float64())
			stack = append(stack, profile.FrameSpec{
				Function: fmt.Sprintf("pkg%d.f%d", f/8, f), File: fmt.Sprintf("/src/pkg%d.go", f/8), Line: int64(f*10 + r.IntN(4)),
				Inlined: r.IntN(5) == 0 && len(stack) < n-1,
			})
		}
		n := r.Int64N(9) - 1 // some are zero or negative, as in a difference
		b.AddLabeled(stack, []profile.Label{{Key: "route", Str: fmt.Sprint("/", r.IntN(6))}}, n, n*10)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	route, err := profile.ParseTagFilter("route=/[23]")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"", `f7$`, `f1`, `pkg2\.`, `f[13579]$`, `pkg[^0]`, `\.f1?[0-9]$`, `nothing`} // the last but one is often outermost
	cache := report.NewCache(p)
	for i := range 160 {
		expression := func() *regexp.Regexp {
			if text := texts[r.IntN(len(texts))]; text != "" && r.IntN(2) == 0 {
				return regexp.MustCompile(text)
			}
			return nil
		}
		f := profile.Filter{Focus: expression(), Ignore: expression(), Hide: expression(), Show: expression()}
		if r.IntN(3) == 0 {
			f.Hide, f.Show, f.ShowFrom = nil, nil, expression()
		}
		if r.IntN(3) == 0 {
			f.TagFocus = route
		}
		if r.IntN(6) == 0 {
			f.TagIgnore = route
		}
		o := report.FlameOptions{SampleIndex: r.IntN(2), Inverted: r.IntN(2) == 0, Granularity: []profile.Granularity{profile.ByFunction, profile.ByFile, profile.ByLine}[r.IntN(3)],
			MaxBoxes: 40 * r.IntN(3), MinShare: 0.001 * float64(r.IntN(3))}
		want, err := report.Flame(p.Filter(f), o)
		if err != nil {
			t.Fatal(err)
		}
		want.Total = p.Total(o.SampleIndex)
		o.Filter, o.Cache = f, cache
		got, err := report.Flame(p, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%d: %+v, %+v (-filtered +flame):\n%s", i, f, o, diff)
		}

		top := report.TopOptions{SampleIndex: o.SampleIndex, Granularity: o.Granularity, Mean: r.IntN(3) == 0, Inline: true, EdgeShare: 0.01, Total: 1000, MinShare: 0.02 * float64(r.IntN(2)), Limit: 5 * r.IntN(3)}
		rows, err := report.Top(p.Filter(f), top)
		if err != nil {
			t.Fatal(err)
		}
		top.Filter, top.Cache = f, cache
		cached, err := report.Top(p, top)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, cached); diff != "" {
			t.Fatalf("%d: %+v, %+v (-filtered +cached):\n%s", i, f, top, diff)
		}
	}
}

// TestFlameFiltersOfManyFunctions does the same with so many functions that few frames are read at
// a time, and with stacks that are deeper.
func TestFlameFiltersOfManyFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for f := range 18_000 {
		b.Add([]profile.FrameSpec{{Function: fmt.Sprintf("one.f%d", f)}, {Function: "main.few"}}, 1)
	}
	for range 4000 {
		var stack []profile.FrameSpec
		for n := 1 + r.IntN(16); len(stack) < n; {
			stack = append(stack, profile.FrameSpec{Function: fmt.Sprintf("many.f%d", r.IntN(3)), Line: r.Int64N(2), Inlined: r.IntN(6) == 0 && len(stack) < n-1})
		}
		b.Add(append(stack, profile.FrameSpec{Function: "main.many"}), 1+r.Int64N(9))
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	cache := report.NewCache(p)
	for _, f := range []profile.Filter{
		{ShowFrom: regexp.MustCompile(`many|f17`)}, {ShowFrom: regexp.MustCompile(`f1$`)}, {ShowFrom: regexp.MustCompile(`main|f2`)},
		{Focus: regexp.MustCompile(`many`)}, {Focus: regexp.MustCompile(`many\.f0`), Ignore: regexp.MustCompile(`many\.f2`)},
		{Show: regexp.MustCompile(`many\.f|main`)}, {Ignore: regexp.MustCompile(`many`)}, {Hide: regexp.MustCompile(`few`), Focus: regexp.MustCompile(`f1`)},
	} {
		filtered := p.Filter(f)
		for _, o := range []report.FlameOptions{{}, {MaxBoxes: 300}, {MinShare: 0.01}, {MaxBoxes: 2000, MinShare: 0.0001}} {
			for _, o.Inverted = range []bool{false, true} {
				o.Filter, o.Cache = profile.Filter{}, nil
				want, err := report.Flame(filtered, o)
				if err != nil {
					t.Fatal(err)
				}
				want.Total = p.Total(0)
				o.Filter, o.Cache = f, cache
				got, err := report.Flame(p, o)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(want, got) { // cmp.Diff takes ten times as long
					t.Fatalf("%+v, %+v (-filtered +flame):\n%s", f, o, cmp.Diff(want, got))
				}
			}
		}
	}
}

func TestFlameLeavesNarrowBoxesOut(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frame := func(name string, inlined bool) profile.FrameSpec {
		return profile.FrameSpec{Function: name, Inlined: inlined}
	}
	b.Add([]profile.FrameSpec{frame("tiny", true), frame("wide", false), frame("main", false)}, 1)
	b.Add([]profile.FrameSpec{frame("small", true), frame("wide", false), frame("main", false)}, 9)
	b.Add([]profile.FrameSpec{frame("wide", false), frame("main", false)}, 90)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	f, err := report.Flame(p, report.FlameOptions{MinShare: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	want := []report.FlameBox{
		{Parent: -1, Function: -1, Width: 100, Value: 100},
		{Parent: 0, Function: 0, Depth: 1, Width: 100, Value: 100},
		{Parent: 1, Function: 1, Depth: 2, Width: 100, Value: 100, Self: 90},
		{Parent: 2, Function: 2, Depth: 3, Width: 9, Value: 9, Self: 9, Inlined: true},
	}
	if diff := cmp.Diff(want, f.Boxes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.Dropped != 1 || f.Total != 100 {
		t.Errorf("dropped %d of %d, want 1 of 100", f.Dropped, f.Total)
	}
	if _, err := report.Flame(p, report.FlameOptions{SampleIndex: 7}); err == nil || !strings.Contains(err.Error(), "sample index 7") {
		t.Errorf("error %v", err)
	}
}

func TestFlameOfDeepRecursion(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	stack := slices.Repeat([]profile.FrameSpec{{Function: "main.f"}}, 100_000)
	b.Add(stack, math.MaxInt32)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	f, err := report.Flame(p, report.FlameOptions{})
	if err != nil || len(f.Boxes) != 100_001 {
		t.Errorf("%v boxes, error %v", len(f.Boxes), err)
	}
}

func BenchmarkFlamePair(b *testing.B) {
	p := profiletest.Decoded(b, bytes.Clone(profiletest.Walks(b, 1)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := report.FlamePair(p, report.FlameOptions{MaxBoxes: 5000}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFlameGranularity: boxes stand for the rows of the granularity, and have their names.
func TestFlameGranularity(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for line, value := range map[int64]int64{7: 30, 9: 12} { // in any order
		b.Add([]profile.FrameSpec{{Function: "main.leaf", File: "/src/leaf.go", Line: line}, {Function: "main.main", File: "/src/main.go", Line: 3}}, value)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	for granularity, want := range map[profile.Granularity][]string{
		profile.ByFunction: {"main.main 42", "main.leaf 42"},
		profile.ByLine:     {"main.main /src/main.go:3 42", "main.leaf /src/leaf.go:7 30", "main.leaf /src/leaf.go:9 12"},
		profile.ByFile:     {"/src/main.go 42", "/src/leaf.go 42"},
	} {
		f, err := report.Flame(p, report.FlameOptions{Granularity: granularity})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, box := range f.Boxes[1:] {
			got = append(got, fmt.Sprintf("%s %d", f.Functions[box.Function].Name, box.Width))
		}
		if !slices.Equal(got, want) {
			t.Errorf("granularity %v: %q, want %q", granularity, got, want)
		}
	}
}
