// Package lockedthread finds goroutines that are locked to their thread and wait often.
package lockedthread

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	lock   = "runtime.LockOSThread"
	unlock = "runtime.UnlockOSThread"
	// fewest waits of the goroutine, and in a second of the trace.
	fewest, fewestRate = 200, 200
	// leastShare of the program's CPU that handing processors from thread to thread must take.
	leastShare = 0.02
)

// switches are the functions of the runtime that stop the thread of a locked goroutine that waits,
// and wake it. They run for locked goroutines only.
var switches = []string{"runtime.startlockedm", "runtime.stoplockedm"}

// Rule is locked-thread.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "locked-thread",
		Kind:   rule.Sched,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "A goroutine locked to its thread waits often",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `After runtime.LockOSThread, only this goroutine runs on its thread. When it
waits, the thread has to pass its processor to another thread and sleep; when it
is woken, the operating system has to wake the thread again. A switch between
goroutines on one thread takes 0.2 µs; this takes several microseconds, each time
that the goroutine waits. If requests go to it through a channel, each request
pays twice.

Remove LockOSThread if nothing needs the thread: it makes nothing faster, and
reserves no processor. If something does (a graphics library, ptrace, setns),
send several requests at once, or answer on the same goroutine as much as
possible.

It is fine where the goroutine seldom waits. The rule reports the CPU of the
switches.

Seen in the field: golang/go#18023 (0.6 µs for each value of a channel became
8 µs), golang/go#21827 (two thirds of a debugger's time).`

// fraction of the cost of the switches that is saved: goroutines still switch, on one thread.
var fraction = rule.Fraction{Expect: 0.85, Low: 0.5, High: 1}

func find(p *rule.Pass) []rule.Match {
	rows := handovers(p)
	spent, _ := stacks.Sum(rows)
	if float64(spent)/1e9 < leastShare*p.Table.Totals.TotalSeconds {
		return nil
	}
	var most *waits
	by := map[string]*waits{}
	for i := range p.Trace.Blocking.Waits {
		w := &p.Trace.Blocking.Waits[i]
		s := traced.SiteAt(p, w.Line)
		if s == nil {
			continue
		}
		place := p.Place(s)
		if place == nil || !locked(place) {
			continue
		}
		all := by[s.Function]
		if all == nil {
			all = &waits{at: s}
			by[s.Function] = all
		}
		all.count += w.Count
		if s.Line < all.at.Line {
			all.at = s
		}
		if most == nil || all.count > most.count {
			most = all
		}
	}
	if most == nil || most.count < fewest || float64(most.count) < fewestRate*p.Trace.Parallelism.Length {
		return nil
	}
	return []rule.Match{most.match(p, rows)}
}

// waits are those of one function.
type waits struct {
	at    *site.Site // the first line that waits
	count int64
}

// handovers returns the CPU rows of the switches.
func handovers(p *rule.Pass) (rows []*site.Row) {
	p.EachRow(func(r *site.Row) {
		if r.Owner < 0 && (r.Below(switches[0]) || r.Below(switches[1])) {
			rows = append(rows, r)
		}
	})
	return rows
}

// locked reports whether the function of a place locks its goroutine to the thread before the
// place's line, and does not unlock it before.
func locked(p *gocode.Place) bool {
	if p.Func == nil {
		return false
	}
	locked := false
	ast.Inspect(p.Func, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			if syntax.Line(p, n.Pos()) > p.Line {
				return true
			}
			switch p.CalleeName(n) {
			case lock:
				locked = true
			case unlock:
				locked = false
			}
		}
		return true
	})
	return locked
}

func (w *waits) match(p *rule.Pass, rows []*site.Row) rule.Match {
	place := p.Place(w.at)
	f := fraction
	spent, _ := stacks.Sum(rows)
	m := rule.Match{
		Site: w.at, CPU: rows, Fraction: &f, Confidence: rule.Measured,
		Cause: fmt.Sprintf("%s locks its goroutine to an operating system thread (LockOSThread on line %d) and waits %s times in %s: each time the thread passes its processor on, sleeps, and is woken again.",
			syntax.FuncName(place), lockLine(place), units.Count(w.count), units.Seconds(p.Trace.Parallelism.Length)),
		Fix: "Remove LockOSThread and UnlockOSThread: no file of the package uses cgo or system calls, which could need the thread.",
		Evidence: []rule.Evidence{
			{What: "waits of the goroutine in the trace", Value: units.Count(w.count), Command: evidence.ViewCommand(p, "blocking")},
			{What: "CPU for stopping and starting locked threads", Value: units.Percent(float64(spent) / 1e9 / p.Table.Totals.TotalSeconds), Command: evidence.TopCommand(p, "cpu")},
		},
	}
	if needsThread(place) {
		m.Confidence = rule.Likely
		m.Fix = "Remove LockOSThread if nothing that the goroutine calls needs the thread; else send it several requests at once, so that it waits less often."
	}
	return m
}

// lockLine returns the line of the last call of LockOSThread before the place's line.
func lockLine(p *gocode.Place) (line int) {
	ast.Inspect(p.Func, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && p.CalleeName(call) == lock && syntax.Line(p, call.Pos()) <= p.Line {
			line = syntax.Line(p, call.Pos())
		}
		return true
	})
	return line
}

// needsThread reports whether a file of the package imports something that may depend on the
// thread: cgo, system calls, or a package outside of the standard library, which may use them.
func needsThread(p *gocode.Place) bool {
	for _, f := range p.Files() {
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, "`\"")
			first, _, _ := strings.Cut(path, "/")
			if path == "C" || path == "syscall" || path == "unsafe" || strings.Contains(first, ".") {
				return true
			}
		}
	}
	return false
}
