package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/runtimework"
)

func TestWorkPage(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	add := func(value int64, stack ...string) {
		var frames []profile.FrameSpec
		for i, f := range stack {
			frames = append(frames, profile.FrameSpec{Function: f, File: "/src/x.go", Line: int64(10*len(f) + i)})
		}
		b.Add(frames, value/10e6, value)
	}
	add(500e6, "main.work", "main.main")
	add(200e6, "runtime.mallocgc", "runtime.growslice", "main.add", "main.main")
	add(100e6, "runtime.mallocgc", "main.build", "main.main")
	add(90e6, "runtime.scanobject", "runtime.gcBgMarkWorker")
	add(60e6, "runtime.scanobject", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.add", "main.main")
	add(50e6, "runtime.memmove", "main.add", "main.main")
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	work, err := runtimework.Of(p, 1, func(f profile.Function) bool { return strings.HasPrefix(f.Name, "main.") })
	if err != nil {
		t.Fatal(err)
	}
	page := WorkPage{Source: "cpu.pprof", Work: work, Top: 1, Short: func(f profile.Frame) string { return strings.TrimPrefix(f.File, "/src/") }}
	var out bytes.Buffer
	Work(&out, page, Style{})
	golden(t, "work.golden", out.Bytes())
	out.Reset()
	if err := JSON(&out, WorkJSON(page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "work.json.golden", out.Bytes())
}

func TestWorkPageOfNothing(t *testing.T) {
	p, err := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"}).Profile()
	if err != nil {
		t.Fatal(err)
	}
	work, err := runtimework.Of(p, 0, func(profile.Function) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	Work(&out, WorkPage{Source: "empty.pprof", Work: work}, Style{})
	if !strings.Contains(out.String(), "Nothing was sampled.") {
		t.Errorf("%s", out.String())
	}
}
