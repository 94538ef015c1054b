package flushpermessage

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/durable"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastSynced and mostSynced are how often each request syncs a file: more often, and it is its
	// own syncs that could be one (io-in-loop).
	leastSynced, mostSynced = 0.5, 3
	// leastTogether is how many requests run at a time whose syncs could be one.
	leastTogether = 4
)

// perRequest judges a line on which each request syncs a file that all share, while others do the
// same: one sync makes everything durable that was written before it.
func perRequest(c *finder.Case) bool {
	m := c.Pass.Manifest
	if m == nil || m.Load == nil || m.Load.Connections < leastTogether || len(c.Calls) != 1 {
		return false
	}
	call := c.Calls[0]
	synced := c.Name() == "(*os.File).Sync"
	if !synced && !funcname.Match(c.Name(), funcname.TypedAll(durable.Transactions())...) {
		return false
	}
	to := syntax.Receiver(call)
	if to == nil {
		return false
	}
	v := syntax.Named(c.Place, to)
	if v == nil || syntax.Local(c.Place, v) && !syntax.Param(c.Place, v) {
		return false // a file of this call: the others have their own
	}
	e, ok := evidence.ExecutionsAt(c.Pass, c.Place, call.Pos())
	if !ok || e.PerUnit < leastSynced || e.PerUnit > mostSynced || locked(c.Place, call) || durable.Grouping(c.Site.Function) || !synced && !durable.Waits(c.Pass, c.Place, call) {
		return false
	}
	if !synced {
		c.Keep(func(r *site.Row) bool { return !inside(c, r) })
		if c.Empty() {
			return false
		}
	}
	c.Confidence = rule.Likely // the requests may not overlap
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.2, High: 0.95}
	c.Cause = fmt.Sprintf("Each request forces its own data to the disk (%s, %s per request), while others do the same with the same file. One sync makes everything durable that was written before it.",
		syntax.Text(call.Fun), evidence.Times(e.PerUnit))
	c.Fix = fmt.Sprintf("Commit in groups: let requests write and wait, and let one goroutine call %s for all that has been written meanwhile, then wake them. If the last moments may be lost, sync at an interval.", syntax.Text(call.Fun))
	if !synced {
		c.Fix = "Commit in groups: let one goroutine collect what requests write, and commit once for all that have arrived."
		if strings.Contains(c.Name(), "bbolt") {
			c.Fix = fmt.Sprintf("Commit in groups: pass the function to %s.Batch, which runs those of several requests in one transaction.", syntax.Text(to))
		}
	}
	return true
}

// inside reports whether a row is spent in the function that a transaction runs: its work remains.
func inside(c *finder.Case, r *site.Row) bool {
	at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return *f == c.Site.Frame })
	return at > 0 && slices.ContainsFunc(r.Stack[:at], func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main })
}

// locked reports whether a function calls something with a mutex held: the rules about locks then
// say what to do.
func locked(p *gocode.Place, at *ast.CallExpr) bool {
	held := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if n.Pos() >= at.Pos() {
				return true
			}
			if name := p.CalleeName(n); funcname.Match(name, "(*sync.Mutex).Lock", "(*sync.RWMutex).Lock") {
				held = true
			} else if funcname.Match(name, "(*sync.Mutex).Unlock", "(*sync.RWMutex).Unlock") {
				held = false
			}
		}
		return true
	})
	return held
}
