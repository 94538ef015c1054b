package bench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/profile"
)

// Changed is a line of the new tree that is not in the old one. If lines were only removed, it is
// the line after them.
type Changed struct {
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
}

// changes finds the lines of functions that differ between the trees of the two sides.
type changes struct {
	old, new string // corresponding directories
	files    map[string][]changedFunc
}

// changedFunc is a function of the new file, with its changed lines.
type changedFunc struct {
	first, last int
	changed     []int
}

// changes returns the differences between the two sides of a benchmark, or nil if there is only
// one.
func (r *runner) changes(x *subject) *changes {
	if x.pkgs[oldSide] == nil || x.pkgs[newSide] == nil {
		return nil
	}
	return &changes{r.sides[oldSide].dir, r.sides[newSide].dir, map[string][]changedFunc{}}
}

// nearest returns the changed line that most of a function's cost passes through: in each sample,
// that is a line of the first changed function on the way from this one to its callers. It returns
// nil if none changed.
func (c *changes) nearest(profiles []*profile.Profile, column, function string) *Changed {
	if c == nil {
		return nil
	}
	costs := map[Changed]int64{}
	for _, p := range profiles {
		index, err := p.SampleIndex(column)
		if err != nil {
			return nil
		}
		for row, value := range p.Values(index) {
			if at := c.onStack(p, p.Stack(row), function); at != nil && value > 0 {
				costs[*at] += value
			}
		}
	}
	var best *Changed
	for at, cost := range costs {
		if best == nil || cost > costs[*best] || cost == costs[*best] && at.Line < best.Line {
			best = &at
		}
	}
	return best
}

// onStack returns the changed line nearest to a function on a stack.
func (c *changes) onStack(p *profile.Profile, stack []int32, function string) *Changed {
	inside := false
	for _, location := range stack {
		for _, l := range p.Locations[location].Lines {
			f := &p.Functions[l.Func]
			switch {
			case f.Name == function:
				inside = true
			case !inside && !strings.HasPrefix(f.Name, "runtime."):
				return nil // the cost belongs to another function
			}
			if !inside {
				continue
			}
			if line, ok := c.line(f.Filename, int(l.Line)); ok {
				return &Changed{f.Name, filepath.Base(f.Filename), line}
			}
		}
	}
	return nil
}

// line returns the changed line nearest to a line of a file of the new tree, in the same function.
func (c *changes) line(file string, line int) (nearest int, ok bool) {
	funcs, known := c.files[file]
	if !known {
		funcs = c.compare(file)
		c.files[file] = funcs
	}
	for _, f := range funcs {
		if line < f.first || line > f.last {
			continue
		}
		for _, l := range f.changed {
			if !ok || abs(l-line) < abs(nearest-line) {
				nearest, ok = l, true
			}
		}
		return nearest, ok
	}
	return 0, false
}

// mostSource is the largest source file that is compared, in bytes.
const mostSource = 4 << 20

// compare lists the functions of a file of the new tree that differ from the old one. It lists none
// for a file that the old tree does not have: it may belong to another module.
func (c *changes) compare(file string) []changedFunc {
	relative, err := filepath.Rel(c.new, file)
	if err != nil {
		return nil
	}
	was := filepath.Join(c.old, relative)
	if info, err := os.Stat(was); err != nil || was == file || info.Size() > mostSource {
		return nil
	}
	old, err := os.ReadFile(was)
	if err != nil {
		return nil
	}
	new, err := os.ReadFile(file)
	if err != nil || len(new) > mostSource {
		return nil
	}
	text := strings.Split(string(new), "\n")
	lines := slices.DeleteFunc(changedLines(strings.Split(string(old), "\n"), text), func(l int) bool {
		if l > len(text) {
			return true // lines were removed at the end of the file
		}
		line := strings.TrimSpace(text[l-1])
		return line == "" || strings.HasPrefix(line, "//")
	})
	if len(lines) == 0 {
		return nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, new, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var funcs []changedFunc
	for _, d := range parsed.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := changedFunc{first: fset.Position(d.Pos()).Line, last: fset.Position(d.End()).Line}
		for _, l := range lines {
			if l >= f.first && l <= f.last {
				f.changed = append(f.changed, l)
			}
		}
		if len(f.changed) > 0 {
			funcs = append(funcs, f)
		}
	}
	return funcs
}

// mostMiddle limits the lines between the common start and end of two files, and with them the size
// of changedLines's table.
const mostMiddle = 2000

// changedLines returns the numbers, from 1, of the lines of new that are not in a longest common
// subsequence with old. Where lines were only removed, it returns the number of the line after
// them. If the parts that differ are too long, all of their lines count as changed.
func changedLines(old, new []string) (changed []int) {
	start := 0
	for start < min(len(old), len(new)) && old[start] == new[start] {
		start++
	}
	old, new = old[start:], new[start:]
	for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	switch {
	case len(old) == 0 && len(new) == 0:
		return nil
	case len(new) == 0: // only removed
		return []int{start + 1}
	case len(old) > mostMiddle || len(new) > mostMiddle:
		old = nil
	}
	// common[i][j] is the length of a longest common subsequence of old[i:] and new[j:].
	common := make([][]int32, len(old)+1)
	for i := range common {
		common[i] = make([]int32, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j, removed, added := 0, 0, false, false
	hunk := func() { // ends a hunk
		if removed && !added {
			changed = append(changed, start+min(j, len(new)-1)+1)
		}
		removed, added = false, false
	}
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && old[i] == new[j]:
			hunk()
			i, j = i+1, j+1
		case j < len(new) && (i == len(old) || common[i][j+1] >= common[i+1][j]):
			changed, added = append(changed, start+j+1), true
			j++
		default:
			i, removed = i+1, true
		}
	}
	hunk()
	return changed
}
