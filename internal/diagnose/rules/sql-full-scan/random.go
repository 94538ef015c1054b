package sqlfullscan

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastSorted is the minimum CPU in seconds of a query that sorts its rows at random: a client of
// another process takes less.
const leastSorted = 100e-6

// shuffled returns what a query sorts all its rows by before LIMIT keeps some, if that is random;
// ok is false for other queries, and for those of one column, such as a key.
func shuffled(sql string) (by string, ok bool) {
	ts := sqltext.Tokens(sql)
	from, order, limit := slices.Index(ts, "from"), slices.Index(ts, "order"), slices.Index(ts, "limit")
	if from < 0 || order < from || limit < order || ts[0] != "select" {
		return "", false
	}
	for _, t := range ts[1:] {
		if slices.Contains([]string{"select", "union", "with", "group", "distinct"}, t) {
			return "", false
		}
	}
	if !slices.Contains(ts[1:from], ",") && !slices.Contains(ts[1:from], "*") {
		return "", false
	}
	return random(ts[order+2 : limit])
}

// random returns the function that the terms of ORDER BY start with, if its result is random.
func random(terms []string) (by string, ok bool) {
	if len(terms) < 3 || terms[1] != "(" || !slices.Contains([]string{"random", "rand", "newid", "gen_random_uuid"}, terms[0]) {
		return "", false
	}
	return terms[0] + "()", true
}

// sortsRandomly reports whether a query sorts its rows at random, whatever it selects.
func sortsRandomly(sql string) bool {
	ts := sqltext.Tokens(sql)
	order := slices.Index(ts, "order")
	if order < 0 || order+2 >= len(ts) {
		return false
	}
	_, ok := random(ts[order+2:])
	return ok
}

// sortsBy is shuffled for a text that may also be a part of a query, which a builder gets: the term
// of ORDER BY, or the clause.
func sortsBy(text string) (by string, ok bool) {
	if by, ok := shuffled(text); ok {
		return by, true
	}
	ts := sqltext.Tokens(text)
	if len(ts) > 2 && ts[0] == "order" && ts[1] == "by" {
		ts = ts[2:]
	}
	by, ok = random(ts)
	return by, ok && len(ts) <= sqltext.Closing(ts, 1)+2 // ASC, DESC
}

// composed returns the query for which the calls of a line get such a text; nil for none.
func (s *search) composed(p *gocode.Place, f *site.Frame) *query {
	for _, call := range p.Calls() {
		by := ""
		ast.Inspect(call, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && by == "" {
				if text, ok := syntax.ConstString(p, e); ok {
					by, _ = sortsBy(text)
				}
			}
			return by == ""
		})
		if by != "" && narrow(p, call) {
			continue
		}
		if by == "" && (queries(p.CalleeName(call)) || s.sql.Sent(p, call) != nil) {
			by, _ = shuffled(joined(p, call))
		}
		if by != "" {
			return &query{by: by, random: true, call: *f}
		}
	}
	return nil
}

// joined returns the constant parts of the query that a function puts together in a variable and
// passes to a call, in order of the source; "" if it has none.
func joined(p *gocode.Place, call *ast.CallExpr) string {
	var parts []string
	for _, arg := range call.Args[:min(2, len(call.Args))] {
		v := syntax.LocalVar(p, arg)
		if v == nil || !syntax.IsString(p, arg) {
			continue
		}
		ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
			if set, ok := n.(*ast.AssignStmt); ok && len(set.Lhs) == 1 && syntax.LocalVar(p, set.Lhs[0]) == v {
				ast.Inspect(set.Rhs[0], func(n ast.Node) bool {
					e, ok := n.(ast.Expr)
					if !ok {
						return true
					}
					text, constant := syntax.ConstString(p, e)
					if constant {
						parts = append(parts, text)
					}
					return !constant
				})
			}
			return true
		})
	}
	return strings.Join(parts, " ")
}

// narrow reports whether a builder of a chain of calls selects one column, such as a key.
func narrow(p *gocode.Place, chain ast.Node) (found bool) {
	ast.Inspect(chain, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || p.Callee(call) == nil || len(call.Args) == 0 {
			return !found
		}
		switch name := p.Callee(call).Name(); {
		case name == "Pluck":
			found = true
		case name == "Select", name == "Columns", name == "Column":
			text, ok := syntax.ConstString(p, call.Args[0])
			found = found || ok && len(call.Args) == 1 && !strings.ContainsAny(text, ",*")
		}
		return !found
	})
	return found
}

// describeRandom fills in the words for a query that sorts its rows at random; false if it takes
// too little for the rows that it returns.
func (q *query) describeRandom(c *finder.Case) bool {
	spent, _ := stacks.Sum(q.rows)
	each, ok := evidence.PerExecution(c.Pass, q.call, float64(spent)*1e-9)
	if !ok || each < leastSorted {
		return false
	}
	if each /= q.returned(c.Pass); each < leastEach {
		return false
	}
	c.Cause = fmt.Sprintf("The query sorts all rows that match by %s before LIMIT keeps a few, with all columns that it selects and what it joins: %s of CPU for each row that the query returns.", q.by, units.Seconds(each))
	c.Fix = fmt.Sprintf("Sort only keys, and read the few rows that remain: WHERE id IN (SELECT id FROM … WHERE … ORDER BY %s LIMIT …), with the joins and the wide columns outside. If an index has the columns of the condition, the database reads no rows for that. Of a large table, choose keys at random in the program instead.", q.by)
	c.Fraction = &rule.Fraction{Expect: 0.7, Low: 0.3, High: 0.95} // the keys are still sorted
	return true
}

// returned returns how many rows a query returns on average, by the loop that reads its result in
// the function which sends it, as far as that is visible; at least one.
func (q *query) returned(p *rule.Pass) float64 {
	at := q.sender
	if at == nil {
		return 1
	}
	place, ok := p.Syntax.At(at.File, at.Line)
	if !ok {
		return 1
	}
	most := 1.0
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || len(loop.Body.List) == 0 {
			return true
		}
		if next, ok := loop.Cond.(*ast.CallExpr); ok && place.CalleeName(next) == "(*database/sql.Rows).Next" {
			in := *at
			in.Line = syntax.Line(place, loop.Body.List[0].Pos())
			if read, ok := evidence.Executions(p, in); ok {
				most = max(most, read.PerCall)
			}
		}
		return true
	})
	return most
}
