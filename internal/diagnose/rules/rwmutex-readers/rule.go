// Package rwmutexreaders finds read locks that cost more than the code that they protect.
package rwmutexreaders

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastShare of the program's CPU that RLock and RUnlock of one section must take.
	leastShare = 0.03
	// overhead is the part of the section's CPU, locking included, above which the lock costs more
	// than the read. The low end of its interval must reach it.
	overhead = 0.5
)

// Rule is rwmutex-readers.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rwmutex-readers",
		Kind:  rule.Lock,
		Title: "RWMutex read lock that costs more than what it protects",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Loading an atomic pointer is nearly free; a mutex saves one of two atomic
				// additions.
				Fraction: rule.Fraction{Expect: 0.7, Low: 0.2, High: 1},
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return rule.Match{Site: s, CPU: stacks.Select(s.CPU, locking)} }),
			Judge: judge,
		},
	}
}

const doc = `RLock and RUnlock each add to a counter that all readers share. The cache line
with that counter moves from processor to processor, so many readers of a short
section are slower together than one alone, though none blocks: the mutex and
block profiles do not show it, only the CPU in RLock and RUnlock.

Publish read-mostly data as an atomic.Pointer to an immutable value; writers
copy, change and store it. This works well for a small map. Otherwise split the
data by key. For short sections a Mutex is no slower than an RWMutex.

It is fine when sections are long, because readers then run in parallel. The rule
reports only locks that take more CPU than the code that they protect.

Seen in the field: golang/go#17973 (RWMutex scales poorly with CPU count);
cockroachdb/cockroach#142640; vitessio/vitess#19652.`

// readers are the functions that lock and unlock for reading.
var readers = []string{"sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock"}

func locking(r *site.Row) bool { return stacks.Calls(r, readers...) }

func judge(c *finder.Case) bool {
	p, s, place := c.Pass, c.Site, c.Place
	total := p.Table.Totals.TotalSeconds
	for _, section := range locks.Sections(place) {
		from := syntax.Line(place, section.Lock.Pos())
		rows := locks.Locking(p, s.File, from, section.To, readers...)
		if !section.Read || section.Deferred && !locks.FirstReturn(p, s, from, section.To, "sync.(*RWMutex).RUnlock") {
			continue
		}
		spent, samples := stacks.Sum(rows)
		lock := float64(spent) / 1e9
		_, all := evidence.Spent(p, s.File, from, section.To)
		if lock < leastShare*total || stats.Share(samples, all.Samples).Low < overhead {
			continue
		}
		if at := locks.SiteOn(p, s, from); section.Deferred && at != nil {
			c.Site = at // says more than a return
		}
		c.CPU, c.Callees = rows, readers
		c.Confidence = rule.Likely // no profile shows the cache line moving between processors
		c.Cause = fmt.Sprintf("RLock and RUnlock of %s take %s of the CPU of the whole read section: the lock costs more than the read.",
			syntax.Text(section.Mutex), units.Percent(lock/all.Seconds))
		c.Fix = fmt.Sprintf("Publish what %s guards as an atomic.Pointer to an immutable value (writers store a changed copy), or split it by key.",
			syntax.Text(section.Mutex))
		c.Evidence = []rule.Evidence{{
			What:    "CPU in RLock and RUnlock",
			Value:   fmt.Sprintf("%s (%s)", units.Percent(lock/total), units.Some(float64(samples), "sample")),
			Command: evidence.ListCommand(p, "cpu", s.Function),
		}}
		return true
	}
	return false
}
