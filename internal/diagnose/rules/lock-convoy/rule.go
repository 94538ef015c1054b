// Package lockconvoy finds mutexes that goroutines queue for most of the time.
package lockconvoy

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
	"github.com/hone-go/hone/stats"
)

// fraction of the time under the lock that a fix saves, from half of the work moved out to a lock
// without waiting. For a program that exits it is of the waiting, which shrinks more than in
// proportion.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}

// waiting is the fraction of the waiting that a fix saves in a program that exits.
var waiting = rule.Fraction{Expect: 0.6, Low: 0.25, High: 0.95}

const (
	// leastSamples under the lock that show where the time goes.
	leastSamples = 10
	// mostlyOne is the minimum share of the section's CPU of a line that the advice is about.
	mostlyOne = 0.25
	// fewTimes that goroutines wait are enough if the waits, in seconds, are long, are this share
	// of the requests' time, and one line held the lock for most of them. Where they are
	// leastOfRoute of the time of one route's requests, leastInAll of all requests' time is enough.
	fewTimes     = 5
	longWait     = 0.001
	leastShare   = 0.05
	leastOfRoute = 0.3
	leastInAll   = 0.01
	mostlyHeld   = 0.5
	// longHold is the minimum CPU, in seconds, of a section for each time that the lock is held,
	// for it to explain long waits. A shorter one is held for long when the processor is taken from
	// it, by chance.
	longHold = 0.001
)

// Rule is lock-convoy.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "lock-convoy",
		Kind:  rule.Lock,
		Needs: []rule.Need{rule.NeedTrace},
		Title: "Goroutines queue for a mutex",
		Doc:   doc,
		Finder: finder.Trace{
			Specificity: 2, // the trace shows the queue; a mutex profile only adds up the waits
			Judge:       find,
		},
	}
}

const doc = `When two or more goroutines wait for a mutex most of the time, each Unlock wakes
the next one, and a goroutine that comes back soon queues again. The program is
then as fast as the code under the lock, whatever the number of cores. Such a
queue sustains itself: even goroutines that need the lock for an instant wait
for all before them.

The finding names the line that unlocks the mutex, because the holder makes the
others wait, and the lines that waited. The execution trace shows how many
goroutines queued at a time; a mutex profile only adds up the waits.

Do less under the lock: compute before Lock, copy, and use the copy after
Unlock. Split what it guards by key, or publish read-mostly data as an
atomic.Pointer to a copy: then readers do not wait, even if the holder has to.
Do not wait for a file or the network while it is held. The lock may be that of
a module: an embedded database has one write transaction at a time, from Begin
to Commit, with all that runs in between. A function may unlock what its callers
locked: then take away what it works on, unlock, and work after that.

A goroutine that waits for a second lock keeps the first one meanwhile. Then all
who need the first wait for the holder of the second, who may read a file. Copy
the list of objects, unlock, and ask them for their state after that.

A lock may also be held seldom, but long: while a message is written to a client
that reads slowly, or a table is loaded. The mean shows little of it, but all
requests that come meanwhile wait, and are the slowest ones.

It is fine when the queue is the point, as in a limiter. The rule requires a
queue for a fifth of the trace, so that an occasional preempted holder is not
reported; or waits of a millisecond and more for 5 % of the requests' time (1 %,
if they are a third of the time of one handler's requests), for which the trace or
the profile shows what the holder did.

Seen in the field: mattermost/mattermost#15764, erigontech/erigon#20454,
go-chi/httprate#20 (a limiter's lock, held while the handler behind it answers),
containerd/containerd#7917 (disk usage measured in a write transaction),
elastic/apm-server#7649 (a mutex held until a full batch is sent),
argoproj/argo-cd#3844 (all clusters asked for their state under a lock).`

func find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	total := traced.LatencyTotal(p)
	for _, l := range p.Trace.Blocking.Locks {
		if len(l.Holders) == 0 || total <= 0 || !l.Convoy && !seldom(p, &l) {
			continue
		}
		s := traced.SiteAt(p, l.Holders[0].Line)
		if s == nil {
			continue
		}
		if m, ok := match(p, l, s, total); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

// seldom reports whether requests wait for a lock seldom but long, because one line holds it for
// long. The holder wakes one goroutine, which then wakes those behind it after a short wait.
func seldom(p *rule.Pass, l *wall.Lock) bool {
	h := l.Holders[0]
	if l.Kind != "mutex" && l.Kind != "rwmutex" || h.Count < fewTimes || h.Seconds < longWait*float64(h.Count) || h.Seconds < mostlyHeld*l.Seconds {
		return false
	}
	share, ok := traced.LockWait(p, l)
	return ok && (share >= leastShare || share >= leastInAll && waitsMost(p, l) != "")
}

// waitsMost says which requests wait for a lock for much of their time, in a sentence with a space
// before it; "" for none. Requests of other routes may be longer, so that it is little of all time.
func waitsMost(p *rule.Pass, l *wall.Lock) string {
	route, share := traced.LockRoute(p, l)
	if share < leastOfRoute {
		return ""
	}
	return fmt.Sprintf(" Requests of %s spend %s of their time waiting for it.", symbol.Short(funcname.Typed(route.Name)), units.Percent(share))
}

// match returns the match of a lock that mostly a line of a site unlocks; false if goroutines wait
// for it seldom, and nothing shows why it is held for long.
func match(p *rule.Pass, l wall.Lock, s *site.Site, total float64) (rule.Match, bool) {
	m := rule.Match{
		Site:    s,
		Mutex:   stacks.Select(s.Mutex, func(r *site.Row) bool { return stacks.Calls(r, locks.Unlocks()...) }),
		Callees: append(locks.Unlocks(), locks.Locks()...),
		Saving:  saving(p, l, total),
		Evidence: []rule.Evidence{
			{What: "goroutines that queue at a time", Value: fmt.Sprintf("%s, %d at most; two or more for %s of the time", units.Number(l.Queue), l.Longest, units.Percent(l.Crowded)), Command: evidence.ViewCommand(p, "blocking")},
			{What: "waited in all", Value: fmt.Sprintf("%s, %s times in %s", units.Seconds(l.Seconds), units.Count(l.Count), units.Seconds(p.Trace.Parallelism.Length))},
			{What: "unlocked every", Value: units.Seconds(l.Hold) + " while goroutines waited"},
		},
	}
	m.Cause = queue(p, s, &l, "that this line unlocks")
	m.Fix = "Do less while it is held, or split what it guards by key."
	m.Confidence = rule.Hint
	known, sec := locks.Of(p, s)
	if known == nil {
		return m, l.Convoy
	}
	if sec == nil {
		if around := locks.AroundOf(p, s); around != nil && inTransaction(p, around, &m) {
			m.Cause = queue(p, s, &l, "that is unlocked below this line") + m.Cause
			return m, true
		}
		m.Cause += " The mutex belongs to code that this line calls."
		m.Fix = "Call it less often, or from fewer goroutines at a time."
		return m, l.Convoy
	}
	place, file := sec.Place, sec.File
	m.Confidence = rule.Measured
	m.CPU = locks.Queueing(p, file, place, sec.Section)
	if rows := sec.Waited(p, file); len(rows) > 0 {
		m.Mutex = rows
	}
	name := syntax.Text(sec.Mutex)
	m.Cause += sec.Held()
	waits, proved := false, l.Convoy
	if cause, fix, ok := sec.Outside(p, file); ok {
		m.Cause += cause
		m.Fix = fix + sec.Published(p, l.Waiters)
		waits = true
		if sec.Read {
			m.Cause += " It is held for reading: whoever wants to write waits until that is over, and others that want to read wait for the writer."
		}
	}
	if b := sec.Blocked(p, file); !l.Convoy && b != nil && b.Explains(l.Busy) {
		if !strings.Contains(m.Cause, b.Words()) {
			m.Cause += " " + b.Lasts() + "."
		}
		return m, waits
	}
	if waits && l.Convoy {
		return m, true
	}
	spent, all := evidence.Spent(p, file, sec.From, sec.To, append(locks.Unlocks(), locks.Locks()...)...)
	if all.Samples < leastSamples {
		return m, proved
	}
	if !l.Convoy {
		held, ok := evidence.PerExecution(p, frameAt(s, file, sec.Once()), all.Seconds)
		if !ok || held < longHold {
			return m, false
		}
		m.Cause += fmt.Sprintf(" The code in between takes %s of CPU each time.", units.Seconds(held))
	}
	if spent[0].Seconds >= mostlyOne*all.Seconds {
		line := spent[0].Line
		m.Cause += fmt.Sprintf(" %s of the CPU under it is on line %d%s.", units.Percent(spent[0].Seconds/all.Seconds), line, sec.CalledOn(line))
		m.Fix = fmt.Sprintf("Do the part of line %d that does not need %s before Lock, or after Unlock on a copy; else split what it guards by key.", line, name)
		if below, fix := sec.Passed(p, file, line); below != "" {
			m.Cause += below
			m.Fix = fix
			return m, true
		}
		if over := sec.Loop(p, s, file, line); over != "" {
			m.Cause += over
			m.Fix = sec.InParts()
		}
		if sec.WritesNothing() {
			m.Cause += fmt.Sprintf(" %s changes nothing that %s guards, but takes it for writing.", syntax.FuncName(place), name)
			m.Fix = fmt.Sprintf("Take %s with RLock: readers do not wait for each other. Better still, do the part of line %d that does not need it after RUnlock, on a copy.", name, line)
		}
		return m, true
	}
	m.Fix = fmt.Sprintf("Compute what does not need %s before Lock, and use copies after Unlock; split what it guards by key, or publish read-mostly data as an atomic.Pointer to a copy.", name)
	return m, true
}

// queue says how many goroutines wait for a lock, how long, and where; which says where it is
// unlocked.
func queue(p *rule.Pass, s *site.Site, l *wall.Lock, which string) string {
	where := lines(p, s, l.Waiters)
	if !l.Convoy {
		return fmt.Sprintf("Goroutines wait long for the %s %s: %s times in %s, %s on average, up to %d at a time. They wait on %s.%s",
			l.Kind, which, units.Count(l.Count), units.Seconds(p.Trace.Parallelism.Length), units.Seconds(l.Seconds/float64(l.Count)), l.Longest, where, waitsMost(p, l))
	}
	return fmt.Sprintf("Goroutines queue for the %s %s: %s at a time, two or more for %s of the time. They wait on %s.",
		l.Kind, which, units.Number(l.Queue), units.Percent(l.Crowded), where)
}

// inTransaction describes a section from one call to another that its function makes, and reports
// whether what runs in it is known. The finding is at the line of the main module that leads there.
func inTransaction(p *rule.Pass, around *locks.Around, m *rule.Match) bool {
	cause, fix, ok := around.Describe(p)
	if !ok {
		return false
	}
	m.Cause, m.Fix = cause, fix
	m.Confidence = rule.Measured
	if at := traced.SiteAt(p, exectrace.Line{Function: around.Entry.Function, File: around.Entry.File, Line: around.Entry.Line}); at != nil {
		m.Site = at
	}
	return true
}

// frameAt returns the frame of another line of a site's package.
func frameAt(s *site.Site, file string, line int) site.Frame {
	f := s.Frame
	f.File, f.Line = file, line
	return f
}

// saving returns what a model of the queue predicts for a service. For a program that exits the sum
// of all waits shows little: while goroutines queue, one processor works and the others might.
func saving(p *rule.Pass, l wall.Lock, total float64) *rule.Saving {
	if !traced.Serves(p) {
		waited := l.Busy * total * (1 - 1/max(1, traced.Procs(p)))
		return waiting.Saving(waited, total)
	}
	share := min(1, l.Seconds/total)
	if s, ok := traced.LockWait(p, &l); ok {
		share = s
	}
	saved, ok := traced.Unlocked(p, stats.Interval{Value: share, Low: share, High: share}, fraction.Interval())
	if !ok {
		return waiting.Saving(share*total, total)
	}
	return &rule.Saving{Seconds: saved.Value * total, Low: saved.Low * total, High: saved.High * total, Latency: total, Cost: share * total, Modelled: true}
}

// lines describes the lines where goroutines wait, longest wait first.
func lines(p *rule.Pass, s *site.Site, waiters []wall.Waker) string {
	var words []string
	for _, w := range waiters {
		if len(words) < 3 && w.Line != (exectrace.Line{}) {
			words = append(words, evidence.Near(p, s, w.Line))
		}
	}
	return funcname.List(words)
}
