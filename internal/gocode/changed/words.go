package changed

import (
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

// Words puts a change into sentences: what the old release does that the new one does not, and what
// is new. weight, which may be nil, is the cost of a line of the old function: facts about
// expensive lines come first. A text is empty if there is nothing to say.
func (c *Change) Words(weight func(line int) float64) (gone, now string) {
	if c.Removed {
		gone = fmt.Sprintf("The new release has no function %s.", c.Name)
	} else {
		gone = sentence("It no longer ", clauses(weighed(c.Gone, weight), maxClauses), "or", true)
		now = sentence("It ", clauses(c.New, maxClauses), "and", false)
	}
	for i := range c.Inside {
		more, new := c.Inside[i].inner(gone, now)
		gone, now = and(gone, more), and(now, new)
	}
	return gone, now
}

// inner is Words of a function around the changed one, if there is room for it.
func (c *Change) inner(gone, now string) (more, new string) {
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
		more = sentence(first+" no longer ", clauses(c.Gone, limit), "or", true)
	}
	if len(now) < room {
		new = sentence(choose(more == "", first, c.Name)+" ", clauses(c.New, limit), "and", false)
	}
	for i := range c.Inside {
		a, b := c.Inside[i].inner(and(gone, more), and(now, new))
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

// weighed orders facts by the cost of their lines.
func weighed(list []Fact, weight func(line int) float64) []Fact {
	if weight == nil {
		return list
	}
	var most float64
	for _, f := range list {
		most = max(most, cost(f, weight))
	}
	if most == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].score += 6 * cost(list[i], weight) / most
	}
	return ranked(list)
}

func cost(f Fact, weight func(line int) float64) float64 {
	if f.In != "" {
		return weight(f.rootLine) / 2
	}
	return weight(f.Line)
}

// clause is what a sentence says with one verb.
type clause struct {
	verb, suffix, in string
	facts            []Fact
}

// clauses groups the facts that tell most by their verbs.
func clauses(list []Fact, limit int) (out []*clause) {
	for i, f := range list {
		if i > 0 && f.score < 1 {
			break
		}
		j := slices.IndexFunc(out, func(c *clause) bool { return c.verb == f.verb && c.suffix == f.suffix && c.in == f.In })
		switch {
		case j >= 0 && len(out[j].facts) < maxNames:
			out[j].facts = append(out[j].facts, f)
		case j < 0 && len(out) < limit:
			out = append(out, &clause{f.verb, f.suffix, f.In, []Fact{f}})
		}
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
	if verb == returnsEarly {
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
