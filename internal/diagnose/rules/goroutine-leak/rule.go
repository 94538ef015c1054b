// Package goroutineleak finds lines of a service at which more and more goroutines wait.
package goroutineleak

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastWaiting is the minimum number of goroutines at one line. Pools of workers have hundreds.
	leastWaiting = 1000
	// leastCounted goroutines are enough if leastPerUnit of them came with each request: pools do
	// not grow with requests.
	leastCounted = 200
	leastPerUnit = 0.02
	// leastCame is the minimum share of them that appeared during the recording: a pool exists from
	// the start.
	leastCame = 0.5
	// overClients is the minimum number of them per connection of the load: each connection may
	// have some goroutines of its own.
	overClients = 10
	// leastLeaked goroutines are enough if the garbage collector found that nothing can wake them:
	// a service may have a few that block forever by design.
	leastLeaked = 10
	// stack is the minimum memory of a goroutine, in bytes (runtime.stackMin).
	stack = 2048
)

// Rule is goroutine-leak.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "goroutine-leak",
		Kind:   rule.Leak,
		Title:  "Goroutines that wait forever",
		Doc:    doc,
		Urgent: true,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `At the end of the recording hundreds or thousands of goroutines of a service
wait at one line, most of which did not exist at its start; or they are left
after the last benchmark of a package. Nothing ends them: each keeps its stack,
at least 2 KiB, and everything that it refers to, and the collector scans them
in every cycle, until the program runs out of memory.

The usual causes: a result is sent to a channel that nothing receives from after
a timeout (give it room for one value), the first of several answers is enough
(give it room for all), the reader of many values stops early (tell the sender
with a context), a worker receives from a channel that nothing closes, or from a
ticker that is stopped, a select has no case for the end of the context. Or
whoever gets an object with a goroutine (a session, a watcher, a subscription)
does not call its Close or Stop, or not on all paths: the finding then names
both.

A library starts goroutines for each stream, watch or subscription that a
program opens with a context. If that context never ends, the finding is at the
line that chooses it: cancel it when the function needs no more, or read the
stream to its end. Do not close a connection that all requests share.

Go 1.26 and newer can prove a leak: the garbage collector finds goroutines
blocked on channels, locks and wait groups that nothing else refers to. If
goroutines came during the recording, hone runs that detection, with Go 1.26 in
a separate build and process (GOEXPERIMENT=goroutineleakprofile). If what the
goroutines wait for stays reachable, in a global map for example, their growth
is the evidence.

It is fine for a pool of workers, whose number does not grow, and for
connections that wait for their peers; the rule leaves alone goroutines that
wait for the network, and those that the standard library starts for each
connection. Goroutines that wait for a ticker are reported if they come with
requests, or if many start in the trace and none ends.

Seen in the field: HDT3213/godis#31 (a timeout after which nobody receives),
BishopFox/sliver#1089, jwilder/dockerize#324 (a reader that stops early),
fiatjaf/relayer#86 (a loop over a stopped ticker).`

func find(p *rule.Pass) []rule.Match {
	if p.Manifest == nil || p.Manifest.Target.Kind == "program" {
		return nil // a program that exits ends its goroutines
	}
	matches, named := leaked(p)
	steady := perRequest(p) || p.Benchmark() // they do not end with what they serve
	for _, g := range p.Parked {
		if named[g.Place()] || !leaks(p, g) || g.Start.Owner.Kind == gocode.Std || allEnd(p, g) || wakes(p, g) && !steady && !noneEnds(p, g) {
			continue
		}
		m, ok := match(p, g, "goroutines wait here", course(p))
		if !ok {
			continue
		}
		if p.Leaked != nil {
			// Something reachable could wake them, according to the collector. It does not know
			// whether it ever will.
			m.Confidence = rule.Likely
			m.Cause += " What they wait for is still reachable, so the garbage collector cannot prove that they wait forever."
		}
		matches = append(matches, m)
	}
	return matches
}

// leaked finds lines with goroutines that nothing can wake.
func leaked(p *rule.Pass) (matches []rule.Match, named map[string]bool) {
	named = map[string]bool{}
	phase, apart := p.Manifest.Phase(recording.PhaseLeaks)
	if apart && phase.Leaked != nil && *phase.Leaked <= 0 && !p.Benchmark() {
		return nil, named // all existed before the load
	}
	total := int64(0)
	for _, g := range p.Leaked {
		total += g.Count
	}
	for _, g := range p.Leaked {
		if g.Count < leastLeaked {
			continue
		}
		how := "The garbage collector found that nothing can wake them."
		switch {
		case apart && phase.Leaked != nil && phase.Requests > 0:
			share := float64(g.Count) / float64(total)
			how += " " + perUnit(float64(*phase.Leaked)*share/float64(phase.Requests), p.Manifest.Unit())
		case !apart && requests(p) > 0:
			how += " " + perUnit(float64(g.Count)/requests(p), p.Manifest.Unit())
		}
		if p.Benchmark() {
			how += " They are left after the last benchmark."
		}
		m, ok := match(p, g, "goroutines are blocked here forever", strings.TrimSpace(how))
		if !ok {
			continue
		}
		m.Evidence[0].Command = evidence.PartCommand(p, "goroutineleak", g.Function)
		named[g.Place()] = true
		matches = append(matches, m)
	}
	return matches, named
}

// perUnit returns the sentence with the number of goroutines that come with each request.
func perUnit(n float64, unit string) string {
	switch {
	case n >= 1.5:
		return fmt.Sprintf("%s come with each %s.", units.Number(n), unit)
	case n > 0.67:
		return fmt.Sprintf("One comes with each %s.", unit)
	}
	return fmt.Sprintf("One comes with every %s %ss.", units.Number(1/n), unit)
}

// match returns the match of a line with waiting goroutines; false where other code ends the wait.
func match(p *rule.Pass, g site.Parked, are, why string) (rule.Match, bool) {
	what, fix := waits(g.Wait)
	if what == "" {
		return rule.Match{}, false
	}
	started := "started with " + symbol.Short(g.Start.Function)
	facts := []rule.Evidence{{What: are[len("goroutines "):], Value: fmt.Sprint(g.Count), Command: evidence.PartCommand(p, "goroutine", g.Function)}}
	if c := g.Created; c.Line > 0 {
		place := fmt.Sprintf("%s:%d", filepath.Base(c.File), c.Line)
		started = fmt.Sprintf("started at %s in %s", place, symbol.Short(c.Function))
		facts = append(facts, rule.Evidence{What: "go statement", Value: place})
	}
	n := float64(g.Count)
	m := rule.Match{Site: p.Site(&g.Frame), Creator: creator(g), Confidence: rule.Measured, Fix: fix, Evidence: facts}
	m.Cause = fmt.Sprintf("%d %s, %s, %s. %s Their stacks alone take at least %s.", g.Count, are, what, started, why, units.Bytes(n*stack))
	if wait := p.Place(m.Site); wait != nil {
		if o := opened(p, &g, wait); o != nil {
			o.moved(p, &m, &g)
			return m, true
		}
	}
	a := ended(p, m.Site, m.Creator)
	if a.cause == "" && what == toSend {
		a = sends(p, m.Site, m.Creator)
	}
	if a.cause != "" {
		m.Cause += " " + a.cause
		m.Fix, m.Callers = a.fix, a.callers
	}
	return m, true
}

// creator returns the go statement of goroutines; nil if no dump shows it. Dumps name files by
// their paths only: the owner is that of the function that it starts, if both are in one directory.
func creator(g site.Parked) *site.Frame {
	c := g.Created
	if c.Line <= 0 {
		return nil
	}
	f := &site.Frame{Function: c.Function, File: c.File, Line: int(c.Line)}
	if start := g.Start; filepath.Dir(start.File) == filepath.Dir(c.File) && start.Owner.File != "" {
		f.Owner = start.Owner
		f.Owner.File = path.Join(path.Dir(start.Owner.File), filepath.Base(c.File))
	}
	return f
}

// leaks reports whether goroutines at a line came during the recording and are more than those of a
// pool or of the clients.
func leaks(p *rule.Pass, g site.Parked) bool {
	n := float64(g.Count)
	if p.Benchmark() {
		return n >= leastWaiting // they are left after the last benchmark
	}
	came := p.Goroutines.Last - p.Goroutines.First
	least := float64(leastWaiting)
	if perRequest(p) {
		least = leastCounted
	}
	if l := p.Manifest.Load; l != nil {
		least = max(least, overClients*float64(l.Connections))
	}
	return n >= least && came >= leastCame*n
}

// perRequest reports whether the new goroutines are in proportion to the requests of the load.
func perRequest(p *rule.Pass) bool {
	n := requests(p)
	return p.Manifest.Load != nil && n > 0 && p.Goroutines.Last-p.Goroutines.First >= leastPerUnit*n
}

const (
	// leastStarted goroutines must have started in the trace for it to show that none of them ends.
	leastStarted = 20
	// mostOthers is how many goroutines may have come for each one at the line. A session has
	// another one that serves its connection.
	mostOthers = 1.3
)

// noneEnds reports whether, in the trace, goroutines of this kind start all the time and none ends,
// and no others come with them.
func noneEnds(p *rule.Pass, g site.Parked) bool {
	if p.Trace == nil || p.Trace.Goroutines == nil || p.Goroutines.Last-p.Goroutines.First > mostOthers*float64(g.Count) {
		return false
	}
	for _, group := range p.Trace.Goroutines.Groups {
		if group.Function == g.Start.Function {
			return group.Created >= leastStarted && group.Ended == 0
		}
	}
	return false
}

// nearlyAll is the minimum number of goroutines that end for each one that starts, for those that
// wait to be requests under way: many, if each starts some.
const nearlyAll = 0.95

// allEnd reports whether, in the trace, goroutines of this kind end as often as they start.
func allEnd(p *rule.Pass, g site.Parked) bool {
	if p.Trace == nil || p.Trace.Goroutines == nil {
		return false
	}
	for _, group := range p.Trace.Goroutines.Groups {
		if group.Function == g.Start.Function {
			return group.Created >= leastStarted && float64(group.Ended) >= nearlyAll*float64(group.Created)
		}
	}
	return false
}

// wakes reports whether goroutines at a line wait for a ticker or a timer: they run again, and end
// with what they serve.
func wakes(p *rule.Pass, g site.Parked) bool {
	place := p.Place(&site.Site{Frame: g.Frame})
	if place == nil {
		return false
	}
	for _, n := range place.Nodes {
		if e, ok := n.(*ast.UnaryExpr); ok && e.Op == token.ARROW && ticks(place, e.X) {
			return true
		}
		if r, ok := n.(*ast.RangeStmt); ok && ticks(place, r.X) {
			return true
		}
	}
	return false
}

// ticks reports whether an expression is the channel of a ticker or timer, or a call of time.Tick.
func ticks(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		t := p.TypeOf(e.X)
		return t != nil && e.Sel.Name == "C" && slices.Contains([]string{"*time.Ticker", "*time.Timer", "time.Ticker"}, t.String())
	case *ast.CallExpr:
		return p.CalleeName(e) == "time.Tick"
	}
	return false
}

// requests returns the number of requests that were answered in all phases.
func requests(p *rule.Pass) float64 {
	n := 0.0
	for _, ph := range p.Manifest.Phases {
		if !recording.Apart(ph.Name) {
			n += float64(ph.Requests)
		}
	}
	return n
}

// course returns the sentence that describes when the goroutines came.
func course(p *rule.Pass) string {
	if p.Benchmark() {
		return "They are left after the last benchmark: nothing ended them when the operation that started them returned."
	}
	text := fmt.Sprintf("The program had %.0f goroutines at the start of the recording and %.0f at its end", p.Goroutines.First, p.Goroutines.Last)
	if n := requests(p); p.Manifest.Load != nil && n > 0 {
		text += fmt.Sprintf(", %s more for each request", units.Number((p.Goroutines.Last-p.Goroutines.First)/n))
	}
	return text + "."
}

// toSend is what goroutines wait for that send to a channel.
const toSend = "to send to a channel"

// waits returns what goroutines wait for in the functions that a line called, and the fix; "" when
// other code ends the wait, or it is unknown.
func waits(functions []string) (what, fix string) {
	for _, f := range functions {
		switch f {
		case "runtime.chansend1":
			return toSend, "Make each of them end: give the channel room for the one value that is sent (make(chan T, 1)), or select between the send and the end of the context."
		case "runtime.chanrecv1", "runtime.chanrecv2":
			return "to receive from a channel", "Make each of them end: close the channel when nothing more comes, or select between the receive and the end of the context."
		case "runtime.selectgo":
			return "in a select", "Make each of them end: give the select a case for the end of the context, and cancel the context when its owner is done (defer cancel())."
		case "runtime.block":
			return "in an empty select", "Make each of them end: an empty select waits forever; receive from ctx.Done() instead."
		case "time.Sleep":
			return "sleeping", "Start one goroutine for all delayed work (time.AfterFunc needs none), and end it when its owner is done."
		case "sync.(*WaitGroup).Wait":
			return "for a sync.WaitGroup", "Make each of them end: find the goroutine that does not call Done."
		case "sync.(*Cond).Wait":
			return "for a sync.Cond", "Make each of them end: wake all with Broadcast when their owner is done, and check for that after Wait."
		case "sync.(*Mutex).Lock", "sync.(*RWMutex).RLock", "sync.(*RWMutex).Lock", "internal/sync.(*Mutex).Lock", "internal/sync.(*Mutex).lockSlow":
			return "for a lock", "Find the goroutine that holds the lock and waits, or has returned without unlocking it."
		case "internal/poll.runtime_pollWait", "syscall.Syscall", "syscall.syscall":
			return "", ""
		}
	}
	return "", ""
}
