// Package filenotclosed finds files and connections that a function opens and does not close on all
// paths.
package filenotclosed

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastLeft per request or operation that must stay open, and leastInRun in a run of a program
	// that exits: a few of those are closed at its end.
	leastLeft  = 0.01
	leastInRun = 200
)

// Rule is file-not-closed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "file-not-closed",
		Kind:   rule.Leak,
		Needs:  []rule.Need{rule.NeedCounts},
		Title:  "File or connection that a function leaves open",
		Doc:    doc,
		Urgent: true,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `A function opens a file or a connection, and returns early without closing it:
because the file is empty, or its header is wrong. The descriptor stays open
until the garbage collector finds that nothing refers to it. A service that
allocates little collects seldom: thousands of files are then open, and sooner
or later every open fails with "too many open files".

Defer f.Close() right after the check of the error of the open, before any other
return. A function that returns what it opened on success closes it on all other
paths: defer a function that does so if the error is not nil.

It is fine to leave a file open that the program keeps, such as its log. The
rule follows the variable: it leaves files alone that are returned, stored or
passed to a function outside of the standard library. The counts must show that
the return without Close runs, for one request in a hundred and more.

Seen in the field: odeke-em/drive#711, sageox/ox#443 (4,977 open files of a
daemon), subutai-io/agent#354, tonistiigi/fsutil#17.`

func find(p *rule.Pass) (matches []rule.Match) {
	if p.Syntax == nil || p.Counts == nil || p.Code == nil || p.Manifest == nil {
		return nil
	}
	seen := map[*ast.CallExpr]bool{}
	for _, place := range p.Syntax.Calls(opens) {
		for _, call := range syntax.Calls(place) {
			fn := place.Callee(call)
			if fn == nil || !opens(fn) || seen[call] {
				continue
			}
			seen[call] = true
			if m := match(p, place, call); m != nil {
				matches = append(matches, *m)
			}
		}
	}
	return matches
}

// opens reports whether the first result of a function is a file or a connection.
func opens(fn *types.Func) bool {
	results := fn.Signature().Results()
	if results.Len() < 2 {
		return false // one without an error returns what is open already
	}
	switch types.TypeString(results.At(0).Type(), nil) {
	case "*os.File", "net.Conn", "*net.TCPConn", "*net.UDPConn", "*net.UnixConn", "*crypto/tls.Conn":
		return true
	}
	return false
}

func match(p *rule.Pass, in *gocode.Place, call *ast.CallExpr) *rule.Match {
	v := syntax.Result(in, call)
	if v == nil || !syntax.Local(in, v) {
		return nil
	}
	closed, _, ours := flow.Closing(in, call, v)
	runs, ok := evidence.ReachedAt(p, in, call.Pos())
	if !ours || !ok || runs <= 0 {
		return nil
	}
	left, where := runs, "never closes it"
	if closed != nil {
		var at ast.Node
		if left, at = leaves(p, in, call, closed); at == nil {
			return nil
		}
		where = fmt.Sprintf("returns on line %d without closing it", syntax.Line(in, at.Pos()))
	}
	least := leastLeft
	if p.Manifest.Unit() == "run" {
		least = leastInRun
	}
	if left < least {
		return nil
	}
	file := in.Fset.Position(call.Pos()).Filename
	function := syntax.ProfileName(in)
	s := p.Site(&site.Frame{Function: function, File: file, Line: syntax.Line(in, call.Pos()), Owner: p.Code.Owner(function, file)})
	return &rule.Match{
		Site:       s,
		Confidence: rule.Likely, // when the collector closes them is not known
		Cause: fmt.Sprintf("%s opens %s here, and %s: %s of those that it opens stay open, %s per %s, until the garbage collector finds them.",
			syntax.FuncName(in), v.Name(), where, units.Percent(left/runs), units.Number(left), p.Manifest.Unit()),
		Fix: fmt.Sprintf("Defer %s.Close() right after the check of the error, before any other return.", v.Name()),
		Evidence: []rule.Evidence{{
			What: evidence.ExecutionsCounted, Value: fmt.Sprintf("opened %s times per %s, left open %s times", units.Number(runs), p.Manifest.Unit(), units.Number(left)),
		}},
	}
}

// leaves returns how often a function returns between a call and the first close of its result, per
// unit of work, and the most frequent of these returns. The check of the call's own error is none
// of them: it then returned nothing.
func leaves(p *rule.Pass, in *gocode.Place, call *ast.CallExpr, closed ast.Node) (sum float64, first ast.Node) {
	own := failure(in, call)
	most := 0.0
	ast.Inspect(syntax.Body(in), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == in.Func
		case *ast.ReturnStmt:
			if n.Pos() < call.End() || n.End() > closed.Pos() || own != nil && syntax.Within(own, n) || syntax.Exclusive(in, call, n) {
				return true
			}
			if at, ok := evidence.ReachedAt(p, in, n.Pos()); ok && at > 0 {
				sum += at
				if at > most {
					most, first = at, n
				}
			}
		}
		return true
	})
	return sum, first
}

// failure returns the statement that handles the error of a call: an if around it, or the one after
// it; nil for none.
func failure(p *gocode.Place, call *ast.CallExpr) ast.Node {
	var stmt ast.Node
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			return n.Body
		case *ast.AssignStmt, *ast.DeclStmt:
			stmt = n
		case *ast.BlockStmt:
			for i, s := range n.List {
				if ast.Node(s) != stmt || i+1 >= len(n.List) {
					continue
				}
				if next, ok := n.List[i+1].(*ast.IfStmt); ok {
					return next
				}
			}
			return nil
		}
	}
	return nil
}
