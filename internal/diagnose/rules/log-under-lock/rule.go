// Package logunderlock finds log lines that are written with a mutex of the program held.
package logunderlock

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastWait is the waiting, in seconds a second of all goroutines together, that is worth a word.
	leastWait = 0.05
	// leastPart of the CPU under the lock that the log lines take. They wait besides, which no CPU profile shows.
	leastPart = 0.2
	// leastTimes that somebody waited, so that it was no accident.
	leastTimes = 20
)

// loggers are the functions that write log lines, as types name them.
var loggers = []string{
	"log.Print*", "log.Output", "(*log.Logger).Print*", "(*log.Logger).Output",
	"log/slog.Debug*", "log/slog.Info*", "log/slog.Warn*", "log/slog.Error*", "log/slog.Log*", "(*log/slog.Logger).*",
	"fmt.Print*", "(*go.uber.org/zap.*", "github.com/sirupsen/logrus.*", "(*github.com/sirupsen/logrus.*",
	"(*github.com/rs/zerolog.*", "github.com/golang/glog.*", "k8s.io/klog*",
}

// Rule is log-under-lock.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-under-lock",
		Kind:  rule.Lock,
		Needs: []rule.Need{rule.NeedContention},
		Title: "Log lines written with a mutex held",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// Each match overrides it by the part of the section's CPU that is the log line.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.2, High: 1},
				// It knows what under the mutex takes long, where hot-mutex only measures.
				Specificity: 1,
			},
			Loop: find,
		},
	}
}

const doc = `Writing a log line formats it, takes the logger's own mutex and, with most
loggers, makes a system call, which may wait for a disk or a full pipe. If the
program holds a mutex meanwhile, all who need that mutex wait for the log.

Copy what the line prints into variables, unlock, then log. The rule charges the
waiting for the program's mutex only; what the line costs by itself, and the
waiting for the logger's mutex, is unbuffered-log's.

It is fine for lines that are written when something fails, and where the order
of lines has to be the order of events: then hand them to one goroutine.

Seen in the field: erigontech/erigon#20454 (the backport was reverted for a
regression, #20652); golang/glog#68.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	window := p.Table.Totals.ContentionSeconds
	if window <= 0 {
		return nil, nil
	}
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		rows := stacks.Select(s.Mutex, func(r *site.Row) bool { return stacks.Calls(r, locks.Unlocks()...) })
		waited, times := stacks.Sum(rows)
		perSecond := float64(waited) / 1e9 / window
		if perSecond < leastWait || times < leastTimes {
			continue
		}
		m := rule.Match{Site: s, Mutex: rows, Callees: append(locks.Unlocks(), locks.Locks()...)}
		if describe(p, &m, perSecond) {
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// describe reports whether log lines take a good part of what is done under the lock.
func describe(p *rule.Pass, m *rule.Match, perSecond float64) bool {
	place := p.Place(m.Site)
	if place == nil {
		return false
	}
	for _, s := range locks.Sections(place) {
		var lines []*ast.CallExpr
		for _, call := range s.Calls() {
			if funcname.Match(place.CalleeName(call), loggers...) {
				lines = append(lines, call)
			}
		}
		if len(lines) == 0 {
			continue
		}
		skip := append(locks.Unlocks(), locks.Locks()...)
		_, all := evidence.Spent(p, m.Site.File, s.From, s.To, skip...)
		var logged evidence.LineCost
		for _, call := range lines {
			line := syntax.Line(place, call.Lparen)
			_, one := evidence.Spent(p, m.Site.File, line, line, skip...)
			logged.Seconds += one.Seconds
			logged.Samples += one.Samples
		}
		if all.Seconds <= 0 || logged.Seconds < leastPart*all.Seconds {
			continue
		}
		m.CPU = locks.Queueing(p, m.Site.File, syntax.Line(place, s.Lock.Lparen))
		part := min(1, logged.Seconds/all.Seconds)
		m.Fraction = &rule.Fraction{Expect: part, Low: 0.6 * part, High: 1} // the line waits besides, as for a disk
		m.Confidence = rule.Measured
		line := syntax.Line(place, lines[0].Lparen)
		m.Cause = fmt.Sprintf("Line %d calls %s with %s held: %s of the CPU under that mutex goes into the log, and goroutines wait %s in each second, all together, for it.",
			line, place.CalleeName(lines[0]), syntax.Text(s.Mutex), units.Percent(part), units.Seconds(perSecond))
		m.Fix = "Copy what the line says into variables, unlock, then log."
		m.Evidence = []rule.Evidence{{
			What:    "CPU of the log lines under the mutex",
			Value:   fmt.Sprintf("%d of %d samples", logged.Samples, all.Samples),
			Command: evidence.ListCommand(p, "cpu", m.Site.Function),
		}}
		return true
	}
	return false
}
