package render

import (
	"bytes"
	"testing"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

func smallProfile(t *testing.T) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frame := func(name, file string, line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: name, File: file, Line: line}
	}
	main := frame("main.main", "main.go", 9)
	b.Add([]profile.FrameSpec{frame("main.slow", "slow.go", 4), main}, 60, 600e6)
	b.Add([]profile.FrameSpec{frame("main.slow", "slow.go", 5), main}, 30, 300e6)
	b.Add([]profile.FrameSpec{main}, 10, 100e6)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.DurationNanos = 2e9
	return p
}

func TestTopPage(t *testing.T) {
	p := smallProfile(t)
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(p, v.TopOptions(1))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	page := TopTable{Source: "cpu.pprof", View: v, Top: top}
	Top(&b, page, Style{})
	golden(t, "top.golden", b.Bytes())
	b.Reset()
	if err := JSON(&b, TopJSON(page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "top.json.golden", b.Bytes())
}

func TestListPage(t *testing.T) {
	page := &inspect.Listing{
		View: &report.View{Options: report.DefaultOptions(), SampleType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Total: 1e9},
		Functions: []inspect.ListedFunction{
			{
				FuncLines: report.FuncLines{Name: "main.slow", File: "slow.go", Flat: 9e8, Cum: 9e8, Lines: []report.LineCost{{Line: 4, Flat: 6e8, Cum: 6e8}, {Line: 5, Flat: 3e8, Cum: 3e8}}},
				Path:      "/src/slow.go", From: 3, Source: []string{"func slow() {", "\tx++", "\ty++", "}"},
			},
			{
				FuncLines: report.FuncLines{Name: "main.gone", File: "gone.go", Cum: 1e8, Lines: []report.LineCost{{Line: 9, Cum: 1e8}}},
				Problem:   "gone.go: looked in /src",
			},
		},
	}
	var b bytes.Buffer
	List(&b, page, Style{})
	golden(t, "list.golden", b.Bytes())
	b.Reset()
	if err := JSON(&b, ListJSON(page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "list.json.golden", b.Bytes())
}
