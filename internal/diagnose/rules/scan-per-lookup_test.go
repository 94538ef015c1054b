package rules_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	scanperlookup "github.com/hone-go/hone/internal/diagnose/rules/scan-per-lookup"
	"github.com/hone-go/hone/internal/recording"
)

const subscriptions = `package main

type subscription struct{ topic string }

func find(all []*subscription, topic string) *subscription {
	for _, s := range all {
		if s.topic == topic { //@ test | runtime.memequal
			return s
		}
	}
	return nil
}

func main() { find(nil, "") }
`

// TestScanPerLookupGrowth: a list that grows while the counters run is reported as growing; one of
// constant length is not.
func TestScanPerLookupGrowth(t *testing.T) {
	block := func(startLine, startColumn, endLine, endColumn int) covdata.Block {
		return covdata.Block{StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn, Statements: 1}
	}
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{{
		Name: "find", File: "example.com/madeup/main.go",
		Blocks: []covdata.Block{block(5, 64, 6, 24), block(11, 2, 11, 12), block(6, 24, 7, 23), block(7, 23, 9, 4)},
	}}}}}
	for _, c := range []struct {
		iterations [3]uint64 // of each entry, in the three windows
		want       string
	}{
		{[3]uint64{100, 200, 300}, "It grows: 100 elements at first, 300 at the end."},
		{[3]uint64{200, 210, 205}, ""},
	} {
		pass, names := ruletest.MadeUp(t, subscriptions)
		pass.Manifest.Load = &recording.Load{Connections: 8}
		var windows []counts.Window
		for _, n := range c.iterations {
			windows = append(windows, counts.Window{Units: 1000, Counts: covdata.Counts{{{1000, 0, 1000 * n, 1000}}}})
		}
		pass.Counts = counts.New(meta, windows)
		matches := matchesOf(t, scanperlookup.Rule(), pass)
		if len(matches) != 1 || names[matches[0].Site.Line] != "test" {
			t.Fatalf("%v", matches)
		}
		m := matches[0]
		if grows := strings.Contains(m.Cause, "It grows"); grows != (c.want != "") || !strings.Contains(m.Cause, c.want) {
			t.Errorf("%v: %s", c.iterations, m.Cause)
		}
		if removes := strings.Contains(m.Fix, "Remove elements"); removes != (c.want != "") {
			t.Errorf("%v: %s", c.iterations, m.Fix)
		}
	}
}

const pairs = `package main

type item struct{ name string }

func alike(a, b *item) bool { return a.name == b.name }

func unique(all []*item) bool {
	for i := 1; i < len(all); i++ {
		for j := 0; j < i; j++ {
			%s
				return false
			}
		}
	}
	return true
}

func main() { unique(nil) }
`

// TestScanPerLookupPairs: a search of each element of a list in the same list compares every pair.
func TestScanPerLookupPairs(t *testing.T) {
	block := func(startLine, startColumn, endLine, endColumn int) covdata.Block {
		return covdata.Block{StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn, Statements: 1}
	}
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{{
		Name: "unique", File: "example.com/madeup/main.go",
		Blocks: []covdata.Block{block(7, 31, 8, 12), block(8, 33, 9, 13), block(9, 26, 10, 30), block(10, 30, 12, 4)},
	}}}}}
	for test, fix := range map[string]string{
		"if all[i].name == all[j].name { //@ test | runtime.memequal": "Go through all once with a map[string]: look the all[j].name of each element up in it",
		"if alike(all[i], all[j]) { //@ test | main.alike":            "Go through all once with a map, whose key is what equal elements have in common",
	} {
		pass, _ := ruletest.MadeUp(t, strings.Replace(pairs, "%s", test, 1))
		pass.Manifest.Load = &recording.Load{Connections: 8}
		pass.Counts = counts.New(meta, []counts.Window{{Units: 1000, Counts: covdata.Counts{{{1000, 199_000, 19_900_000, 0}}}}})
		matches := matchesOf(t, scanperlookup.Rule(), pass)
		if len(matches) != 1 {
			t.Fatalf("%s: %v", test, matches)
		}
		if m := matches[0]; !strings.Contains(m.Cause, "The loops on lines 8 and 9 compare every pair of all") || !strings.Contains(m.Fix, fix) {
			t.Errorf("%s: %s %s", test, m.Cause, m.Fix)
		}
	}
}

// TestScanPerLookupList: who looks a key up may not need the list that a call makes for the loop
// alone. What the function's other lines call is not part of that.
func TestScanPerLookupList(t *testing.T) {
	const source = `package main

type list struct{ all []string }

func (l *list) values() []string {
	var out []string
	for _, s := range l.all {
		out = append(out, s) //@ made | runtime.growslice < index
	}
	return out
}

func (l *list) index(key string) int {
	for i, s := range l.values() { //: index
		if s == key { //@ test | runtime.memequal
			return i
		}
	}
	println(len(l.values())) //@ again | runtime.growslice
	return -1
}

func main() { (&list{}).index("") }
`
	block := func(startLine, startColumn, endLine, endColumn int) covdata.Block {
		return covdata.Block{StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn, Statements: 1}
	}
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup", Funcs: []covdata.Func{{
		Name: "index", File: "example.com/madeup/main.go",
		Blocks: []covdata.Block{block(13, 38, 14, 31), block(19, 2, 20, 11), block(14, 31, 15, 15), block(15, 15, 17, 4)},
	}}}}}
	pass, names := ruletest.MadeUp(t, source)
	pass.Counts = counts.New(meta, []counts.Window{{Units: 1000, Counts: covdata.Counts{{{1000, 0, 100_000, 1000}}}}})
	matches := matchesOf(t, scanperlookup.Rule(), pass)
	if len(matches) != 1 || names[matches[0].Site.Line] != "test" {
		t.Fatalf("%v", matches)
	}
	u := matches[0].Uncertain
	if len(u.CPU) != 1 || names[u.CPU[0].Stack[1].Line] != "made" || len(u.Allocs) != 1 {
		t.Errorf("CPU of %d rows and allocations of %d may be saved, too; want those of the call in the loop's head", len(u.CPU), len(u.Allocs))
	}
}

// TestScanPerLookupHelpers: a search by a function that gets the list is found where the list is.
func TestScanPerLookupHelpers(t *testing.T) {
	r := scanperlookup.Rule()
	archive := filepath.Join(r.ID, "testdata", "helpers.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
