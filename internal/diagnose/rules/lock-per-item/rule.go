// Package lockperitem finds mutexes that cost more than what they protect, because they are locked
// for each of many items.
package lockperitem

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastShare of the program's CPU that Lock and Unlock of one section must take.
	leastShare = 0.1
	// overhead is the part of the section's CPU, locking included, above which the lock costs more
	// than what it protects. The low end of its interval must reach it.
	overhead = 0.5
	// leastTimes that the mutex must be locked per request or operation, or per run of a program
	// that exits: fewer may be one per item of work.
	leastTimes, leastTimesRun = 16, 100_000
)

// Rule is lock-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "lock-per-item",
		Kind:  rule.Lock,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Mutex locked for each of many small steps",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The steps themselves remain; shards or an atomic value still cost something.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 1},
				Specificity: 1,
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return rule.Match{Site: s, CPU: stacks.Select(s.CPU, locking)} }),
			Judge: judge,
		},
	}
}

const doc = `Lock and Unlock of a sync.Mutex take 10 to 20 ns if nobody else wants it, and
several times as much if goroutines on other processors do: the cache line with
the mutex moves between them, and goroutines spin or sleep. For a step that takes a
nanosecond or two, such as a random number, a counter or one element of a buffer,
that is nearly all of the cost. The profiles of waiting show little of it.

Give each goroutine a value of its own (a random source, a counter, a buffer), and
combine them at the end. Or lock once for many steps. A single number can be an
atomic value, and a value that hardly changes an atomic.Pointer.

It is fine where a section does real work, and where each step locks the mutex of
another element of a list, which guards that element. The rule reports mutexes
whose Lock and Unlock take a tenth of the CPU and more than what they protect, and
that are locked 16 times per request and more, or a hundred thousand times per run.

Seen in the field: scylladb/gemini#61 (the random numbers of all workers).`

// mutex is the functions that lock and unlock.
var mutex = []string{"sync.(*Mutex).Lock", "sync.(*Mutex).Unlock"}

func locking(r *site.Row) bool { return stacks.Calls(r, mutex...) }

func judge(c *finder.Case) bool {
	p, s, place := c.Pass, c.Site, c.Place
	if s.Owner.Kind != gocode.Main {
		return false // what a module shares is for its callers to share
	}
	total := p.Table.Totals.TotalSeconds
	for _, section := range locks.Sections(place) {
		from := syntax.Line(place, section.Lock.Pos())
		rows := locks.Locking(p, s.File, from, section.To, mutex...)
		if section.Read || section.Deferred && !locks.FirstReturn(p, s, from, section.To, mutex[1]) {
			continue
		}
		spent, samples := stacks.Sum(rows)
		lock := float64(spent) / 1e9
		_, all := evidence.Spent(p, s.File, from, section.To)
		if lock < leastShare*total || stats.Share(samples, all.Samples).Low < overhead {
			continue
		}
		ran, ok := evidence.ExecutionsAt(p, place, section.Lock.Pos())
		least := float64(leastTimes)
		if p.Manifest.Unit() == "run" {
			least = leastTimesRun
		}
		if !ok || ran.PerUnit < least || ofElement(p, place, section.Mutex) {
			continue
		}
		if at := locks.SiteOn(p, s, from); at != nil {
			c.Site = at // says more than the end of the section
		}
		c.CPU, c.Callees = rows, mutex
		c.Confidence = rule.Likely // what the goroutines share may have to be one
		c.Cause = fmt.Sprintf("%s is locked %s per %s, for a section that takes less than its Lock and Unlock: these take %s of the section's CPU.",
			syntax.Text(section.Mutex), evidence.Times(ran.PerUnit), p.Manifest.Unit(), units.Percent(lock/all.Seconds))
		c.Fix = fmt.Sprintf("Give each goroutine a value of its own instead of what %s guards (a random source, a counter, a buffer) and combine them at the end, or lock once for many steps. A single number can be an atomic value.",
			syntax.Text(section.Mutex))
		c.Evidence = []rule.Evidence{{
			What:    "CPU in Lock and Unlock",
			Value:   fmt.Sprintf("%s (%s)", units.Percent(lock/total), units.Some(float64(samples), "sample")),
			Command: evidence.ListCommand(p, "cpu", s.Function),
		}}
		return true
	}
	return false
}
