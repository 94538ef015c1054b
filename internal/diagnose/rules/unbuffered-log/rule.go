// Package unbufferedlog finds log lines that each cost a write system call.
package unbufferedlog

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// logger is one of the standard library's loggers.
type logger struct {
	name string
	// output is the function that passes a finished line to the logger's writer.
	output string
	// calls and types are the functions that users call: their names in profiles and for the type
	// checker.
	calls []string
	types []string
}

var loggers = []logger{
	{
		name:   "log",
		output: "log.(*Logger).output",
		calls:  []string{"log.Print*", "log.Output", "log.(*Logger).*"},
		types:  []string{"log.Print*", "log.Output", "(*log.Logger).*"},
	},
	{
		name:   "log/slog",
		output: "log/slog.(*commonHandler).handle",
		calls:  []string{"log/slog.Debug*", "log/slog.Info*", "log/slog.Warn*", "log/slog.Error*", "log/slog.Log*", "log/slog.(*Logger).*"},
		types:  []string{"log/slog.Debug*", "log/slog.Info*", "log/slog.Warn*", "log/slog.Error*", "log/slog.Log*", "(*log/slog.Logger).*"},
	},
}

// Rule is unbuffered-log.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unbuffered-log",
		Kind:  rule.IO,
		Title: "Log lines written one system call at a time",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Each match overrides it with the part of the line's cost that is the write
				// itself: see buffered.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.3, High: 1},
			},
			Lines: append(lines(), moduleLines()...),
		},
	}
}

const doc = `The loggers of packages log and log/slog, zap, zerolog and logrus write every
line immediately, most of them under a mutex. When the writer is a file, a pipe or
the terminal, each line is a write system call, and goroutines that log at the
same time queue for it. In a service that logs on each request this is often the
largest part of its CPU.

Put a bufio.Writer between the logger and the file (with a mutex of its own,
flushed every second and at exit), or do not log what nobody reads.

A buffer has a price: the last lines are lost when the program crashes, and lines
appear later. For an audit log that may be wrong; then write in batches in the
program instead. It is fine for rare log lines.

The rule knows the standard library's loggers, zap, zerolog, logrus and a few
others, and the access logs of gin, echo and gorilla. It reports writes that the
logger makes itself, or through a writer of the program that writes each line, such
as one that rotates files. A logger that already writes into a buffer is left
alone, and so is a writer that calls Sync or gets many lines at a time.

Seen in the field: erigontech/erigon#20454, and the left-pad service of
"Profiling and optimizing Go web applications" (artem.krylysov.com, 2017),
where the system call under log was most of the CPU.`

// lines are the patterns to find, for each logger.
func lines() []finder.Line {
	var lines []finder.Line
	for _, l := range loggers {
		lines = append(lines,
			finder.Line{Start: finder.Sites(l.writing), Judge: l.judge, Unseen: l.unseen},
			finder.Line{Start: finder.Frames(l.event), Judge: l.through})
	}
	return lines
}

// writing selects the calls of the logger on a line, if they write.
func (l logger) writing(s *site.Site) rule.Match {
	m := finder.TakeCalls(s, l.calls...)
	if !slices.ContainsFunc(m.CPU, l.writes) {
		return rule.Match{Site: s}
	}
	return m
}

func (l logger) judge(c *finder.Case) bool {
	name, known := l.called(c.Place)
	if !known {
		name, c.Confidence = unknown, rule.Hint
	}
	l.fill(c.Pass, c.Match, name)
	return true
}

// unknown is the logger in a sentence when the call is not in the source.
const unknown = "the logger"

func (l logger) unseen(p *rule.Pass, m *rule.Match) { l.fill(p, m, unknown) }

// writes reports whether a row is in a write to a file that the logger calls
// directly or through an io.MultiWriter.
func (l logger) writes(r *site.Row) bool {
	for i := r.Owner - 1; i > 0; i-- {
		if r.Stack[i].Function != l.output {
			continue
		}
		for i--; i > 0 && r.Stack[i].Function == "io.(*multiWriter).Write"; i-- {
		}
		return r.Stack[i].Function == "os.(*File).Write"
	}
	return false
}

// queues reports whether a row waits for a mutex: in a logger, its holder
// writes meanwhile.
func queues(r *site.Row) bool {
	return r.Below("sync.(*Mutex).lockSlow") || r.Below("sync.(*Mutex).unlockSlow") ||
		r.Below("internal/sync.(*Mutex).lockSlow") || r.Below("internal/sync.(*Mutex).unlockSlow")
}

// fill completes a match that holds all rows of a logger's calls.
func (l logger) fill(p *rule.Pass, m *rule.Match, call string) {
	spent, _ := stacks.Sum(m.CPU)
	written, samples := stacks.Sum(stacks.Select(m.CPU, func(r *site.Row) bool { return l.writes(r) || queues(r) }))
	part := float64(written) / float64(max(spent, 1))
	m.Fraction = buffered(part)
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:    "of the log line's CPU in write(2) and in waiting for it",
		Value:   fmt.Sprintf("%s (%s)", units.Percent(part), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(p, "cpu", l.output),
	})
	waited, times := stacks.Sum(m.Block)
	if waited > 0 {
		m.Evidence = append(m.Evidence, rule.Evidence{
			What:  "this line waited for others in the logger",
			Value: fmt.Sprintf("%s in %d waits", units.Seconds(float64(waited)/1e9), times),
		})
	}
	m.Cause = fmt.Sprintf("%s writes each line directly to a file, pipe or terminal: a system call per line, under the logger's mutex.", call)
	m.Fix = "Give the logger a buffered writer that is flushed every second and at exit, or remove the line if nobody reads it."
}

// buffered is the part of a line's cost that a buffer saves. part is the share of the system call
// and of the wait for it. A buffer saves less, because it is copied and flushed, and more, because
// lines that do not wait do not use the scheduler. For the request line of examples/leftpad, with
// parts of 0.37 to 0.51, four pairs of recordings saved between 0.50 and 0.73 (worked out by hand,
// so roughly), some of it by a cheaper address. The high end is for removing the line, which the
// fix offers too.
func buffered(part float64) *rule.Fraction {
	return &rule.Fraction{Expect: part + 0.25*(1-part), Low: 0.75 * part, High: 1}
}

// called returns the name of the logger's function that the line calls.
func (l logger) called(place *gocode.Place) (string, bool) {
	for _, call := range syntax.CallsOf(place, l.types...) {
		return place.CalleeName(call), true
	}
	return "", false
}
