package ruletest

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// MadeUp type-checks one Go file as package main and makes up a profile of it: a line that carries
// a comment "//@ NAME | LEAF CALLER…" has 100 samples and 100,000 objects of 100 bytes. The
// functions, leaf first, are their stack below the line. MadeUp returns the pass and the names of
// the lines.
func MadeUp(t *testing.T, src string) (*rule.Pass, map[int]string) {
	t.Helper()
	code, syntax, file := oneFile(t, "example.com/madeup", src)
	pass := &rule.Pass{
		Code: code, Syntax: syntax, Table: &site.Table{}, RecordingPath: "x.hone",
		Manifest: &recording.Manifest{Target: recording.Target{Kind: "service"}, Runtime: recording.Runtime{Go: "go1.26.0", GOMAXPROCS: 2, GOGC: 100}},
	}
	names := map[int]string{}
	for i, line := range strings.Split(src, "\n") {
		_, mark, ok := strings.Cut(line, "//@ ")
		if !ok {
			continue
		}
		name, stack, _ := strings.Cut(mark, " | ")
		names[i+1] = strings.TrimSpace(name)
		place, ok := pass.Syntax.At(file, i+1)
		if !ok || place.Decl == nil {
			t.Fatalf("line %d holds no code of a function", i+1)
		}
		frame := site.Frame{
			Function: "main." + place.Decl.Name.Name, File: file, Line: i + 1,
			Owner: gocode.Owner{Kind: gocode.Main, Module: "example.com/madeup", Package: "example.com/madeup", File: "main.go"},
		}
		var frames []*site.Frame
		for _, f := range strings.Fields(stack) {
			frames = append(frames, &site.Frame{Function: f, Owner: gocode.Owner{Kind: gocode.Std}})
		}
		frames = append(frames, &frame)
		owner := len(frames) - 1
		pass.Table.Sites = append(pass.Table.Sites, &site.Site{
			Frame:  frame,
			CPU:    []*site.Row{{Stack: frames, Owner: owner, Count: 100, Value: 1e9}},
			Allocs: []*site.Row{{Stack: frames, Owner: owner, Count: 100_000, Value: 10_000_000}},
		})
	}
	return pass, names
}
