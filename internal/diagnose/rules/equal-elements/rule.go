// Package equalelements finds lists that get equal elements again and again, each of which is then
// processed.
package equalelements

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastEqual is the minimum share of added elements that were there already.
	leastEqual = 0.75
	// leastCalls is the minimum number of elements added in requests.
	leastCalls = 1000
)

// Rule is equal-elements.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "equal-elements",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs},
		Title: "List of mostly equal elements, each of which is processed",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the share of equal elements.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 1},
				Specificity: 4, // it says why the lines run so often
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A change collects the keys that it touches, a crawler the hosts of its links, a
notifier those who are to know: each is appended to a list, without looking
whether it is there. The list grows to thousands of entries for a few dozen
different ones, and everything that reads it does its work for each entry: it
encodes, sends, locks and looks up the same again.

Keep a set instead: a map[K]struct{}, or a map beside the list if the order
matters. If the elements come sorted, compare each with the last one before you
append (slices.Compact does it afterwards).

It is fine where each entry counts, as in a log, a histogram or an order. The
rule uses counted inputs: a method appends what its parameters alone decide to a
field, and three quarters of its calls or more had parameters that it had before
with the same receiver in the same request. All loops over the list must do the
same for equal elements: look them up, set an entry of a map by them, or add
them to another such list; none may count, add up or send.

Seen in the field: dgraph-io/dgraph#7478 (the conflict keys of a transaction).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	lines := finder.Remember(p, s.look)
	start := func(r *site.Row) int {
		for i, f := range r.Stack {
			if f.Owner.Kind == gocode.Main && lines.At(f) != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		l := lines.At(&c.Site.Frame)
		if l != nil {
			s.describe(c, l)
		}
		return l != nil
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

func (s *search) describe(c *finder.Case, l *list) {
	c.Keep(func(r *site.Row) bool { return grows(&c.Site.Frame, r) }) // elements are still made
	c.CPU, c.Allocs = append(c.CPU, s.inLoops(l, rowsOfCPU)...), append(c.Allocs, s.inLoops(l, rowsOfAllocs)...)
	c.Confidence = rule.Likely // the entries may be counted where the source does not show it
	var where []string
	for _, u := range l.loops {
		where = append(where, syntax.Where(u.Place, u.Pos()))
	}
	c.Cause = fmt.Sprintf("%s appends to %s without looking whether the element is there: in %s calls it had only %s different inputs for the same receiver and request, so that %s of the elements are duplicates. What reads the list does the same for equal elements, again for each of them: %s.",
		syntax.FuncName(l.place), syntax.Text(l.to), units.Count(l.in.InRequest), units.Count(l.in.StablePerRequest), units.Percent(l.equal), strings.Join(where, ", "))
	elem := syntax.TypeText(l.place, l.elem)
	c.Fix = fmt.Sprintf("Keep a set: make %s a map[%s]struct{}, or keep such a map beside it and append only what is new, so that each is processed once.", syntax.Text(l.to), elem)
	c.Fraction = &rule.Fraction{Expect: 0.9 * l.equal, Low: 0.6 * l.equal, High: l.equal}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.InputsCounted,
		Value: fmt.Sprintf("%s: %s of %s calls had an input that the same receiver had before", symbol.Short(funcname.Typed(l.in.Name)), units.Count(l.in.InRequest-l.in.StablePerRequest), units.Count(l.in.InRequest)),
	})
}
