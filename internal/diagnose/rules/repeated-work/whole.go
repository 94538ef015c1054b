package repeatedwork

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// A middleware validates the token of a request, and the handler validates it again to learn who
// asks: each time the token is parsed, and the session and the user are read. Each of these
// repeats, but the mistake is one: the function around them is called again.

const (
	// mostAround is how many functions may be between a function that repeats work and the one that
	// is called again.
	mostAround = 4
	// leastInside is the minimum share of the cost of a function that repeats inside of it.
	leastInside = 0.5
)

// wholes replaces functions that repeat work in each request by the function around them that is
// called again, after a caller that runs before the others.
func (s *search) wholes() {
	inside := map[string][]*found{}
	for i := range s.pass.Inputs.Functions {
		in := &s.pass.Inputs.Functions[i]
		f := s.judged(&site.Frame{Function: in.Name})
		if f == nil || f.where != inRequest || f.recursive || f.byData || len(f.before) > 0 {
			continue
		}
		if around := s.around(in.Name); around != "" {
			inside[around] = append(inside[around], f)
		}
	}
	for name, list := range inside {
		rows := s.through(name)
		whole := &found{before: runsBefore(rows, name), where: inRequest, confidence: rule.Likely, unit: list[0].unit, inside: list}
		if whole.share(rows) < leastInside {
			continue
		}
		slices.SortFunc(list, func(a, b *found) int { return int(b.InRequest - a.InRequest) })
		whole.Function, whole.repeats, whole.words = &inputs.Function{Name: name}, list[0].repeats, list[0].words
		for _, f := range list {
			s.known[f.Name] = nil
			whole.Compared += f.Compared
		}
		s.known[name] = whole
	}
}

// around returns the function of the main module that all calls of a function pass through, and
// that one of its callers calls before others, which run inside of that caller; "" for none.
func (s *search) around(name string) string {
	rows := s.costs[name].Rows
	for range mostAround {
		name = onlyCaller(rows, name)
		if name == "" {
			return ""
		}
		if len(runsBefore(rows, name)) > 0 {
			return name
		}
	}
	return ""
}

// onlyCaller returns the function of the main module that calls another in all rows; "" if there
// are several.
func onlyCaller(rows []*site.Row, name string) (caller string) {
	for _, r := range rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i < 0 || i+1 >= len(r.Stack) {
			continue
		}
		above := r.Stack[i+1]
		if above.Owner.Kind != gocode.Main || caller != "" && caller != above.Function {
			return ""
		}
		caller = above.Function
	}
	return caller
}

// through returns the rows of CPU that pass through a function.
func (s *search) through(name string) (rows []*site.Row) {
	s.pass.EachRow(func(r *site.Row) {
		if slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name }) {
			rows = append(rows, r)
		}
	})
	return rows
}

// share returns the share of the cost of some rows that repeats inside of a function.
func (f *found) share(rows []*site.Row) float64 {
	var total, inside int64
	for _, r := range rows {
		total += r.Value
		if slices.ContainsFunc(r.Stack, func(x *site.Frame) bool {
			return slices.ContainsFunc(f.inside, func(in *found) bool { return in.Name == x.Function })
		}) {
			inside += r.Value
		}
	}
	if total == 0 {
		return 0
	}
	return float64(inside) / float64(total)
}

// saved returns the share of the cost of some rows that is saved if the function is not called
// again. What does not repeat inside of it may be needed.
func (f *found) saved(rows []*site.Row) *rule.Fraction {
	share := f.share(rows)
	return &rule.Fraction{Expect: (share + 0.95) / 2, Low: 0.6 * share, High: 1}
}

// describeWhole fills in the words for a function that is called again in the same request.
func (f *found) describeWhole(m *rule.Match, name string) {
	var names []string
	for _, in := range f.inside {
		names = append(names, symbol.Short(funcname.Typed(in.Name)))
	}
	first, then := f.first(), "from what runs before this line"
	before := "A function that runs before this line has called it already"
	if first != "" {
		before, then = first+", which runs before this line, has called it already", "from "+first
	}
	m.Cause = fmt.Sprintf("%s does again what it did before in the same %s. %s. Inside, %s gets the same input again: %s. It returned the same each time (%s results compared).",
		name, f.unit, before, funcname.List(names), f.inside[0].words, units.Count(f.Compared))
	if len(names) > 1 {
		m.Cause = fmt.Sprintf("%s does again what it did before in the same %s. %s. Inside, %s get the same input again (%s: %s). They returned the same each time (%s results compared).",
			name, f.unit, before, funcname.List(names), names[0], f.inside[0].words, units.Count(f.Compared))
	}
	m.Fix = fmt.Sprintf("Call %s once per %s and hand all of its result on %s: in the request's context, or as a parameter. This line then reads it from there.", name, f.unit, then)
}
