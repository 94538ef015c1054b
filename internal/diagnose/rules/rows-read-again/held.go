package rowsreadagain

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// A session, a connection or a subscription is made for one key and kept. If it asks the database
// for the row of its key in each request, it can have the row in a field instead: there are no more
// rows than sessions.

const (
	// leastHeld is the minimum number of such queries for each request.
	leastHeld = 0.2
	// mostCallers is how many functions may be between the query and the object with the key.
	mostCallers = 3
)

// held is the line that passes the key of a kept object to a query.
type held struct {
	place *gocode.Place
	key   ast.Expr
	calls int64 // of the function around the line whose results were compared, 0 if unknown
}

// holder returns where a query gets all its values from an object that is kept with them; nil if
// they come from elsewhere.
func (s *search) holder(q *query) *held {
	r := stacks.Largest(q.rows)
	if r == nil {
		return nil
	}
	i := s.frame(r)
	if i < 0 {
		return nil
	}
	p, values := q.place, q.values
	for j := i + 1; j < min(len(r.Stack), i+1+mostCallers) && r.Stack[j].Owner.Kind == gocode.Main; j++ {
		in, ok := s.pass.Syntax.At(r.Stack[j].File, r.Stack[j].Line)
		if !ok || in.Decl == nil {
			return nil
		}
		if values = passed(p, in, r.Stack[j-1].Function, values); len(values) == 0 {
			return nil
		}
		fixed := true
		for _, v := range values {
			_, field := syntax.Origin(in, v).(*ast.SelectorExpr)
			fixed = fixed && field && s.fixed(r.Stack[j], in, v, q.perUnit)
		}
		if !fixed {
			p = in
			continue
		}
		h := &held{place: in, key: values[0]}
		if f := s.pass.Inputs.Of(r.Stack[j].Function); f != nil {
			if f.Same < f.Compared {
				return nil // the row changes, or the function does something else
			}
			h.calls = f.Compared
		}
		return h
	}
	return nil
}

// passed returns what the only call of a function on a line passes for values of the function; none
// if one of them is not a parameter.
func passed(p, in *gocode.Place, function string, values []ast.Expr) (given []ast.Expr) {
	var only *ast.CallExpr
	for _, call := range syntax.Calls(in) {
		if fn := in.Callee(call); fn == nil || fn.Name() != funcname.Name(function) {
			continue
		}
		if only != nil {
			return nil
		}
		only = call
	}
	if only == nil {
		return nil
	}
	for _, e := range values {
		v := syntax.LocalVar(p, syntax.Origin(p, e))
		if v == nil {
			return nil
		}
		arg := flow.ArgumentFor(p, only, v)
		if arg == nil {
			return nil
		}
		given = append(given, arg)
	}
	return given
}

// describeHeld fills in the words for a query by the key of a kept object.
func (s *search) describeHeld(c *finder.Case, q *query, h *held) {
	c.Confidence = rule.Likely // other programs may write to the table
	from := strings.Join(q.tables, ", ")
	key := syntax.Text(h.key)
	c.Cause = fmt.Sprintf("%s asks the database again for the same row of %s, %s %s, by %s (%s), which was set once, when its object was made. The program itself writes to %s less than once in %d of these queries, or never: unless others write, the row is the same.",
		syntax.FuncName(h.place), from, evidence.Times(q.perUnit), s.per(), key, syntax.Where(h.place, h.key.Pos()), from, int(1/seldom))
	c.Fix = fmt.Sprintf("Read the row once, where the object with %s is made, and keep it, or the columns that are needed, in a field of that object. Replace it where the program changes the row; if others may change it, read it again after some seconds.", key)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s queries %s", units.Number(q.perUnit), s.per())})
	if h.calls > 0 {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s results of %s compared, all the same for each object", units.Count(h.calls), syntax.FuncName(h.place))})
	}
}
