package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sortunchanged "github.com/hone-go/hone/internal/diagnose/rules/sort-unchanged"
	"github.com/hone-go/hone/internal/recording"
)

// TestSortUnchangedCopy: a sorted copy that is kept is not made again, so the lines that make it
// before the sort may be saved, too, and those after it not.
func TestSortUnchangedCopy(t *testing.T) {
	pass, names := ruletest.MadeUp(t, `package main

import "slices"

type shelf struct{ list []int }

func (s *shelf) add(x int) { s.list = append(s.list, x) }

func (s *shelf) top() []int {
	all := slices.Clone(s.list) //@ copy | runtime.growslice slices.Clone[go.shape.int]
	slices.Sort(all) //@ sort | slices.pdqsortOrdered[go.shape.int] slices.Sort[go.shape.int]
	all = slices.Clone(all) //@ after | slices.Clone[go.shape.int]
	return all
}

var one shelf

func main() {
	one.add(1)
	println(len(one.top()))
}
`)
	pass.Manifest.Load = &recording.Load{Connections: 8}
	pass.Counts = ranTimes(30, func(line int) uint64 {
		if line <= 7 {
			return 1
		}
		return 1000
	})
	matches := matchesOf(t, sortunchanged.Rule(), pass)
	if len(matches) != 1 || names[matches[0].Site.Line] != "sort" {
		t.Fatalf("%v", matches)
	}
	if u := matches[0].Uncertain; len(u.CPU) != 1 || names[u.CPU[0].Stack[2].Line] != "copy" || len(u.Allocs) != 1 {
		t.Errorf("%+v may be saved, too; want the copy", matches[0].Uncertain)
	}
}
