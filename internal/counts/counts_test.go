package counts_test

import (
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
)

// The blocks of this function, as the cover tool divides it:
//
//	10 func find(want int) int {      10.26 to 11.25: the entry
//	11     for i, x := range all {    11.25 to 12.16: an iteration
//	12         if x == want {         12.16 to 14.4: found
//	13             return i
//	14         }
//	15     }
//	16     return -1                  16.2 to 16.11: not found
var meta = &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/a", Funcs: []covdata.Func{
	{Name: "unused", File: "example.com/a/find.go", Blocks: []covdata.Block{at(3, 1, 5, 2)}},
	{Name: "find", File: "example.com/a/find.go", Blocks: []covdata.Block{
		at(10, 26, 11, 25), at(11, 25, 12, 16), at(12, 16, 14, 4), at(16, 2, 16, 11),
	}},
}}}}

func at(startLine, startColumn, endLine, endColumn int) covdata.Block {
	return covdata.Block{StartLine: startLine, StartColumn: startColumn, EndLine: endLine, EndColumn: endColumn, Statements: 1}
}

func window(units float64, n ...uint64) counts.Window {
	return counts.Window{Units: units, Counts: covdata.Counts{{nil, n}}}
}

func TestLine(t *testing.T) {
	x := counts.New(meta, []counts.Window{window(100, 200, 20_000, 150, 50), window(100, 200, 60_000, 150, 50), window(0, 1, 1, 1, 1)})
	for _, c := range []struct {
		line                    int
		perUnit, perCall, calls float64
		first, last             float64
	}{
		{10, 2, 1, 2, 2, 2},
		{11, 400, 200, 2, 200, 600}, // the head of the loop: iterations
		{12, 400, 200, 2, 200, 600},
		{13, 1.5, 0.75, 2, 1.5, 1.5},
		{16, 0.5, 0.25, 2, 0.5, 0.5},
	} {
		e, ok := x.Line("example.com/a", "/home/me/a/find.go", c.line)
		if !ok || e.PerUnit != c.perUnit || e.PerCall != c.perCall || e.Calls != c.calls {
			t.Errorf("line %d: %+v, %v", c.line, e, ok)
			continue
		}
		if len(e.Windows) != 2 || e.Windows[0] != c.first || e.Windows[1] != c.last {
			t.Errorf("line %d: windows %v", c.line, e.Windows)
		}
	}
	for _, c := range []struct {
		pkg, file string
		line      int
	}{{"example.com/a", "find.go", 15}, {"example.com/a", "find.go", 99}, {"example.com/b", "find.go", 11}, {"example.com/a", "other.go", 11}} {
		if e, ok := x.Line(c.pkg, c.file, c.line); ok {
			t.Errorf("%+v has an answer: %+v", c, e)
		}
	}
	if e, ok := x.Line("example.com/a", "find.go", 3); !ok || e.PerUnit != 0 || e.PerCall != 0 {
		t.Errorf("a function that did not run: %+v, %v", e, ok)
	}
	if _, ok := (*counts.Index)(nil).Line("example.com/a", "find.go", 11); ok {
		t.Error("no counts have an answer")
	}
}

func TestLoop(t *testing.T) {
	x := counts.New(meta, []counts.Window{window(100, 200, 20_000, 150, 50), window(100, 200, 60_000, 150, 50)})
	l, ok := x.Loop("example.com/a", "/src/find.go", 11)
	if !ok || l.Entries != 2 || l.Iterations != 200 || len(l.Windows) != 2 || l.Windows[0] != 100 || l.Windows[1] != 300 {
		t.Errorf("%+v, %t", l, ok)
	}
	for _, line := range []int{10, 16, 99} {
		if l, ok := x.Loop("example.com/a", "find.go", line); ok {
			t.Errorf("line %d is not the head of a loop: %+v", line, l)
		}
	}
	if _, ok := counts.New(meta, []counts.Window{window(100)}).Loop("example.com/a", "find.go", 11); ok {
		t.Error("a loop that was not reached has an answer")
	}
	if !x.Ran("example.com/a", "find.go") || x.Ran("example.com/a", "other.go") {
		t.Error("which files were counted is wrong")
	}
}
