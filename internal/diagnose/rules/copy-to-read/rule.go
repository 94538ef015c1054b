// Package copytoread finds lists and maps that are copied on every call and only read.
package copytoread

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is copy-to-read.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copy-to-read",
		Kind:  rule.Alloc,
		Title: "List or map copied on every call, and only read",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Without the copy the lookup remains, which other lines do.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 2, // it says why the memory is allocated
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function returns a copy of a slice or of a map that it keeps, or a list of the
map's values, or copies what it was given, so that nobody can change the original.
All callers only look an entry up, or read the copy once, and drop it. The copy
costs as many bytes per call as the whole list has, and the collector's work for
them. A goroutine that owns a list and answers requests with a copy of it does
the same.

Look the entry up where the list is: a method that takes the key, under the same
lock, or a request that carries the key. Or keep the list immutable: writers
build a new one and store it in an atomic.Pointer (copy on write), readers use it
directly, without a lock. A map that is copied to replace a few values needs no
copy when there is nothing to replace.

It is fine where a caller changes the copy, keeps it, or works on the whole of it
for a long time while others write to the original. The rule reports a copy of
shared state only if its callers look up single entries, or compare and count
them in a loop that calls nothing, and a copy of a parameter only if nobody
changes or keeps it.

Seen in the field: prometheus/client_golang#1272 (labels copied for each lookup
of a metric), stretchr/testify#1957 (all calls of a mock copied to count some);
both forms above in robfig/cron (Entry) and reugn/go-quartz (its job queue).`

const (
	leastShare = 0.02 // of all bytes, or of all CPU
	leastSize  = 64   // bytes allocated by one copy, on average
	// mostOther is the largest share of a copy's bytes that may be for callers that could not be
	// analyzed.
	mostOther = 0.1
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	all := float64(p.Table.Totals.AllocBytes)
	take := func(s *site.Site) rule.Match {
		m := finder.TakeCallsAndOwn(s, "slices.Clone*", "maps.Clone*", "maps.Copy*", "slices.Collect*", "maps.Collect*", "bytes.Clone", "runtime.memmove", "runtime.typedslicecopy", "runtime.typedmemmove", "runtime.wbMove", "runtime.growslice*", "runtime.mapassign*")
		bytes, objects := stacks.Sum(m.Allocs)
		makes := float64(bytes) >= leastShare*all && objects > 0 && bytes/objects >= leastSize
		nanoseconds, _ := stacks.Sum(m.CPU)
		if all <= 0 || !makes && float64(nanoseconds)*1e-9 < leastShare*p.Table.Totals.TotalSeconds {
			return rule.Match{Site: s}
		}
		return m
	}
	return finder.Line{Start: finder.Rows(take), Judge: func(c *finder.Case) bool { return judge(p, c) }}
}

func judge(p *rule.Pass, c *finder.Case) bool {
	made := copied(c.Place)
	if made == nil {
		return false
	}
	u := reader{pass: p, looksUp: made.state, seen: map[*types.Var]bool{}}
	read := false
	switch {
	case made.returned:
		read = readByCallers(p, c, &u)
	case made.sent != nil:
		read = u.received(c.Place, made.sent)
	default:
		read = u.variable(c.Place, made.variable, made.filling)
	}
	if !read {
		return false
	}
	describe(c, made, u.scanned, u.asked)
	return true
}

func describe(c *finder.Case, made *copy, scanned, asked bool) {
	bytes, objects := stacks.Sum(c.Allocs)
	what := "the slice"
	if made.isMap {
		what = "the map"
	}
	each := ""
	if objects > 0 {
		each = fmt.Sprintf(", %s each time", units.Bytes(float64(bytes)/float64(objects)))
	}
	c.Cause = fmt.Sprintf("%s copies %s %s as a whole on every call%s, and the copy is only read.", syntax.FuncName(c.Place), what, syntax.Text(made.source), each)
	switch {
	case made.state:
		does := "look up entries of the copy"
		if scanned {
			does = "compare or count the entries of the copy"
		}
		c.Cause = fmt.Sprintf("%s copies %s %s as a whole on every call%s, and its callers only %s.",
			syntax.FuncName(c.Place), what, syntax.Text(made.source), each, does)
		where := "under its lock"
		if asked {
			where = "in the goroutine that has it: send it what is looked for, instead of asking for everything"
		}
		c.Fix = fmt.Sprintf("Look entries up, or count them, in %s itself, %s. Or replace %[1]s as a whole when it changes (copy on write, in an atomic.Pointer), so that readers need neither lock nor copy.", syntax.Text(made.source), where)
	case made.isMap:
		c.Fix = fmt.Sprintf("Use %s directly where nothing in it has to be replaced, or replace values when they are read.", syntax.Text(made.source))
	default:
		c.Fix = fmt.Sprintf("Use %s directly: nothing changes the copy.", syntax.Text(made.source))
	}
	c.Confidence = rule.Likely
}

// copy is a copy of a list or map that a function makes.
type copy struct {
	source   ast.Expr
	state    bool // the source is a field or a package variable, not a parameter
	isMap    bool
	returned bool          // it goes to the caller
	variable *ast.Ident    // variable that holds it; nil if it is returned directly
	filling  ast.Node      // the statement that fills it, which is not a use
	sent     *ast.SendStmt // puts it into a channel; nil if it goes elsewhere
}
