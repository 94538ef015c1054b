// Package mapperobject finds types of which each value has a map of its own with a few entries.
package mapperobject

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

const (
	// mostEntries is the mean number of entries of a map up to which a slice is smaller and,
	// searched from its start, no slower.
	mostEntries = 4
	// leastMaps that the line must have allocated, by the heap profile.
	leastMaps = 10_000
	// leastLeft is the share of the maps that must be live in the end for them to pile up.
	leastLeft = 0.9
)

// Rule is map-per-object.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "map-per-object",
		Kind:   rule.Alloc,
		Needs:  []rule.Need{rule.NeedCounts},
		Title:  "Map with a few entries in each of many objects",
		Doc:    doc,
		Memory: true,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The header of a map has 48 bytes, and room for eight entries is allocated with
				// the first one; starting to range over a map takes some ten times as long as over
				// a slice.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.4, High: 0.95},
				Specificity: 2, // it says why the lines allocate
			},
			Start: finder.Sites(finder.TakeOwn),
			Judge: judge,
		},
	}
}

const doc = `Each object of a large structure, such as the nodes of a tree, has a map. A map
is a header of 48 bytes, and with its first entry a group with room for eight:
most of that stays empty. Each one is allocated, hashed into, and followed by the
collector, for a lookup that a comparison or two would answer.

Keep the few entries in a slice of pairs and search it from its start, sorted if
the order matters. Where keys are small numbers or letters of a small alphabet, use
an array, or a bitmap and a slice. Or use one map for all objects, with the
object's number in the key. At least create the map with the first entry.

It is fine for few objects, and where some of the maps get large. The rule
reports a field if ten thousand maps were allocated for it, and up to four
insertions per map were counted on average.

Seen in the field: derekparker/trie#28, dghubble/trie#11, gnolang/gno#3436.`

func judge(c *finder.Case) bool {
	p := c.Place
	if _, objects := stacks.Sum(c.Allocs); objects < leastMaps {
		return false
	}
	field, made := mapField(p)
	if field == nil {
		return false
	}
	created, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || created.PerUnit <= 0 {
		return false
	}
	u := uses(p, field)
	put := 0.0
	for line := range u.puts {
		if ran, ok := c.Pass.Counts.Line(c.Site.Owner.Package, line.file, line.line); ok {
			put += ran.PerUnit
		}
	}
	each := put / created.PerUnit
	if put == 0 || each > mostEntries {
		return false
	}
	pile := piles(c)
	gather(c, u)
	c.Confidence = rule.Likely // entries may replace others; what reads the map may need one
	c.Cause = fmt.Sprintf("Every %s gets a map of its own (%s), into which %.1f entries were put on average while executions were counted. A map takes many times the memory of so few entries.",
		made, field.Name(), each)
	c.Fix = fmt.Sprintf("Keep the entries of %s in a slice of pairs, searched from its start (or an array, if keys are few and small); or in one map for all objects.", field.Name())
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%.1f insertions for each map", each),
	})
	if pile {
		c.Confidence = rule.Hint
		c.Cause += " But requests leave these objects behind, and they stay in memory: smaller ones only slow the growth."
		c.Fix = fmt.Sprintf("First release each %s that is no longer needed, if that is a leak. ", made) + c.Fix
	}
	return true
}

// piles reports whether each request to a service leaves objects with such maps behind, as a leak
// does.
func piles(c *finder.Case) bool {
	ph, ok := c.Pass.Phase(recording.PhaseCPU)
	if !ok || ph.Requests <= 0 || c.Pass.Manifest.Target.Kind == "program" {
		return false
	}
	bytes, _ := stacks.Sum(c.Allocs)
	for _, g := range c.Pass.Growth {
		if g.File == c.Site.File && g.Line == c.Site.Line && g.Function == c.Site.Function {
			return float64(g.Bytes) >= leastLeft*float64(bytes) && g.Objects >= ph.Requests
		}
	}
	return false
}

// mapField returns the field of the package's types that the line gives a new empty map to, and the
// name of the type.
func mapField(p *gocode.Place) (*types.Var, string) {
	var field *types.Var
	var of string
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok || !newMap(p, kv.Value) || syntax.Line(p, kv.Pos()) != p.Line {
					continue
				}
				if id, ok := kv.Key.(*ast.Ident); ok {
					if v, ok := p.Object(id).(*types.Var); ok && v.IsField() && v.Pkg() == p.Pkg {
						field, of = v, types.TypeString(p.TypeOf(n), types.RelativeTo(p.Pkg))
					}
				}
			}
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) || syntax.Line(p, n.Pos()) != p.Line {
				return true
			}
			for i, lhs := range n.Lhs {
				sel, ok := lhs.(*ast.SelectorExpr)
				if !ok || !newMap(p, n.Rhs[i]) {
					continue
				}
				if v, ok := p.Object(sel.Sel).(*types.Var); ok && v.IsField() && v.Pkg() == p.Pkg {
					t := p.TypeOf(sel.X)
					if ptr, ok := t.Underlying().(*types.Pointer); ok {
						t = ptr.Elem()
					}
					field, of = v, types.TypeString(t, types.RelativeTo(p.Pkg))
				}
			}
		}
		return true
	})
	return field, of
}

// newMap reports whether an expression is a new map without entries.
func newMap(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return p.CalleeName(e) == "make" && len(e.Args) == 1
	}
	return false
}

// place is a line of the package.
type place struct {
	file string
	line int
}

// usage is where a field with a map is used.
type usage struct {
	puts, all map[place]bool
}

// uses returns the lines of the package that use a field, and those of them that put something in.
func uses(p *gocode.Place, field *types.Var) usage {
	u := usage{map[place]bool{}, map[place]bool{}}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if p.Object(n) == field {
					u.all[at(p, n.Pos())] = true
				}
			case *ast.AssignStmt:
				for _, lhs := range n.Lhs {
					if x, ok := lhs.(*ast.IndexExpr); ok && syntax.Named(p, x.X) == field {
						u.puts[at(p, n.Pos())] = true
					}
				}
			case *ast.IncDecStmt:
				if x, ok := n.X.(*ast.IndexExpr); ok && syntax.Named(p, x.X) == field {
					u.puts[at(p, n.Pos())] = true
				}
			}
			return true
		})
	}
	return u
}

func at(p *gocode.Place, pos token.Pos) place {
	position := p.Fset.Position(pos)
	return place{position.Filename, position.Line}
}

// gather adds the rows of the other lines that use the field: what putting into the map, looking up
// and ranging over it cost.
func gather(c *finder.Case, u usage) {
	ofMap := func(r *site.Row) bool {
		return stacks.Calls(r, "runtime.map*", "internal/runtime/maps.*", "runtime.makemap*")
	}
	for _, s := range c.Pass.Table.Sites {
		if s == c.Site || !u.all[place{s.File, s.Line}] {
			continue
		}
		c.CPU = append(c.CPU, stacks.Select(s.CPU, ofMap)...)
		if u.puts[place{s.File, s.Line}] {
			c.Allocs = append(c.Allocs, stacks.Select(s.Allocs, stacks.Leaf)...)
			c.Live = append(c.Live, stacks.Select(s.Live, stacks.Leaf)...)
		}
	}
}
