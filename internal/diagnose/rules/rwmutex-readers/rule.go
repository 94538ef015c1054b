// Package rwmutexreaders finds reader locks that cost more than the reading.
package rwmutexreaders

import (
	"context"
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
	// leastShare of the program's CPU in RLock and RUnlock of one section.
	leastShare = 0.03
	// overhead is the part of the section's CPU, locking included, from which on the lock costs more than the reading:
	// the low end of its interval must be there.
	overhead = 0.5
)

// Rule is rwmutex-readers.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rwmutex-readers",
		Kind:  rule.Lock,
		Title: "RWMutex read lock that costs more than what it protects",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// A load of an atomic pointer is nearly free; a plain mutex saves one of two atomic additions' traffic.
				Fraction: rule.Fraction{Expect: 0.7, Low: 0.2, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `RLock and RUnlock each add to a counter that all readers share. The cache line
with that counter moves from processor to processor, so that many readers of a
short section are slower together than one alone, though nobody waits: no
profile of locks shows it, only the CPU in RLock and RUnlock.

What is mostly read is best published whole: an atomic.Pointer to a value that
nobody changes; writers copy, change and store. This works well for a small map
that everybody reads. Otherwise split it by key. For short sections a plain
Mutex is no slower than a RWMutex.

It is fine when sections are long, as then readers do run side by side; the rule
speaks only where the lock takes more CPU than what it guards.

Seen in the field: golang/go#17973 (RWMutex scales poorly with CPU count);
cockroachdb/cockroach#142640; vitessio/vitess#19652.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	readers := []string{"sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock"}
	total := p.Table.Totals.TotalSeconds
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		if len(stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, readers...) })) == 0 {
			continue
		}
		place := p.Place(s)
		if place == nil {
			continue
		}
		for _, section := range locks.Sections(place) {
			if !section.Read || !ends(place.Line, syntax.Line(place, section.Unlock.Pos()), section) {
				continue
			}
			from := syntax.Line(place, section.Lock.Pos())
			m := rule.Match{Site: s, Callees: readers, Confidence: rule.Likely} // that it moves between processors is not seen
			m.CPU = locking(p, s.File, from, section.To, readers)
			spent, samples := stacks.Sum(m.CPU)
			lock := float64(spent) / 1e9
			_, all := evidence.Spent(p, s.File, from, section.To)
			if lock < leastShare*total || stats.Share(samples, all.Samples).Low < overhead {
				continue
			}
			m.Cause = fmt.Sprintf("RLock and RUnlock of %s take %s of the CPU of the whole read section: the lock costs more than the read.",
				syntax.Text(section.Mutex), units.Percent(lock/all.Seconds))
			m.Fix = fmt.Sprintf("Publish what %s guards as an atomic.Pointer to an immutable value (writers store a changed copy), or split it by key.",
				syntax.Text(section.Mutex))
			m.Evidence = []rule.Evidence{{
				What:    "CPU in RLock and RUnlock",
				Value:   fmt.Sprintf("%s (%s)", units.Percent(lock/total), units.Some(float64(samples), "sample")),
				Command: evidence.ListCommand(p, "cpu", s.Function),
			}}
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// ends reports whether a line is the one that a section is told at: that of its Unlock or, when deferred, of
// its Lock, so that the section is told once.
func ends(line, unlock int, s *locks.Section) bool {
	if s.Deferred {
		return line == s.From
	}
	return line == unlock
}

// locking are the rows of the sites on some lines of a file that lock and unlock for reading.
func locking(p *rule.Pass, file string, from, to int, readers []string) []*site.Row {
	var rows []*site.Row
	for _, s := range p.Table.Sites {
		if s.File == file && from <= s.Line && s.Line <= to {
			rows = append(rows, stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, readers...) })...)
		}
	}
	return rows
}
