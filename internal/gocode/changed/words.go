package changed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	maxClauses = 4 // in a sentence
	maxInner   = 2 // in one about another function, if there is one about the function itself
	maxNames   = 3 // in a clause

	maxSentence = 400 // bytes of a sentence of several clauses
)

// Measured is what a measurement knows of a line of the old release.
type Measured struct {
	Cost float64 // ≥ 0, in any unit
	Note string  // for a reader, such as how often it runs; may be empty
	Ran  bool    // it is known to have run
}

// Measure looks up a line in a file of the old release, whose name is relative to the module. With
// loop, it is the head of a loop.
type Measure func(file string, line int, loop bool) Measured

// Words puts a change into sentences: what the old release does that the new one does not, and what
// is new. With measure, which may be nil, facts about expensive lines come first, with its notes,
// and functions inside without cost are left out. A text is empty if there is nothing to say.
func (c *Change) Words(measure Measure) (gone, now string) {
	if c.Removed {
		gone = fmt.Sprintf("The new release has no function %s.", c.Name)
	} else {
		gone = sentence("It no longer ", clauses(c.weighed(measure), maxClauses), "or", true)
		now = sentence("It ", clauses(c.New, maxClauses), "and", false)
	}
	for _, in := range c.costly(measure) {
		more, new := in.inner(measure, gone, now)
		gone, now = and(gone, more), and(now, new)
	}
	return gone, now
}

// inner is Words of a function around the changed one, if there is room for it.
func (c *Change) inner(measure Measure, gone, now string) (more, new string) {
	const room = 300
	limit := choose(c.Role == RoleCalled && gone+now != "", maxInner, maxClauses)
	first := c.Name
	switch c.Role {
	case RoleCaller:
		first += choose(c.still, ", which calls it,", ", which calls it in the old release,")
	case RoleCalled:
		first += ", which it calls,"
	case RoleNamesake:
		first = "The new " + first + ", which has the same method name,"
	}
	if len(gone) < room {
		more = sentence(first+" no longer ", clauses(c.weighed(measure), limit), "or", true)
	}
	if len(now) < room {
		new = sentence(choose(more == "", first, c.Name)+" ", clauses(c.New, limit), "and", false)
	}
	for _, in := range c.costly(measure) {
		a, b := in.inner(measure, and(gone, more), and(now, new))
		more, new = and(more, a), and(new, b)
	}
	return more, new
}

func and(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// costly returns the functions inside, without those that are known to cost nothing.
func (c *Change) costly(measure Measure) (list []*Change) {
	var most float64
	costs := map[*Change]float64{}
	for i := range c.Inside {
		in := &c.Inside[i]
		list = append(list, in)
		if measure != nil && in.Role == RoleCalled {
			costs[in] = in.cost(measure)
			most = max(most, costs[in])
		}
	}
	if most == 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(in *Change) bool { return in.Role == RoleCalled && costs[in] < leastCost*most })
	slices.SortStableFunc(list, func(a, b *Change) int { return cmp.Compare(costs[b], costs[a]) })
	return list
}

// leastCost is the part of the highest cost of a function inside that others must have.
const leastCost = 0.05

// cost is the highest cost of a line of the function.
func (c *Change) cost(measure Measure) (most float64) {
	for line := c.From; line <= c.To; line++ {
		most = max(most, measure(c.File, line, false).Cost)
	}
	return most
}

// Ran reports whether a line of the old function is known to have run.
func (c *Change) Ran(measure Measure) bool {
	for line := c.From; line <= c.To; line++ {
		if measure(c.File, line, false).Ran {
			return true
		}
	}
	return false
}

// weighed returns what is gone, with the notes about its lines, ordered by their cost.
func (c *Change) weighed(measure Measure) []Fact {
	if measure == nil {
		return c.Gone
	}
	var most float64
	costs := make([]float64, len(c.Gone))
	list := slices.Clone(c.Gone)
	for i := range list {
		f := &list[i]
		at := measure(cmp.Or(f.File, c.File), f.Line, f.Kind == KindLoop)
		f.note = at.Note
		if f.In != "" {
			at.Cost = max(at.Cost, measure(c.File, f.rootLine, false).Cost/2)
		}
		costs[i] = at.Cost
		most = max(most, at.Cost)
	}
	if most == 0 {
		return list
	}
	for i := range list {
		if list[i].exits() { // what it decides costs, not where it ends
			continue
		}
		list[i].score += 6 * costs[i] / most
		if costs[i] == 0 && list[i].samples() {
			list[i].score -= 1.5
		}
	}
	return ranked(list)
}

// samples reports whether a fact that costs much would be in a profile at its own line.
func (f *Fact) samples() bool {
	switch f.Kind {
	case KindCall, KindLoop, KindCondition, KindAllocate, KindConvert, KindConcat, KindCopy, KindLookup, KindStore:
		return true
	}
	return false
}

// clause is what a sentence says with one verb.
type clause struct {
	verb, suffix, in string
	facts            []Fact
}

// clauses groups the facts that tell most by their verbs.
func clauses(list []Fact, limit int) (out []*clause) {
	noted := map[string]bool{}
	for i, f := range list {
		if i > 0 && f.score < 1 {
			break
		}
		line := fmt.Sprint(f.In, f.Line)
		if noted[line] { // the note has been read
			f.note = ""
		}
		j := slices.IndexFunc(out, func(c *clause) bool { return c.verb == f.verb && c.suffix == f.suffix && c.in == f.In })
		switch {
		case j >= 0 && len(out[j].facts) < maxNames:
			out[j].facts = append(out[j].facts, f)
		case j < 0 && len(out) < limit:
			out = append(out, &clause{f.verb, f.suffix, f.In, []Fact{f}})
		default:
			continue
		}
		noted[line] = true
	}
	return out
}

// sentence lists clauses after its first words.
func sentence(first string, list []*clause, last string, lines bool) string {
	var texts []string
	size := 0
	for _, c := range list {
		text := c.text(last, lines)
		if size += len(text); size > maxSentence && len(texts) > 0 {
			break
		}
		texts = append(texts, text)
	}
	switch n := len(texts) - 1; {
	case n < 0:
		return ""
	case n == 0:
		return first + texts[0] + "."
	default:
		return first + strings.Join(texts[:n], ", ") + ", " + last + " " + texts[n] + "."
	}
}

// text is "calls a (line 1) and b (line 2) in a loop in F".
func (c *clause) text(last string, lines bool) string {
	var objects []string
	for _, f := range c.facts {
		objects = append(objects, f.object+f.place(lines))
	}
	verb := c.verb
	if len(c.facts) > 1 {
		for _, noun := range []string{"variable", "constant", "field", "type", "parameter", "string", "pool"} {
			if strings.HasSuffix(verb, " "+noun) {
				verb += "s"
			}
		}
	}
	if verb == returnsEarly || verb == stopsEarly {
		last = "or"
	}
	text := verb + " " + join(objects, last) + c.suffix
	if c.in != "" {
		text += " in " + c.in
	}
	return text
}

// place is where a fact is, and what the comment of its declaration says, in parentheses.
func (f *Fact) place(lines bool) string {
	var in []string
	if lines {
		at := fmt.Sprintf("line %d", f.Line)
		if f.File != "" {
			at += " of " + f.File
		}
		if f.note != "" {
			at += ": " + f.note
		}
		in = append(in, at)
	}
	if f.Comment != "" && (f.Kind == KindFunction || f.Kind == KindField || f.Kind == KindVariable) {
		in = append(in, `"`+strings.TrimSuffix(f.Comment, ".")+`"`)
	}
	if len(in) == 0 {
		return ""
	}
	return " (" + strings.Join(in, ": ") + ")"
}
