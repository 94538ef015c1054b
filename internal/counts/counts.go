package counts

import (
	"cmp"
	"path"
	"slices"

	"github.com/hone-go/hone/internal/covdata"
)

// Window is an interval of the counting run, in which a known number of units of work was done.
type Window struct {
	Units  float64
	Counts covdata.Counts
}

// Index is the counts of one recording, by position in the source.
type Index struct {
	windows []Window
	files   map[string][]block // by import path and file name: "net/http/server.go"
	funcs   []function
}

type block struct {
	covdata.Block
	fn, at int // index in funcs, index among the function's blocks
}

type function struct {
	pkg, index int // indices in the meta-data
	covdata.Func
}

// New indexes counts by position. Windows without units are left out.
func New(meta *covdata.Meta, windows []Window) *Index {
	x := &Index{files: map[string][]block{}}
	for _, w := range windows {
		if w.Units > 0 && w.Counts != nil {
			x.windows = append(x.windows, w)
		}
	}
	for i, p := range meta.Packages {
		for j, f := range p.Funcs {
			x.funcs = append(x.funcs, function{i, j, f})
			for k, b := range f.Blocks {
				x.files[f.File] = append(x.files[f.File], block{b, len(x.funcs) - 1, k})
			}
		}
	}
	for _, bs := range x.files {
		slices.SortFunc(bs, func(a, b block) int {
			return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.StartColumn, b.StartColumn))
		})
	}
	return x
}

// Executions says how often something ran.
type Executions struct {
	// PerUnit is the mean number of executions per unit of work, over all windows.
	PerUnit float64
	// Windows has the same for each window, in sequence.
	Windows []float64
	// PerCall is PerUnit divided by Calls; 0 when the function was not called.
	PerCall float64
	// Calls is the number of calls of the function that contains the line, per unit of work.
	Calls float64
}

// Line returns how often a line of a file (of the package with that import path) ran: the largest
// count of the blocks that contain a part of it. For the head of a loop that is the number of
// iterations. It returns false for a line without a block, and for packages that were not counted.
func (x *Index) Line(pkg, file string, line int) (Executions, bool) {
	if x == nil || len(x.windows) == 0 {
		return Executions{}, false
	}
	var best *block
	var most uint64
	blocks := x.files[pkg+"/"+path.Base(file)]
	for i, b := range blocks {
		if b.StartLine > line {
			break
		}
		if line > b.EndLine {
			continue
		}
		if n := x.sum(b.fn, b.at); best == nil || n > most {
			best, most = &blocks[i], n
		}
	}
	if best == nil {
		return Executions{}, false
	}
	e := Executions{PerUnit: x.perUnit(best.fn, best.at), Calls: x.perUnit(best.fn, 0)}
	if e.Calls > 0 {
		e.PerCall = e.PerUnit / e.Calls
	}
	for _, w := range x.windows {
		e.Windows = append(e.Windows, float64(x.in(w, best.fn, best.at))/w.Units)
	}
	return e, true
}

// At returns how often the code at a position ran for each unit of work: the count of the smallest
// block around it. Unlike [Index.Line], it distinguishes a call from the function literal that
// starts on the same line.
func (x *Index) At(pkg, file string, line, column int) (float64, bool) {
	if x == nil || len(x.windows) == 0 {
		return 0, false
	}
	var best *block
	blocks := x.files[pkg+"/"+path.Base(file)]
	for i := range blocks {
		b := &blocks[i]
		if b.StartLine > line {
			break
		}
		if b.StartLine == line && b.StartColumn > column || b.EndLine < line || b.EndLine == line && b.EndColumn <= column {
			continue
		}
		if best == nil || b.later(best) {
			best = b
		}
	}
	if best == nil {
		return 0, false
	}
	return x.perUnit(best.fn, best.at), true
}

// in returns a block's count in a window.
func (x *Index) in(w Window, fn, at int) uint64 {
	f := &x.funcs[fn]
	if counts := w.Counts[f.pkg][f.index]; at < len(counts) {
		return counts[at]
	}
	return 0
}

func (x *Index) sum(fn, at int) uint64 {
	var n uint64
	for _, w := range x.windows {
		n += x.in(w, fn, at)
	}
	return n
}

func (x *Index) perUnit(fn, at int) float64 {
	var units float64
	for _, w := range x.windows {
		units += w.Units
	}
	return float64(x.sum(fn, at)) / units
}

// Loop says how often a loop ran.
type Loop struct {
	Entries    float64   // how often it was entered, per unit of work
	Iterations float64   // mean per entry
	Windows    []float64 // Iterations in each window, in sequence
}

// Loop returns how often the loop with its head on a line was entered, and how many iterations it
// did per entry. The caller knows that the line has a loop. The block that ends in the head runs
// once per entry, the one that starts there once per iteration. It returns false if one of them is
// missing, for example because the head spans lines.
func (x *Index) Loop(pkg, file string, line int) (Loop, bool) {
	if x == nil || len(x.windows) == 0 {
		return Loop{}, false
	}
	var before, body *block
	blocks := x.files[pkg+"/"+path.Base(file)]
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.EndLine == line && (before == nil || b.later(before)):
			before = b
		case b.StartLine == line && body == nil:
			body = b
		}
	}
	if before == nil || body == nil || before.fn != body.fn {
		return Loop{}, false
	}
	l := Loop{Entries: x.perUnit(before.fn, before.at)}
	if l.Entries <= 0 {
		return Loop{}, false
	}
	l.Iterations = x.perUnit(body.fn, body.at) / l.Entries
	for _, w := range x.windows {
		if entries := x.in(w, before.fn, before.at); entries > 0 {
			l.Windows = append(l.Windows, float64(x.in(w, body.fn, body.at))/float64(entries))
		}
	}
	return l, true
}

// later reports whether a block starts after another.
func (b *block) later(than *block) bool {
	return cmp.Or(cmp.Compare(b.StartLine, than.StartLine), cmp.Compare(b.StartColumn, than.StartColumn)) > 0
}

// Ran reports whether any block of a file was counted.
func (x *Index) Ran(pkg, file string) bool {
	return x != nil && len(x.files[pkg+"/"+path.Base(file)]) > 0
}
