package passperpattern

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastWalks is the minimum number of walks of one tree that one walk replaces.
	leastWalks = 5
	// walkLevels is how many callers away from the walk the loop may be.
	walkLevels = 3
)

// walkers are functions that visit all of a tree, as profiles name them.
var walkers = []string{
	"go/ast.Walk", "go/ast.Inspect", "golang.org/x/tools/go/ast/astutil.Apply",
	"golang.org/x/tools/go/ast/inspector.(*Inspector).Preorder", "golang.org/x/tools/go/ast/inspector.(*Inspector).Nodes",
	"golang.org/x/tools/go/ast/inspector.(*Inspector).WithStack",
	"path/filepath.Walk", "path/filepath.WalkDir", "io/fs.WalkDir",
}

// walk is a call in a loop that walks the same tree in each iteration.
type walk struct {
	place *gocode.Place
	call  *ast.CallExpr
	loop  ast.Node
	tree  ast.Expr
}

// walks remembers the walks of a recording by the lines that call them.
type walks struct {
	pass *rule.Pass
	at   map[gocode.Pos]*walk
}

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	w := &walks{p, map[gocode.Pos]*walk{}}
	texts := &reads{p, map[gocode.Pos]*walk{}}
	return []finder.Line{{Start: finder.Frames(w.frame), Judge: w.judge}, {Start: finder.Frames(texts.frame), Judge: texts.judge}}
}

// frame returns the frame of the loop that walks a tree once for each item; -1 for none.
func (w *walks) frame(r *site.Row) int {
	for i := len(r.Stack) - 2; i >= 0; i-- {
		if !funcname.Match(r.Stack[i].Function, walkers...) {
			continue
		}
		for j := i + 1; j < len(r.Stack) && j <= i+walkLevels; j++ {
			if k := r.Stack[j].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
				return -1
			}
			if w.find(r.Stack, j) != nil {
				return j
			}
		}
		return -1
	}
	return -1
}

func (w *walks) find(stack []*site.Frame, j int) *walk {
	at := gocode.Pos{File: stack[j].File, Line: stack[j].Line}
	found, known := w.at[at]
	if !known {
		if place, ok := w.pass.Syntax.At(at.File, at.Line); ok {
			found = walkAt(place, stack[j-1].Function)
		}
		w.at[at] = found
	}
	return found
}

// walkAt returns the call of a function on a line, in a loop, that gets the same tree in each
// iteration, and something that differs; nil for none.
func walkAt(p *gocode.Place, function string) *walk {
	call := loops.CallTo(p, function)
	if call == nil {
		return nil
	}
	loop := loops.Repeating(p, call)
	if loop == nil {
		return nil
	}
	var tree ast.Expr
	differs := false
	passed := call.Args
	if to := syntax.Receiver(call); to != nil {
		passed = append([]ast.Expr{to}, passed...)
	}
	for _, e := range passed {
		switch same := loops.FromOutside(p, loop, e); {
		case !same:
			differs = true
		case tree == nil && holds(p.TypeOf(e)) && !changed(p, loop, e):
			tree = e
		}
	}
	if tree == nil || !differs {
		return nil
	}
	return &walk{p, call, loop, tree}
}

// holds reports whether values of a type can be the root of a tree: not a function or a constant.
func holds(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Slice, *types.Map, *types.Struct:
		return types.TypeString(t, nil) != "*go/token.FileSet" && types.TypeString(t, nil) != "context.Context"
	case *types.Basic:
		return u.Kind() == types.String
	}
	return false
}

// changed reports whether a loop assigns to the variable of an expression.
func changed(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	v, part := syntax.Var(p, e)
	return v != nil && !part && syntax.Local(p, v) && !loops.Invariant(p, loop, e)
}

func (w *walks) judge(c *finder.Case) bool {
	found := w.at[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil {
		return false
	}
	line := syntax.Line(found.place, found.loop.Pos())
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, line)
	runs, counted := evidence.ReachedAt(c.Pass, found.place, found.call.Pos())
	if !ok || !counted || l.Entries <= 0 || runs < leastWalks*l.Entries {
		return false
	}
	n := runs / l.Entries
	name := symbol.Short(found.place.CalleeName(found.call))
	if name == "" {
		name = syntax.Text(found.call.Fun)
	}
	tree := syntax.Text(found.tree)
	c.Cause = fmt.Sprintf("The loop on line %d calls %s for each of %s items, and each call walks the whole of %s.", line, name, units.Number(n), tree)
	c.Fix = fmt.Sprintf("Walk %s once before the loop, collect what all items need into a map, and look it up for each.", tree)
	c.Confidence = rule.Likely // the items may need different things
	c.Fraction = &rule.Fraction{Expect: 1 - 1.5/n, Low: 0.5, High: 1 - 0.5/n}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s walks each time the loop is reached", units.Number(n)),
	})
	return true
}
