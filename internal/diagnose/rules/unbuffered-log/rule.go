// Package unbufferedlog finds log lines that each cost a write system call.
package unbufferedlog

import (
	"context"
	"fmt"

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
	// output is the function that hands a finished line to the logger's writer.
	output string
	// calls are the functions that users call, as profiles and as types write them.
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
		Finder: finder.Lines{
			Claim: rule.Claim{
				// Each match overrides it by the part of the line's cost that is the write
				// itself: see buffered.
				Fraction: rule.Fraction{Expect: 0.6, Low: 0.3, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `The loggers of package log and log/slog hand every line to their writer at
once, under a mutex. When that writer is a file, a pipe or the terminal, each
line is a write system call, and the goroutines that log at the same time wait
for it one behind the other. In a service that logs on each request this is
often the largest part of its CPU.

Put a bufio.Writer between the logger and the file (with a mutex of its own,
flushed every second and at exit), or do not log what nobody reads.

What buffering costs: the last lines are lost when the program crashes, and
lines appear later. For an audit log that may be wrong; then batch in the
program instead. It is fine for logs that are rare.

The standard library's loggers are known by name; the write must follow the
logger directly, so a logger that already writes into a buffer is left alone.

Seen in the field: erigontech/erigon#20454, and the left-pad service of
"Profiling and optimizing Go web applications" (artem.krylysov.com, 2017),
where the system call under log was most of the CPU.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		for _, l := range loggers {
			m := finder.TakeCalls(s, l.calls...)
			writes := stacks.Select(m.CPU, l.writes)
			if len(writes) == 0 {
				continue
			}
			l.fill(p, &m, append(writes, stacks.Select(m.CPU, queues)...))
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// writes reports whether a row is in a write to a file that the logger called
// itself, perhaps through an io.MultiWriter.
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

// queues reports whether a row is spent in a mutex that others hold: under a logger
// they hold it while they write.
func queues(r *site.Row) bool {
	return r.Below("sync.(*Mutex).lockSlow") || r.Below("sync.(*Mutex).unlockSlow") ||
		r.Below("internal/sync.(*Mutex).lockSlow") || r.Below("internal/sync.(*Mutex).unlockSlow")
}

// fill says what the match is about. m holds all rows of the call, writes those of
// the system call and of waiting for it.
func (l logger) fill(p *rule.Pass, m *rule.Match, writes []*site.Row) {
	spent, _ := stacks.Sum(m.CPU)
	written, samples := stacks.Sum(writes)
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
	call := "the logger"
	m.Confidence = rule.Hint
	if place := p.Place(m.Site); place != nil {
		if name, ok := l.called(place); ok {
			call = name
			m.Confidence = evidence.Weigh(p, m.Site, false)
		}
	}
	m.Cause = fmt.Sprintf("%s writes each line straight to a file, pipe or terminal: a system call per line, under the logger's mutex.", call)
	m.Fix = "Give the logger a buffered writer that is flushed every second and at exit, or remove the line if nobody reads it."
}

// buffered is what a buffer saves of a line's cost of which a part is the system call and waiting for
// it: that part, less copies and a flush now and then. It saves more, for lines that wait for nobody
// do not make the scheduler work: of the request line of examples/leftpad, with parts of 0.37 to 0.51,
// between 0.50 and 0.73 were saved in four pairs of recordings (worked out by hand, so roughly), of which its
// cheaper address had some. The high end is for dropping the line, which the fix offers too.
func buffered(part float64) *rule.Fraction {
	return &rule.Fraction{Expect: part + 0.25*(1-part), Low: 0.75 * part, High: 1}
}

// called names the call on the line as the source has it.
func (l logger) called(place *gocode.Place) (string, bool) {
	for _, call := range syntax.CallsOf(place, l.types...) {
		return place.CalleeName(call), true
	}
	return "", false
}
