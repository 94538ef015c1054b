package smallwrites

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// passer returns the index of the frame of the main module that calls into a module whose code
// writes to a file or connection, without a buffer in between; -1 for none.
func passer(r *site.Row) int {
	if r.Owner < 1 || r.Stack[r.Owner].Owner.Kind != gocode.Dependency || !funcname.Match(r.Stack[r.Owner-1].Function, outlets...) {
		return -1
	}
	for i := r.Owner + 1; i < len(r.Stack) && i <= r.Owner+mostFrames; i++ {
		switch r.Stack[i].Owner.Kind {
		case gocode.Dependency:
		case gocode.Main:
			return i
		default:
			return -1
		}
	}
	return -1
}

// judgePassed judges a line that passes a file or connection to a function of a module, as an
// io.Writer. The module writes to it in parts, or the line is in a loop: a buffer that the line
// passes instead collects them.
func judgePassed(c *finder.Case) bool {
	call, w := passing(c.Place)
	if call == nil || standard(c.Place, w) || synced(c.Place) || reads(c.Pass, &c.Site.Frame) {
		return false
	}
	parts, lines := partsOf(c)
	loop := collecting(c, call, w)
	if parts < leastParts && loop == nil || !cheapParts(c, parts) {
		return false
	}
	many := max(1, parts)
	where := ""
	if loop != nil {
		many *= leastEach // at least
		if e, ok := evidence.Executions(c.Pass, c.Site.Frame); ok && e.PerCall > leastEach {
			many *= e.PerCall / leastEach
		}
		where = fmt.Sprintf(" The loop on line %d does it for each item, without waiting.", syntax.Line(c.Place, loop.Pos()))
	}
	c.Callees = outlets
	c.Confidence = rule.Likely // the pieces are small by what their writes cost
	c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - 1/many), Low: 0.5 * (1 - 1/many), High: 1}
	each, text := "a system call", syntax.Text(w)
	if parts >= leastParts {
		each = fmt.Sprintf("%s small writes, of the parts of a message (%s), and a system call for each", units.Number(math.Round(10*parts)/10), lines)
	}
	if connected(c) {
		each += ", perhaps a packet"
	}
	name := symbol.Short(c.Place.CalleeName(call))
	c.Cause = fmt.Sprintf("%s gets %s itself, without a buffer, and each call makes %s.%s", name, text, each, where)
	c.Fix = fmt.Sprintf("Put a bufio.Writer in front of %s, pass that to %s, and call Flush after the call, checking its error.", text, name)
	if loop != nil {
		c.Fix = fmt.Sprintf("Put a bufio.Writer in front of %s, keep it beside it, pass it to %s, and call Flush after the loop, checking its error.", text, name)
	}
	spent, samples := stacks.Sum(c.CPU)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU in the write calls below this line",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(c.Pass, "cpu", c.Site.Function),
	})
	return true
}

// leastParts is the minimum mean number of writes for each call of the module's function that is
// reported without a loop.
const leastParts = 1.8

// passing returns a call on a line that passes a file or connection to a function of another
// package, which gets it as an io.Writer, and can therefore only write to it; nil for none.
func passing(p *gocode.Place) (*ast.CallExpr, ast.Expr) {
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg {
			continue
		}
		params := fn.Signature().Params()
		for i := range min(params.Len(), len(call.Args)) {
			if isWriter(params.At(i).Type()) && unbuffered(p.TypeOf(call.Args[i])) {
				return call, call.Args[i]
			}
		}
	}
	return nil, nil
}

// isWriter reports whether a type is an interface of the method Write alone.
func isWriter(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 1 && i.Method(0).Name() == "Write"
}

func unbuffered(t types.Type) bool {
	return t != nil && slices.Contains([]string{"net.Conn", "*net.TCPConn", "*net.UnixConn", "*os.File"}, t.String())
}

// partsOf returns how often a module writes for each call from lines like the one of a case, as
// counted, with the module's lines that write; 0 if that is unknown.
func partsOf(c *finder.Case) (parts float64, lines string) {
	at := map[gocode.Pos]bool{}
	var words []string
	for _, r := range c.CPU {
		f := r.Stack[r.Owner]
		pos := gocode.Pos{File: f.File, Line: f.Line}
		if at[pos] {
			continue
		}
		at[pos] = true
		e, ok := evidence.Executions(c.Pass, *f)
		if !ok {
			return 0, ""
		}
		parts += e.PerUnit
		words = append(words, fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line))
	}
	calls, ok := callsTo(c.Pass, at)
	if !ok || calls <= 0 {
		return 0, ""
	}
	slices.Sort(words)
	return parts / calls, funcname.List(words)
}

// callsTo returns how often lines of the main module call what leads to writes on some lines of a
// module; false if that was not counted, or much of the writing comes from elsewhere.
func callsTo(p *rule.Pass, at map[gocode.Pos]bool) (calls float64, ok bool) {
	callers := map[gocode.Pos]bool{}
	var known, all int64
	ok = true
	p.EachRow(func(r *site.Row) {
		if r.Owner < 1 || !at[gocode.Pos{File: r.Stack[r.Owner].File, Line: r.Stack[r.Owner].Line}] || !stacks.Calls(r, outlets...) {
			return
		}
		all += r.Value
		i := passer(r)
		if i < 0 {
			return
		}
		known += r.Value
		f := r.Stack[i]
		if pos := (gocode.Pos{File: f.File, Line: f.Line}); !callers[pos] {
			callers[pos] = true
			e, counted := evidence.Executions(p, *f)
			calls, ok = calls+e.PerUnit, ok && counted
		}
	})
	return calls, ok && float64(known) >= leastKnown*float64(all)
}

// leastKnown is the minimum share of a module's writing that comes from known lines.
const leastKnown = 0.9

// cheapParts reports whether the writes below a line are short on average, as far as their cost
// shows.
func cheapParts(c *finder.Case, parts float64) bool {
	most := mostCost
	if connected(c) {
		most = mostSent
	}
	return evidence.Cheaper(c.Pass, c.Site.Frame, c.CPU, most*max(1, parts))
}

// collecting returns the loop around a call after which a buffer can be flushed: it does not wait,
// and writes to the same writer in most iterations; nil for none.
func collecting(c *finder.Case, call *ast.CallExpr, w ast.Expr) ast.Node {
	loop := repeating(c.Place, call)
	if loop == nil || loops.AtMost(c.Place, loop, call, 2) || !loops.FromOutside(c.Place, loop, w) ||
		waits(c, &c.Site.Frame, c.Place, loop, callersAt(c)) || connected(c) && answered(c, c.Place, loop) ||
		!often(c, &c.Site.Frame, c.Place, loop, call) {
		return nil
	}
	return loop
}

// callersAt returns the frames above a line of the row that costs most.
func callersAt(c *finder.Case) []*site.Frame {
	row := stacks.Largest(c.CPU)
	if row == nil {
		return nil
	}
	i := slices.IndexFunc(row.Stack, func(f *site.Frame) bool { return f.Line == c.Site.Line && f.File == c.Site.File })
	return row.Stack[i+1:]
}
