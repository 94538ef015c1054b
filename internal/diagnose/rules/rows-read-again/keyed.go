package rowsreadagain

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// A query with a value of the request reads the same rows again, too, if far fewer values come than
// different requests: the tenant, the role, the category. A middleware has such a value by its
// purpose: it looks up who asks, for all requests of the same client.

const (
	leastCalls   = 50 // whose inputs are known
	leastTargets = 8  // different requests, to tell one value from another
	mostValues   = 4  // requests for each value
)

// asked is what shows that a query with a value of the request reads the same rows again.
type asked struct {
	values, calls, requests int64  // 0 if unknown
	middleware              string // the function that looks the value up before it goes on
}

// again returns what shows that a query with values of the request comes again with the same ones.
func (s *search) again(q *query) (asked, bool) {
	r := stacks.Largest(q.rows)
	if r == nil {
		return asked{}, false
	}
	i := s.frame(r)
	if i < 0 {
		return asked{}, false
	}
	a := asked{middleware: s.middleware(r.Stack[i:])}
	few, known := s.values(s.sender(q), r.Stack[i].Function, q, &a)
	if known {
		return a, few
	}
	return a, a.middleware != ""
}

// sender returns the function of the client that sends a query, as the profile names it.
func (s *search) sender(q *query) string {
	for _, r := range q.rows {
		i := s.frame(r)
		if i <= 0 {
			continue
		}
		name := r.Stack[i-1].Function
		if sends(name[strings.LastIndexByte(name, '.')+1:]) {
			return name
		}
	}
	return ""
}

// values reports whether few values come, for many different requests, as far as the recording
// counted the inputs of the client's function or of the one around the query.
func (s *search) values(client, around string, q *query, a *asked) (few, known bool) {
	for _, name := range []string{client, around} {
		f := s.pass.Inputs.Of(name)
		if f == nil || f.Calls < leastCalls || f.Hashed < f.Calls || len(f.Params) == 0 {
			continue
		}
		if name == around && !passes(q, f) || name == client && f.Params[len(f.Params)-1] != inputs.ByValue {
			continue
		}
		targets := cmp.Or(f.Targets, s.pass.Inputs.Targets)
		if targets < leastTargets {
			continue
		}
		// A request that asks for several values reads some of them for others as well.
		if lookups := float64(targets) * max(1, q.perUnit); s.requests() && mostValues*float64(f.Different) <= lookups || mostValues*f.Different <= targets {
			a.values, a.calls, a.requests = f.Different, f.Calls, targets
			return true, true
		}
		known = known || name == around // the client has other queries as well
	}
	return false, known
}

// requests reports whether the units of work are requests.
func (s *search) requests() bool { return s.pass.Manifest.Unit() == "request" }

// passes reports whether a query gets only values that the function around it gets itself, and that
// were compared by their contents.
func passes(q *query, f *inputs.Function) bool {
	sig := syntax.SignatureOf(q.place)
	if sig == nil || q.place.Func != q.place.Decl || len(f.Params) != sig.Params().Len() {
		return false
	}
	for _, arg := range q.values {
		v := syntax.LocalVar(q.place, syntax.Origin(q.place, arg))
		if v == nil {
			return false
		}
		if i := syntax.ParamIndex(sig, v); i < 0 || f.Params[i] != inputs.ByValue {
			return false
		}
	}
	return true
}

// middleware returns the name of the function in a stack that goes on to the next handler after the
// query; "" for none.
func (s *search) middleware(stack []*site.Frame) string {
	for _, f := range stack {
		if f.Owner.Kind != gocode.Main {
			continue
		}
		p, ok := s.pass.Syntax.At(f.File, f.Line)
		if !ok || p.Func == nil {
			continue
		}
		next := false
		ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			next = next || ok && syntax.Line(p, call.Pos()) > f.Line && continues(p, call)
			return !next
		})
		if next && !slices.ContainsFunc(syntax.Calls(p), func(c *ast.CallExpr) bool { return continues(p, c) }) {
			return syntax.FuncName(p)
		}
	}
	return ""
}

// continues reports whether a call passes a request on to the handler that follows: that of
// net/http, a function with its signature, those of gRPC, and Next of gin and fiber.
func continues(p *gocode.Place, call *ast.CallExpr) bool {
	if to := syntax.Receiver(call); to != nil {
		fn := p.Callee(call)
		if fn != nil && fn.Name() == "ServeHTTP" {
			return types.IsInterface(p.TypeOf(to)) || strings.HasSuffix(types.TypeString(p.TypeOf(to), nil), "net/http.HandlerFunc")
		}
		if fn != nil && fn.Name() == "Next" && len(call.Args) == 0 {
			t := types.TypeString(p.TypeOf(to), nil)
			return strings.HasSuffix(t, ".Context") || strings.HasSuffix(t, ".Ctx")
		}
	}
	v := syntax.Named(p, call.Fun)
	if v == nil {
		return false
	}
	sig, ok := v.Type().Underlying().(*types.Signature)
	if !ok || sig.Params().Len() == 0 {
		return false
	}
	last := types.TypeString(sig.Params().At(sig.Params().Len()-1).Type(), nil)
	name := types.TypeString(v.Type(), nil)
	return last == "*net/http.Request" || strings.HasSuffix(last, "echo.Context") || strings.HasSuffix(last, "/echo/v4.Context") ||
		strings.HasSuffix(name, "grpc.UnaryHandler") || strings.HasSuffix(name, "connect.UnaryFunc")
}

// timed reports whether an argument is a time, so that the query is another one each time.
func timed(p *gocode.Place, arg ast.Expr) bool {
	found := false
	ast.Inspect(syntax.Origin(p, arg), func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if ok && p.TypeOf(e) != nil && strings.HasPrefix(types.TypeString(p.TypeOf(e), nil), "time.") {
			found = true
		}
		return !found
	})
	return found
}

// describeAsked fills in the words for a query with a value of the request.
func (s *search) describeAsked(c *finder.Case, q *query, a asked) {
	c.Confidence = rule.Likely
	from := strings.Join(q.tables, ", ")
	key := syntax.Text(q.values[0])
	who := fmt.Sprintf("%s sends the query of %s by %s", syntax.FuncName(q.place), from, key)
	if a.middleware != "" {
		who = fmt.Sprintf("Before it goes on, %s looks up who asks: %s", a.middleware, who)
	}
	came := ""
	if a.values > 0 {
		came = fmt.Sprintf(", and only %s came in %s calls for %s different requests", units.Some(float64(a.values), "value"), units.Count(a.calls), units.Count(a.requests))
	}
	c.Cause = fmt.Sprintf("%s %s %s%s. The program itself writes to %s less than once in %d of these queries, or never: unless others write, the rows of a value are the same.",
		who, evidence.Times(q.perUnit), s.per(), came, from, int(1/seldom))
	c.Fix = fmt.Sprintf("Keep what was read by %s for some seconds (a cache with a limit and a time for each entry), drop an entry where the program changes its row, and let one goroutine ask for a value that is missing (singleflight). A change by others is then seen some seconds later: say so where access can be revoked.", key)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s queries %s", units.Number(q.perUnit), s.per())})
	if again := s.within(q); again >= leastWithin {
		c.Cause += fmt.Sprintf(" %s of the queries are of a value that the same %s asked for before: handing the row on saves those without a cache.", units.Percent(again), s.pass.Manifest.Unit())
		rest := 1 - again
		c.Fraction = &rule.Fraction{Expect: 0.95 * rest, Low: 0.8 * rest, High: 1}
	}
}

// leastWithin is the share of repeats within a request that another rule reports.
const leastWithin = 0.3

// within returns the share of calls of the function around a query whose input the same request had
// before, if it returned the same each time.
func (s *search) within(q *query) float64 {
	r := stacks.Largest(q.rows)
	if r == nil {
		return 0
	}
	i := s.frame(r)
	if i < 0 {
		return 0
	}
	f := s.pass.Inputs.Of(r.Stack[i].Function)
	if f == nil || f.InRequest < leastCalls || f.Compared == 0 || f.Same < f.Compared {
		return 0
	}
	return 1 - float64(f.StablePerRequest)/float64(f.InRequest)
}
