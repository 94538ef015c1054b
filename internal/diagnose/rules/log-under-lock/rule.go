// Package logunderlock finds log lines that are written while a mutex of the program is held.
package logunderlock

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastWait of all goroutines together, in seconds per second, that is worth a finding.
	leastWait = 0.05
	// leastPart is the minimum share of the CPU under the lock in log lines. They also wait, which
	// no CPU profile shows.
	leastPart = 0.2
	// leastTimes is the minimum number of waits that is not chance.
	leastTimes = 20
)

// loggers are the functions that write log lines, as the type checker names them.
var loggers = []string{
	"log.Print*", "log.Output", "(*log.Logger).Print*", "(*log.Logger).Output",
	"log/slog.Debug*", "log/slog.Info*", "log/slog.Warn*", "log/slog.Error*", "log/slog.Log*", "(*log/slog.Logger).*",
	"fmt.Print*", "(*go.uber.org/zap.*", "github.com/sirupsen/logrus.*", "(*github.com/sirupsen/logrus.*",
	"(*github.com/rs/zerolog.*", "github.com/golang/glog.*", "k8s.io/klog*",
	"github.com/rs/zerolog/log.*", "(github.com/hashicorp/go-hclog.Logger).*", "(github.com/go-kit/log.Logger).Log", "(github.com/go-logr/logr.Logger).*",
	"github.com/charmbracelet/log.*", "(*github.com/charmbracelet/log.*",
}

// Rule is log-under-lock.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-under-lock",
		Kind:  rule.Lock,
		Needs: []rule.Need{rule.NeedContention},
		Title: "Log lines written with a mutex held",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Each match overrides it with the part of the section's CPU that the log lines
				// take.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.2, High: 1},
				// It knows what takes long under the mutex; hot-mutex only measures.
				Specificity: 1,
			},
			Start: finder.Sites(unlocking),
			Judge: judge,
		},
	}
}

const doc = `Writing a log line formats it, locks the logger's own mutex and, with most
loggers, makes a system call, which may wait for a disk or a full pipe. If the
program holds a mutex meanwhile, all goroutines that need it wait for the log.

Copy what the line prints into variables, unlock, then log. The rule charges only
the waits for the program's mutex. The cost of the line itself, and the waits for
the logger's mutex, belong to unbuffered-log.

It is fine for lines that are written on errors. If the log must have the order
of events, pass the lines to one goroutine that writes them.

Seen in the field: erigontech/erigon#20454 (the backport was reverted for a
regression, #20652); golang/glog#68.`

// unlocking selects the waits for a mutex that ended at an Unlock on the line.
func unlocking(s *site.Site) rule.Match {
	rows := stacks.Select(s.Mutex, func(r *site.Row) bool { return stacks.Calls(r, locks.Unlocks()...) })
	if _, times := stacks.Sum(rows); times < leastTimes {
		return rule.Match{Site: s}
	}
	return rule.Match{Site: s, Mutex: rows, Callees: append(locks.Unlocks(), locks.Locks()...)}
}

// toStandard reports whether a call prints to standard output or standard error.
func toStandard(p *gocode.Place, call *ast.CallExpr) bool {
	if !funcname.Match(p.CalleeName(call), "fmt.Fprint*") || len(call.Args) == 0 {
		return false
	}
	to := syntax.Text(call.Args[0])
	return to == "os.Stderr" || to == "os.Stdout"
}

// judge reports whether log lines take a good part of the CPU under the lock.
func judge(c *finder.Case) bool {
	p, m, place := c.Pass, c.Match, c.Place
	window := p.Table.Totals.ContentionSeconds
	waited, _ := stacks.Sum(m.Mutex)
	perSecond := float64(waited) / 1e9 / window
	if window <= 0 || perSecond < leastWait {
		return false
	}
	for _, s := range locks.Sections(place) {
		var lines []*ast.CallExpr
		for _, call := range s.Calls() {
			if funcname.Match(place.CalleeName(call), loggers...) || toStandard(place, call) {
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
		m.CPU = locks.Queueing(p, m.Site.File, place, s)
		part := min(1, logged.Seconds/all.Seconds)
		m.Fraction = &rule.Fraction{Expect: part, Low: 0.6 * part, High: 1} // the line also waits, for a disk for example
		m.Confidence = rule.Measured
		line := syntax.Line(place, lines[0].Lparen)
		m.Cause = fmt.Sprintf("Line %d calls %s with %s held: %s of the CPU under that mutex goes into the log, and goroutines wait for it %s in total per second.",
			line, place.CalleeName(lines[0]), syntax.Text(s.Mutex), units.Percent(part), units.Seconds(perSecond))
		m.Fix = "Copy what the line prints into variables, unlock, then log."
		m.Evidence = []rule.Evidence{{
			What:    "CPU of the log lines under the mutex",
			Value:   fmt.Sprintf("%d of %d samples", logged.Samples, all.Samples),
			Command: evidence.ListCommand(p, "cpu", m.Site.Function),
		}}
		return true
	}
	return false
}
