// Package finalizerperobject finds finalizers and cleanups that are set for each of many objects.
package finalizerperobject

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// backlog is the minimum number of waiting finalizers and cleanups that is reported: the goroutine
// that runs them is behind.
const backlog = 10_000

// Rule is finalizer-per-object.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "finalizer-per-object",
		Kind:  rule.GC,
		Title: "A finalizer for each of many objects",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The fix saves the call and running the finalizer. The cost of the object itself
				// remains.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
			},
			Start:  finder.Calls{Functions: []string{"runtime.SetFinalizer", "runtime.AddCleanup*"}},
			Judge:  judge,
			Unseen: words("runtime.SetFinalizer or runtime.AddCleanup").Fill,
		},
	}
}

const doc = `runtime.SetFinalizer and runtime.AddCleanup add a record to a list of the
object's span, under a lock. Each collection walks those lists, and goroutines
of the runtime run what is due, one after the other. An object with a finalizer
also stays alive, with everything it points to, for one more cycle.

Free what needs to be freed by a Close that callers defer, and use a finalizer
only for few long-lived objects whose Close may be forgotten, if at all: it is
not certain to run. AddCleanup (Go 1.24) does not keep the object alive.

It is fine for objects that are created rarely: files, connections, handles of C
libraries.

Seen in the field: golang/go#45581 (memory held by finalizers), golang/go#18869
(many finalizers lengthened pauses), buildbuddy-io/buildbuddy#9254.`

func judge(c *finder.Case) bool {
	waiting := c.Pass.Metrics["/gc/finalizers/queued:finalizers"] - c.Pass.Metrics["/gc/finalizers/executed:finalizers"] +
		c.Pass.Metrics["/gc/cleanups/queued:cleanups"] - c.Pass.Metrics["/gc/cleanups/executed:cleanups"]
	if !loops.PerCall(c.Place, c.Calls[0]) {
		return false
	}
	words(symbol.Short(c.Name())).Fill(c.Pass, c.Match)
	if waiting >= backlog {
		c.Cause += fmt.Sprintf(" %.0f were due and had not run at the end of the measurement.", waiting)
	}
	c.CPU = append(c.CPU, running(c.Pass)...)
	return true
}

func words(name string) finder.Words {
	return finder.Words{
		Cause: fmt.Sprintf("The line calls %s for each object that it creates: that adds a record for the object, work in each collection, and a call when the object dies.", name),
		Fix:   "Free what needs to be freed in a Close that callers defer, and keep finalizers for few, long-lived objects.",
	}
}

// running returns the rows of the runtime's goroutines that run finalizers and cleanups.
func running(p *rule.Pass) []*site.Row {
	var rows []*site.Row
	for _, b := range p.Table.Buckets {
		rows = append(rows, stacks.Select(b.Rows, func(r *site.Row) bool {
			for _, f := range r.Stack {
				if funcname.Match(f.Function, "runtime.runFinalizers", "runtime.runfinq", "runtime.runCleanups") {
					return true
				}
			}
			return false
		})...)
	}
	return rows
}
