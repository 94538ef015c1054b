package repeatedwork

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// A middleware reads the user, the tenant or the project of a request to decide whether it may go
// on, and the handler reads the same again. What the database answers can change from one request
// to the next, but hardly within one that does not write.

// seldomWritten is how often a statement that may change the rows may run, for each read.
const seldomWritten = 0.02

// fetchedAgain judges functions of the program that read the same from a database, or from another
// service, twice in one request, and got the same each time.
func (s *search) fetchedAgain(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.InRequest < leastCalls || in.Stopped || !s.fetchesTheSame(in) || !s.own(in) || !worth(s.pass, c, in) {
		return nil
	}
	f := &found{Function: in}
	if !f.repeated(s.pass, true) || f.where != inRequest || f.several && f.repeats < mostNew {
		return nil
	}
	most := seldomWritten * float64(in.Calls) / s.pass.Inputs.Units
	if !s.queries(in.Name) || s.writes(most) || s.remote(in.Name) && s.sendsWrites(most) {
		return nil
	}
	f.fetched, f.confidence = true, rule.Likely
	f.before = runsBefore(c.Rows, in.Name)
	f.later = s.later(f)
	f.shared = len(f.before) == 0 && s.shared(in.Name)
	return f
}

// fetchesTheSame is answersTheSame for a function that also gets pointers, such as its client, if
// they and what they point at are the same whenever the values are.
func (s *search) fetchesTheSame(in *inputs.Function) bool {
	fixed := len(in.Params) > 0 && in.Different == in.Identical && in.Different == in.Stable
	return proved(in) && (in.ByValue() || fixed) && s.visiblyAnswers(in)
}

// queries reports whether the profile shows that a function asks a database or another service, and
// that it only reads there, outside of transactions, whose reads belong together.
func (s *search) queries(name string) bool {
	some := false
	for _, r := range s.costs[name].Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		for j := i - 1; j >= 0; j-- {
			called := r.Stack[j].Function
			if !client(called) {
				continue
			}
			method := called[strings.LastIndexByte(called, '.')+1:]
			switch {
			case strings.Contains(called, "Tx)."):
				return false
			case sends(method), s.readsRemotely(r.Stack[j : i+1]):
				some = true
			case !reads(method):
				return false
			}
			break
		}
	}
	return some
}

// readsRemotely reports whether a function that reaches a client's call, which sends requests of
// all kinds, only reads there. stack starts at that call and ends at the function. For net/http the
// source must show it; for other modules the name of what the program calls.
func (s *search) readsRemotely(stack []*site.Frame) bool {
	i := slices.IndexFunc(stack, func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main })
	if i < 1 {
		return false
	}
	own, called := stack[len(stack)-1], stack[i-1].Function
	switch {
	case funcname.Match(called, "net/http.*"):
		place, ok := s.pass.Syntax.At(own.File, own.Line)
		return ok && awaited.OnlyReads(place)
	case funcname.Match(called, invokes):
		called = stack[i].Function // a generated method
	}
	words := awaited.Words(called[strings.LastIndexByte(called, '.')+1:])
	return slices.Contains([]string{"get", "head", "stat", "list", "describe", "query", "read", "find", "lookup", "search", "fetch", "exists"}, words[0])
}

// invokes is what generated clients of gRPC call.
const invokes = "google.golang.org/grpc.(*ClientConn).Invoke"

// remote reports whether the profile shows that a function sends requests to another service, which
// no statement of the program changes.
func (s *search) remote(name string) bool {
	return slices.ContainsFunc(s.costs[name].Rows, func(r *site.Row) bool {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		return slices.ContainsFunc(r.Stack[:max(i, 0)], func(f *site.Frame) bool { return funcname.Match(f.Function, "net/http.(*Client).*", invokes) })
	})
}

// reads reports whether a name is that of a method of what a client returns, which asks for
// nothing.
func reads(name string) bool {
	return slices.Contains([]string{"Scan", "Next", "Close", "Err", "StructScan", "Columns", "Result", "Val", "Bytes", "Text", "Int", "Decode", "All"}, name)
}

// client reports whether a function of a profile is one of a client of a database or of HTTP, or a
// transaction of an embedded database that only reads.
func client(function string) bool {
	return funcname.Match(function, "database/sql.*", "github.com/jmoiron/sqlx.*", "github.com/jackc/pgx/*", "net/http.Get", "net/http.(*Client).*",
		invokes, "github.com/redis/go-redis/*", "github.com/go-redis/redis/*", "go.mongodb.org/mongo-driver/*", "go.etcd.io/bbolt.(*DB).*", "github.com/dgraph-io/badger/*.(*DB).*")
}

// sends reports whether a name is that of a method of a client that asks for something.
func sends(name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Context"), "x")
	return slices.Contains([]string{"Query", "QueryRow", "Get", "Head", "Select", "View", "Find", "FindOne",
		"MGet", "HGet", "HMGet", "HGetAll", "SMembers", "SIsMember", "LRange", "ZRange", "ZScore", "Exists"}, name)
}

// writes reports whether the program executes statements, more than most times for each unit of
// work, that may leave the rows as they are: the load repeats what it writes, so that reads
// afterwards have the same result as before. Rows that are only added to change what is read.
func (s *search) writes(most float64) bool {
	if s.pass.Counts == nil {
		return true
	}
	sql := sqltext.Of(s.pass)
	for _, p := range s.pass.Syntax.Calls(changesRows) {
		if sql.Executions(p) > most && !slices.ContainsFunc(p.Calls(), func(c *ast.CallExpr) bool { return adds(sql, p, c) }) {
			return true
		}
	}
	return false
}

// sendsWrites reports whether the program visibly sends requests that change another service, more
// than most times for each unit of work: the load repeats them, so that the service answers the
// same afterwards.
func (s *search) sendsWrites(most float64) bool {
	var helpers []*types.Func // that get the method
	found := func(places []*gocode.Place) bool {
		return slices.ContainsFunc(places, func(p *gocode.Place) bool {
			writes := slices.ContainsFunc(syntax.Calls(p), func(c *ast.CallExpr) bool { return awaited.Writes(p, c) })
			if fn, ok := declared(p); ok && !writes {
				helpers = append(helpers, fn)
			}
			return writes && sqltext.Of(s.pass).Executions(p) > most
		})
	}
	creates := func(fn *types.Func) bool {
		return fn.Pkg() != nil && fn.Pkg().Path() == "net/http" && (strings.HasPrefix(fn.Name(), "NewRequest") || strings.HasPrefix(fn.Name(), "Post"))
	}
	return found(s.pass.Syntax.Calls(creates)) ||
		found(s.pass.Syntax.Calls(func(fn *types.Func) bool { return slices.Contains(helpers, fn) }))
}

// declared returns the function around a place.
func declared(p *gocode.Place) (*types.Func, bool) {
	if p.Decl == nil {
		return nil, false
	}
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	return fn, ok
}

// changesRows reports whether a function changes rows, by its name.
func changesRows(fn *types.Func) bool {
	if fn.Pkg() == nil || symbol.Standard(fn.Pkg().Path()) && fn.Pkg().Path() != "database/sql" {
		return false
	}
	if strings.Contains(fn.Pkg().Path(), "redis") && slices.Contains([]string{"Set", "SetEx", "SetNX", "MSet", "HSet", "HMSet", "Del", "HDel", "Unlink"}, fn.Name()) {
		return true // not counters, such as those of a limiter
	}
	return slices.ContainsFunc([]string{"Exec", "NamedExec", "MustExec", "Create", "Save", "Update", "Upsert", "Delete"}, func(word string) bool {
		return strings.HasPrefix(fn.Name(), word)
	})
}

// adds reports whether a call executes a constant statement that only adds rows.
func adds(sql sqltext.Program, p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if !syntax.IsString(p, arg) {
			continue
		}
		text := sqltext.Normal(sql.Text(p, arg))
		if strings.HasPrefix(text, "insert into ") && !strings.Contains(text, " conflict") && !strings.Contains(text, " duplicate") {
			return true
		}
	}
	return false
}

// runsBefore returns the callers of a function that call it before others, which run inside of
// them: a middleware that goes on to the handler.
func runsBefore(rows []*site.Row, name string) map[string]bool {
	callers, outer := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i < 0 || i+1 >= len(r.Stack) {
			continue
		}
		callers[r.Stack[i+1].Function] = true
		for _, f := range r.Stack[i+2:] {
			outer[f.Function] = true
		}
	}
	first := map[string]bool{}
	for c := range callers {
		if outer[c] {
			first[c] = true
		}
	}
	if len(first) == len(callers) {
		return nil // a recursion
	}
	return first
}

// later returns the share of the cost of a function that passes through callers other than those
// before them.
func (s *search) later(f *found) float64 {
	var total, later int64
	for _, r := range s.costs[f.Name].Rows {
		i := slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.Function == f.Name })
		if i < 0 || i+1 >= len(r.Stack) {
			continue
		}
		total += r.Value
		if !f.before[r.Stack[i+1].Function] {
			later += r.Value
		}
	}
	if total == 0 {
		return 1
	}
	return float64(later) / float64(total)
}

// first returns the name of the only function that runs before the others, for a sentence; "" for
// none or several.
func (f *found) first() string {
	if len(f.before) != 1 {
		return ""
	}
	for caller := range f.before {
		if _, bound, ok := strings.Cut(caller, "-fm."); ok { // a method value with the method in it
			caller = bound
		}
		caller, _, _ = strings.Cut(caller, ".func")
		return symbol.Short(funcname.Typed(caller))
	}
	return ""
}

// price prices a match by the time that requests wait for the answers, if that is long: another
// service takes little CPU here. It reports false for lines of the function that only prepare the
// question or read the answer, if it waits at others.
func (s *search) price(f *found, m *rule.Match) bool {
	place := s.pass.Place(m.Site)
	if f.fetched && place != nil && slices.ContainsFunc(syntax.Calls(place), func(c *ast.CallExpr) bool {
		around := loops.Around(place, c)
		return len(around) > 0 && loops.TriesAgain(place, around[0], c)
	}) {
		return false // on purpose
	}
	if f.shared && awaited.Elsewhere(s.pass, &m.Site.Frame) {
		return false
	}
	if m.Fraction != nil {
		awaited.Price(s.pass, m, *m.Fraction, "these answers")
	}
	return true
}

// askers returns where the program calls a function, if two or three lines do.
func (s *search) askers(f *found) (lines []string) {
	for _, r := range s.costs[f.Name].Rows {
		i := slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.Function == f.Name })
		if i < 0 || i+1 >= len(r.Stack) {
			continue
		}
		at := r.Stack[i+1]
		line := fmt.Sprintf("%s (%s:%d)", symbol.Short(funcname.Typed(at.Function)), path.Base(at.File), at.Line)
		if at.Owner.Kind == gocode.Main && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 || len(lines) > 3 {
		return nil
	}
	slices.Sort(lines)
	return lines
}

// describeFetched fills in the words for a function that reads the same again in one request.
func (s *search) describeFetched(f *found, m *rule.Match, name string) {
	m.Cause = fmt.Sprintf("%s reads the same data again within one %s: %s. It returned the same each time (%s results compared).", name, f.unit, f.words, units.Count(f.Compared))
	if first := f.first(); first != "" {
		m.Cause += fmt.Sprintf(" %s, which runs before this line, has read it already and does not hand all of it on.", first)
	}
	if lines := s.askers(f); lines != nil && f.first() == "" {
		m.Cause += fmt.Sprintf(" It is called by %s.", funcname.List(lines))
	}
	m.Fix = fmt.Sprintf("Call %s once per %s and hand all of its result on: in the request's context, from the middleware to the handler, or as a parameter.", name, f.unit)
	if f.several {
		m.Fix = fmt.Sprintf("Keep the results of %s by its input in the context of the %s, so that each input is read once.", name, f.unit)
	}
}
