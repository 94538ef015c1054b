package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

func stacksView(t *testing.T, change func(*profile.Builder), o report.Options) *report.View {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frame := func(name string, inlined bool) profile.FrameSpec {
		return profile.FrameSpec{Function: name, File: "a.go", Line: 7, Inlined: inlined}
	}
	b.Add([]profile.FrameSpec{frame("main.leaf", true), frame("main.G[struct { a int; b int }]", false), frame("main.main", false)}, 1, 30)
	b.AddLabeled([]profile.FrameSpec{frame("main.main", false)}, []profile.Label{{Key: "k", Str: "v"}}, 2, 20)
	b.Add([]profile.FrameSpec{frame("main.main", false)}, 1, 5)
	b.Add([]profile.FrameSpec{frame("main.idle", false)}, 0, 0)
	if change != nil {
		change(b)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFolded(t *testing.T) {
	o := report.DefaultOptions()
	lines := o
	lines.Granularity = profile.ByLine
	divided := o
	divided.DivideBy = 5
	for name, c := range map[string]struct {
		options report.Options
		change  func(*profile.Builder)
		want    string
	}{
		"functions": {o, nil, "main.main;main.G[struct { a int: b int }];main.leaf 30\nmain.main 25\n"},
		"lines":     {lines, nil, "main.main a.go:7;main.G[struct { a int: b int }] a.go:7;main.leaf a.go:7 30\nmain.main a.go:7 25\n"},
		"divided":   {divided, nil, "main.main;main.G[struct { a int: b int }];main.leaf 6\nmain.main 5\n"},
		"no stack": {o, func(b *profile.Builder) { b.Add(nil, 1, 99) },
			"<unknown> 99\nmain.main;main.G[struct { a int: b int }];main.leaf 30\nmain.main 25\n"},
	} {
		page, err := NewStacks("cpu.pprof", stacksView(t, c.change, c.options))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Folded(&b, page); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		b.Reset()
		if err := JSON(&b, FoldedJSON(page)); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%s: error %v, JSON %s", name, err, b.String())
		}
	}
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	if err := Speedscope(&b, "cpu.pprof", stacksView(t, nil, report.DefaultOptions())); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Active int `json:"activeProfileIndex"`
		Shared struct{ Frames []struct{ Name string } }
		// The format's own check: as many weights as samples, frames that exist, an end value that
		// is their sum.
		Profiles []struct {
			Type, Name, Unit string
			EndValue         int64
			Samples          [][]int
			Weights          []int64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Profiles) != 2 || file.Active != 1 {
		t.Fatalf("%d profiles, %d active", len(file.Profiles), file.Active)
	}
	for i, want := range []struct {
		name, unit string
		end        int64
		stacks     string
	}{
		{"samples", "none", 4, "main.main 3|main.main;main.G[struct { a int; b int }];main.leaf 1"},
		{"cpu", "nanoseconds", 55, "main.main;main.G[struct { a int; b int }];main.leaf 30|main.main 25"},
	} {
		p := file.Profiles[i]
		var stacks []string
		for i, s := range p.Samples {
			var names []string
			for _, f := range s {
				names = append(names, file.Shared.Frames[f].Name)
			}
			stacks = append(stacks, strings.Join(names, ";")+" "+string(must(json.Marshal(p.Weights[i]))))
		}
		if p.Type != "sampled" || p.Name != want.name || p.Unit != want.unit || p.EndValue != want.end || len(p.Weights) != len(p.Samples) {
			t.Errorf("profile %+v, want %+v", p, want)
		}
		if diff := cmp.Diff(want.stacks, strings.Join(stacks, "|")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestSpeedscopeRefusesNegativeValues(t *testing.T) {
	negative := func(b *profile.Builder) { b.Add([]profile.FrameSpec{{Function: "main.less"}}, 0, -7) }
	o := report.DefaultOptions()
	err := Speedscope(&bytes.Buffer{}, "diff", stacksView(t, negative, o))
	if err == nil || !strings.Contains(err.Error(), "-drop_negative") {
		t.Errorf("error %v", err)
	}
	o.DropNegative = true
	if err := Speedscope(&bytes.Buffer{}, "diff", stacksView(t, negative, o)); err != nil {
		t.Error(err)
	}
}
