package stringbytescopy

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// cutting are functions that exist for strings and for bytes, and whose result is a part of their
// argument.
var cutting = []string{
	"strings.TrimSpace", "strings.Trim", "strings.TrimLeft", "strings.TrimRight", "strings.TrimPrefix", "strings.TrimSuffix", "strings.TrimFunc",
	"strings.TrimLeftFunc", "strings.TrimRightFunc",
}

// changing are functions that exist for strings and for bytes, and return a new text.
var changing = []string{
	"strings.ToLower", "strings.ToUpper", "strings.ToTitle", "strings.Title", "strings.Replace", "strings.ReplaceAll", "strings.Repeat", "strings.Map",
	"strings.ToValidUTF8",
}

// trip is a text that is made from bytes only to be passed to functions for strings, whose result
// is made into bytes again.
type trip struct {
	from, to *ast.CallExpr   // the conversions
	through  []*ast.CallExpr // the calls, outermost first
	names    []string
	cuts     bool // the result is a part of the bytes
}

// trips returns those of a line.
func trips(p *gocode.Place) (all []*trip) {
	for _, n := range syntax.Allocating(p) {
		to, ok := n.(*ast.CallExpr)
		if !ok || !conversion(p, to) || syntax.IsString(p, to) {
			continue
		}
		t := &trip{to: to, cuts: true}
		for at := to; ; {
			call, ok := ast.Unparen(at.Args[0]).(*ast.CallExpr)
			if !ok {
				break
			}
			if conversion(p, call) {
				t.from = call
				break
			}
			name := p.CalleeName(call)
			if len(call.Args) == 0 || !funcname.Match(name, cutting...) && !funcname.Match(name, changing...) {
				break
			}
			t.cuts = t.cuts && funcname.Match(name, cutting...)
			t.through, t.names = append(t.through, call), append(t.names, "bytes."+strings.TrimPrefix(name, "strings."))
			at = call
		}
		if t.from != nil && len(t.through) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// nodes returns the conversions, and the calls that allocate nothing themselves.
func (t *trip) nodes() []ast.Node {
	nodes := []ast.Node{t.from, t.to}
	if t.cuts {
		for _, call := range t.through {
			nodes = append(nodes, call)
		}
	}
	return nodes
}

// calls returns how many nodes of trips are not conversions.
func calls(trips []*trip) (n int) {
	for _, t := range trips {
		n += len(t.nodes()) - 2
	}
	return n
}

func (t *trip) cause() string {
	return fmt.Sprintf("%s makes a text of %s only to make bytes of the result again: two copies.", syntax.Text(t.to), syntax.Text(t.from.Args[0]))
}

func (t *trip) fix() string {
	fix := fmt.Sprintf("Use %s, which needs neither.", funcname.List(t.names))
	if t.cuts {
		fix += fmt.Sprintf(" The result is then a part of %s: copy that only if it changes later.", syntax.Text(t.from.Args[0]))
	}
	return fix
}
