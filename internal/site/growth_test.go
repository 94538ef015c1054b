package site

import (
	"testing"

	"github.com/hone-go/hone/profile"
)

// TestGrowth: what was freed is subtracted from what was allocated on the same line, whatever
// called it; lines that shrank, and the runtime's own memory, are not listed.
func TestGrowth(t *testing.T) {
	b := profile.NewBuilder(
		profile.ValueType{Type: "alloc_objects", Unit: "count"}, profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		profile.ValueType{Type: "inuse_objects", Unit: "count"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"},
	)
	frame := func(function, file string, line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: function, File: file, Line: line}
	}
	keep, lose := frame("main.keep", "/src/app/a.go", 10), frame("main.lose", "/src/app/a.go", 20)
	main, other := frame("main.main", "/src/app/a.go", 1), frame("main.other", "/src/app/a.go", 2)
	b.Add([]profile.FrameSpec{keep, main}, 10, 1000, 8, 800)
	b.Add([]profile.FrameSpec{keep, other}, 0, 0, -3, -300)
	b.Add([]profile.FrameSpec{lose, main}, 10, 1000, -1, -100)
	b.Add([]profile.FrameSpec{frame("runtime.malg", "/go/src/runtime/proc.go", 5)}, 1, 4096, 1, 4096)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Growth(t.Context(), testIndex(t), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Function != "main.keep" || got[0].Line != 10 || got[0].Bytes != 500 || got[0].Objects != 5 {
		t.Errorf("%+v", got)
	}
	if got, err := Growth(t.Context(), testIndex(t), nil); len(got) > 0 || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Growth(t.Context(), nil, p); err == nil {
		t.Error("no index, and no error")
	}
}
