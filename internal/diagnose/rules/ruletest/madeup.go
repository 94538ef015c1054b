package ruletest

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// MadeUp type-checks one Go file as package main and makes up a profile of it: a line that carries
// a comment "//@ NAME | LEAF CALLER…" has 100 samples and 100,000 objects of 100 bytes. The
// functions, leaf first, are their stack below the line. What follows " < ", once or several
// times, names the lines above it, nearest first: those that carry "//: NAME", or functions of the
// standard library such as sort.Slice. MadeUp returns the pass and the names of the lines.
func MadeUp(t *testing.T, src string) (*rule.Pass, map[int]string) {
	t.Helper()
	code, syn, file := oneFile(t, "example.com/madeup", src)
	pass := &rule.Pass{
		Code: code, Syntax: syn, Table: &site.Table{}, RecordingPath: "x.hone",
		Manifest: &recording.Manifest{Target: recording.Target{Kind: "service"}, Runtime: recording.Runtime{Go: "go1.26.0", GOMAXPROCS: 2, GOGC: 100}},
	}
	frame := func(line int) site.Frame {
		place, ok := syn.At(file, line)
		if !ok || place.Decl == nil {
			t.Fatalf("line %d holds no code of a function", line)
		}
		name := syntax.ProfileName(place)
		if place.Func != place.Decl {
			name += ".func1"
		}
		return site.Frame{
			Function: name, File: file, Line: line,
			Owner: gocode.Owner{Kind: gocode.Main, Module: "example.com/madeup", Package: "example.com/madeup", File: "main.go"},
		}
	}
	lines := strings.Split(src, "\n")
	calls, names := map[string]int{}, map[int]string{}
	for i, line := range lines {
		if _, name, ok := strings.Cut(line, "//: "); ok {
			names[i+1] = strings.TrimSpace(name)
			calls[names[i+1]] = i + 1
		}
	}
	for i, line := range lines {
		_, mark, ok := strings.Cut(line, "//@ ")
		if !ok {
			continue
		}
		name, below, _ := strings.Cut(mark, " | ")
		names[i+1] = strings.TrimSpace(name)
		above := strings.Split(below, " < ")
		own := frame(i + 1)
		var frames []*site.Frame
		for _, f := range strings.Fields(above[0]) {
			frames = append(frames, &site.Frame{Function: f, Owner: gocode.Owner{Kind: gocode.Std}})
		}
		owner := len(frames)
		frames = append(frames, &own)
		for _, name := range above[1:] {
			name = strings.TrimSpace(name)
			if strings.Contains(name, ".") {
				frames = append(frames, &site.Frame{Function: name, Owner: gocode.Owner{Kind: gocode.Std}})
				continue
			}
			caller := frame(calls[name])
			frames = append(frames, &caller)
		}
		pass.Table.Sites = append(pass.Table.Sites, &site.Site{
			Frame:  own,
			CPU:    []*site.Row{{Stack: frames, Owner: owner, Count: 100, Value: 1e9}},
			Allocs: []*site.Row{{Stack: frames, Owner: owner, Count: 100_000, Value: 10_000_000}},
		})
	}
	return pass, names
}
