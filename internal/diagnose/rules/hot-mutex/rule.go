// Package hotmutex finds the mutex that goroutines wait for, and what is done while it is held.
package hotmutex

import (
	"context"
	"fmt"
	"path"
	"strings"

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
	// leastWait is the waiting, in seconds a second of all goroutines together, below which a mutex is none to
	// speak of.
	leastWait = 0.1
	// leastShare of all waiting for mutexes that one Unlock must have caused.
	leastShare = 0.1
	// leastTimes that somebody waited, so that it was no accident.
	leastTimes = 20
	// long is the share of the program's CPU under the lock from which on the section is too long, not too popular.
	long = 0.1
	// popular is the share of the program's CPU in a short section, its Lock and its Unlock from which on it is
	// too popular. Below, the holder was put aside by chance, as happens on a busy machine, and others had to wait.
	popular = 0.05
	// most is the share of a section's CPU from which on a line is what it is about.
	most = 0.25
)

// Rule is hot-mutex.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "hot-mutex",
		Kind:  rule.Lock,
		Needs: []rule.Need{rule.NeedContention},
		Title: "Goroutines wait for one mutex",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// Of the time under the lock: from half of the work moved out to a lock that nobody waits for any more. What that
				// does to the queue is the diagnosis's to say.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `A mutex lets one goroutine through at a time. As the share of time in which it
is held approaches one, goroutines queue for it, and more processors do not
help: the critical section limits the program.

The mutex profile shows which Unlock ended the waits, the source what runs under
the lock, and the CPU profile which of it is slow. If it is one line, run it
before Lock, or after Unlock on a copy. If the section is short but contended,
split what it guards by key, count with atomics, or publish read-mostly data as
an atomic.Pointer to a copy.

It is fine when the wait delays nobody: background workers that queue cost only
their own time.

Seen in the field: mattermost/mattermost#15764; the mutex in "Profiling and
optimizing Go web applications" (artem.krylysov.com, 2017).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	window := p.Table.Totals.ContentionSeconds
	if window <= 0 || p.Table.Totals.TotalSeconds <= 0 {
		return nil, nil
	}
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		rows := stacks.Select(s.Mutex, func(r *site.Row) bool { return stacks.Calls(r, locks.Unlocks()...) })
		waited, times := stacks.Sum(rows)
		seconds := float64(waited) / 1e9
		if seconds < leastWait*window || seconds < leastShare*p.Table.Totals.MutexSeconds || times < leastTimes {
			continue
		}
		m := rule.Match{
			Site: s, Mutex: rows, Callees: append(locks.Unlocks(), locks.Locks()...),
			Evidence: []rule.Evidence{{
				What:    "waits that ended at this Unlock",
				Value:   fmt.Sprintf("%s in %d waits, %s a second of the program's time", units.Seconds(seconds), times, units.Seconds(seconds/window)),
				Command: evidence.ListCommand(p, "delay", s.Function),
			}},
		}
		if describe(p, &m, seconds/window) {
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// describe says what is done under the lock, as far as the source is there; false when what is done there cannot
// explain the waiting.
func describe(p *rule.Pass, m *rule.Match, perSecond float64) bool {
	m.Confidence = rule.Hint
	m.Cause = fmt.Sprintf("Goroutines wait %s in each second, all together, for the mutex that is unlocked here.", units.Seconds(perSecond))
	m.Fix = "Do less while the mutex is held, or split what it guards."
	place := p.Place(m.Site)
	if place == nil {
		return true
	}
	file, in := m.Site.File, ""
	sections := locks.Sections(place)
	if len(sections) == 0 {
		above, sec, at := locks.Above(p, m.Site)
		if sec == nil {
			return true // locked elsewhere: what is done under it is not known
		}
		place, sections, file = above, []*locks.Section{sec}, at.File
		in = " of " + path.Base(strings.ReplaceAll(at.File, `\`, "/")) + " in " + syntax.FuncName(above)
	}
	s := sections[0]
	m.Confidence = rule.Measured
	m.CPU = locks.Queueing(p, file, syntax.Line(place, s.Lock.Lparen))
	lines, all := evidence.Spent(p, file, s.From, s.To, append(locks.Unlocks(), locks.Locks()...)...)
	_, busy := evidence.Spent(p, file, syntax.Line(place, s.Lock.Pos()), s.To)
	total := p.Table.Totals.TotalSeconds
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:    "CPU while the mutex is held",
		Value:   fmt.Sprintf("%s (%s)", units.Percent(all.Seconds/total), units.Some(float64(all.Samples), "sample")),
		Command: evidence.ListCommand(p, "cpu", m.Site.Function),
	})
	held := ""
	if s.Deferred {
		held = ", to the end of the function by defer"
	}
	m.Cause = fmt.Sprintf("Goroutines wait %s in each second, all together, for %s, held from line %d to %d%s%s.",
		units.Seconds(perSecond), syntax.Text(s.Mutex), s.From, s.To, in, held)
	waits := s.Waits()
	// A few samples prove no share: the low end of its interval must reach it.
	if len(waits) == 0 && stats.Share(busy.Samples, p.Table.Totals.CPUSamples).Low < popular {
		return false
	}
	switch {
	case len(waits) > 0:
		line := syntax.Line(place, waits[0].Pos())
		m.Cause += fmt.Sprintf(" Line %d waits for something outside of the program meanwhile.", line)
		m.Fix = fmt.Sprintf("Do not wait with the mutex held: take what line %d needs out under the lock, unlock, then wait.", line)
	case all.Seconds >= long*total && lines[0].Seconds >= most*all.Seconds:
		line := lines[0].Line
		m.Cause += fmt.Sprintf(" %s of the CPU under it is on line %d%s.", units.Percent(lines[0].Seconds/all.Seconds), line, s.CalledOn(line))
		m.Fix = fmt.Sprintf("Do what of line %d does not need the lock before it is taken, or after with a copy; else split what %s guards by key.",
			line, syntax.Text(s.Mutex))
	default:
		m.Cause += " The section is short: too many want it."
		m.Fix = fmt.Sprintf("Split what %s guards by key into shards, count with atomics, or publish what is mostly read as an atomic.Pointer to a copy.",
			syntax.Text(s.Mutex))
	}
	return true
}
