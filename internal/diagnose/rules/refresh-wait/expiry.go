package refreshwait

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/caching"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// levels is how many functions above the wait may have the lookup.
const levels = 3

// lookup is a function that looks whether a kept value is still valid, and gets it otherwise.
type lookup struct {
	place  *gocode.Place
	test   ast.Expr // of its time
	misses float64  // share of its calls that get the value
}

// expiring returns the lookup that leads to a line, in its function or in one that calls it; nil
// for none.
func expiring(p *rule.Pass, in *gocode.Place) *lookup {
	var at ast.Node
	for _, call := range syntax.Calls(in) {
		at = call
		break
	}
	if at == nil && len(in.Nodes) > 0 {
		at = in.Nodes[0]
	}
	for range levels {
		if at == nil || in.Outer().Decl == nil {
			return nil
		}
		out := in.Outer()
		if test := caching.ExpiryTest(out, at.Pos()); test != nil {
			return counted(p, out, test, at)
		}
		above, call := flow.OnlyCall(p.Syntax, out)
		if above == nil {
			return nil
		}
		in, at = above, call
	}
	return nil
}

// counted returns the lookup with a test before a node, which only some calls reach.
func counted(p *rule.Pass, in *gocode.Place, test ast.Expr, at ast.Node) *lookup {
	e, ok := evidence.ExecutionsAt(p, in, test.Pos())
	reached, known := evidence.ReachedAt(p, in, at.Pos())
	if !ok || !known || e.Calls <= 0 {
		return nil
	}
	return &lookup{place: in, test: test, misses: min(1, reached/e.Calls)}
}
