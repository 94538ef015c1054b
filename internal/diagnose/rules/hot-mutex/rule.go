// Package hotmutex finds the mutex that goroutines wait for, and what is done while it is held.
package hotmutex

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
	// leastWait of all goroutines together, in seconds per second, that a finding must explain.
	leastWait = 0.1
	// leastShare of all waiting for mutexes that must end at one Unlock.
	leastShare = 0.1
	// leastTimes is the minimum number of waits that is not chance; fewTimes is enough where most
	// of the waiting ends at one Unlock: a sweep that holds the lock for long is rare.
	leastTimes = 20
	fewTimes   = 5
	mostly     = 0.5
	// long is the minimum share of the program's CPU under the lock of a section that is too long.
	// Shorter ones are entered too often.
	long = 0.1
	// popular is the minimum share of the program's CPU in a short section, with its Lock and
	// Unlock, that is entered too often. Below it, the holder was preempted by chance, as happens
	// on a busy machine, and others waited.
	popular = 0.05
	// most is the minimum share of a section's CPU of a line that the advice is about.
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
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Of the time under the lock: from half of the work moved out to a lock without
				// waiting. Package diagnose models what that does to the queue.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Prepare: prepare,
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

// waits is the waiting for mutexes that the recording shows.
type waits struct {
	pass   *rule.Pass
	window float64 // of the mutex profile, in seconds
}

func prepare(p *rule.Pass) []finder.Line {
	w := waits{p, p.Table.Totals.ContentionSeconds}
	if w.window <= 0 || p.Table.Totals.TotalSeconds <= 0 {
		return nil
	}
	return []finder.Line{{
		Start:  finder.Sites(w.longest),
		Judge:  func(c *finder.Case) bool { return w.describe(c.Match, c.Place) },
		Unseen: func(_ *rule.Pass, m *rule.Match) { w.describe(m, nil) },
	}}
}

// longest selects the waits that ended at an Unlock, if they are long enough to be worth a finding.
func (w waits) longest(s *site.Site) rule.Match {
	rows := stacks.Select(s.Mutex, func(r *site.Row) bool { return stacks.Calls(r, locks.Unlocks()...) })
	waited, times := stacks.Sum(rows)
	seconds := float64(waited) / 1e9
	all := w.pass.Table.Totals.MutexSeconds
	rare := times < leastTimes && (times < fewTimes || seconds < mostly*all)
	if seconds < leastWait*w.window || seconds < leastShare*all || rare {
		return rule.Match{Site: s}
	}
	return rule.Match{
		Site: s, Mutex: rows, Callees: append(locks.Unlocks(), locks.Locks()...),
		Evidence: []rule.Evidence{{
			What:    "waits that ended at this Unlock",
			Value:   fmt.Sprintf("%s in %d waits, %s per second of run time", units.Seconds(seconds), times, units.Seconds(seconds/w.window)),
			Command: evidence.ListCommand(w.pass, "delay", s.Function),
		}},
	}
}

// describe fills in what the program does under the lock, as far as the source shows it. It returns
// false if that cannot explain the waiting. place is nil if the source is not available.
func (w waits) describe(m *rule.Match, place *gocode.Place) bool {
	p := w.pass
	waited, _ := stacks.Sum(m.Mutex)
	perSecond := float64(waited) / 1e9 / w.window
	m.Confidence = rule.Hint
	m.Cause = fmt.Sprintf("Goroutines wait %s in total per second for the mutex that is unlocked here.", units.Seconds(perSecond))
	m.Fix = "Do less while the mutex is held, or split what it guards."
	if place == nil {
		return true
	}
	_, s := locks.Of(p, m.Site)
	if s == nil {
		return true // locked elsewhere: what runs under it is unknown
	}
	file := s.File
	m.Confidence = rule.Measured
	m.CPU = locks.Queueing(p, file, s.Place, s.Section)
	lines, all := evidence.Spent(p, file, s.From, s.To, append(locks.Unlocks(), locks.Locks()...)...)
	_, busy := evidence.Spent(p, file, min(s.From, s.Once()), s.To)
	total := p.Table.Totals.TotalSeconds
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:    "CPU while the mutex is held",
		Value:   fmt.Sprintf("%s (%s)", units.Percent(all.Seconds/total), units.Some(float64(all.Samples), "sample")),
		Command: evidence.ListCommand(p, "cpu", m.Site.Function),
	})
	m.Cause = fmt.Sprintf("Goroutines wait %s in total per second for %s.%s", units.Seconds(perSecond), syntax.Text(s.Mutex), s.Held())
	cause, fix, outside := s.Outside(p, file)
	// A few samples prove no share: the low end of its interval must reach the threshold.
	if !outside && stats.Share(busy.Samples, p.Table.Totals.CPUSamples).Low < popular {
		return false
	}
	switch {
	case outside:
		m.Cause += cause
		m.Fix = fix
	case all.Seconds >= long*total && lines[0].Seconds >= most*all.Seconds:
		line := lines[0].Line
		m.Cause += fmt.Sprintf(" %s of the CPU under it is on line %d%s.", units.Percent(lines[0].Seconds/all.Seconds), line, s.CalledOn(line))
		m.Fix = fmt.Sprintf("Do the part of line %d that does not need the lock before Lock, or after Unlock on a copy; else split what %s guards by key.",
			line, syntax.Text(s.Mutex))
		if below, advice := s.Passed(p, file, line); below != "" {
			m.Cause += below
			m.Fix = advice
		} else if s.WritesNothing() {
			m.Cause += fmt.Sprintf(" Its function changes nothing that %s guards, but takes it for writing.", syntax.Text(s.Mutex))
			m.Fix = fmt.Sprintf("Take %s with RLock: readers do not wait for each other.", syntax.Text(s.Mutex))
		} else if over := s.Loop(w.pass, m.Site, file, line); over != "" {
			m.Cause += over
			m.Fix = s.InParts()
		}
	default:
		m.Cause += " The section is short, and too many goroutines enter it."
		m.Fix = fmt.Sprintf("Split what %s guards by key into shards, count with atomics, or publish read-mostly data as an atomic.Pointer to a copy.",
			syntax.Text(s.Mutex))
	}
	return true
}
