package unbufferedlog

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// module is a logger outside of the standard library. Lines of its module own what it spends.
type module struct {
	name      string
	functions string // how its names in profiles start
	// own says that its own line is reported: a middleware, which no line of the program calls.
	own bool
	fix string
}

func modules() []module {
	const file = "Give the logger a buffered writer that is flushed every second and at exit"
	return []module{
		{"zap", "go.uber.org/zap*", false, "Wrap the output in a zapcore.BufferedWriteSyncer, and call Sync at exit"},
		{"zerolog", "github.com/rs/zerolog*", false, file + " (package diode of zerolog has one)"},
		{"logrus", "github.com/sirupsen/logrus.*", false, file},
		{"hclog", "github.com/hashicorp/go-hclog.*", false, file},
		{"go-kit log", "github.com/go-kit/log*", false, file},
		{"charmbracelet/log", "github.com/charmbracelet/log*", false, file},
		{"phuslu/log", "github.com/phuslu/log.*", false, "Use its AsyncWriter"},
		{"klog", "k8s.io/klog*", false, "Write to a file with -logtostderr=false, which klog buffers"},
		{"gin's Logger", "github.com/gin-gonic/gin.LoggerWithConfig*", true, "Set its Output to a buffered writer that is flushed every second and at exit"},
		{"echo's Logger", "github.com/labstack/echo*/middleware.LoggerWithConfig*", true, "Set its Output to a buffered writer that is flushed every second and at exit"},
		{"gorilla's LoggingHandler", "github.com/gorilla/handlers.write*", true, "Give it a buffered writer that is flushed every second and at exit"},
	}
}

// moduleLines are the patterns for these loggers.
func moduleLines() (lines []finder.Line) {
	for _, m := range modules() {
		judge := func(c *finder.Case) bool { return m.fill(c.Pass, c.Match) }
		lines = append(lines, finder.Line{Start: finder.Frames(m.event), Judge: judge})
	}
	return lines
}

func (m module) has(f *site.Frame) bool { return funcname.Match(f.Function, m.functions) }

// event returns the index of the frame whose line logs; -1 for rows that are not below a logger.
func (m module) event(r *site.Row) int {
	for i, f := range r.Stack {
		if i == 0 || !m.has(r.Stack[i-1]) || m.has(f) {
			continue
		}
		if m.own {
			i--
		}
		if k := r.Stack[i].Owner.Kind; k == gocode.Main || k == gocode.Dependency {
			return i
		}
		return -1
	}
	return -1
}

// writes reports whether a row is in a write to a file that the logger makes, without a buffer.
func (m module) writes(r *site.Row) bool {
	_, ok := written(r, m.has)
	return ok
}

// each reports whether the writers of the program that the logger has write each line, if any.
func (m module) each(p *rule.Pass, match *rule.Match) bool {
	for _, r := range match.CPU {
		if writers, ok := written(r, m.has); ok && len(writers) > 0 {
			return each(p, &match.Site.Frame, writers[0])
		}
	}
	return true
}

// fill completes a match that holds all rows of a line's events, and reports whether they write.
func (m module) fill(p *rule.Pass, match *rule.Match) bool {
	match.Allocs = nil
	spent, _ := stacks.Sum(match.CPU)
	written, samples := stacks.Sum(stacks.Select(match.CPU, func(r *site.Row) bool { return m.writes(r) || queues(r) }))
	if !slices.ContainsFunc(match.CPU, m.writes) || !m.each(p, match) {
		return false
	}
	part := float64(written) / float64(max(spent, 1))
	match.Fraction = buffered(part)
	match.Cause = fmt.Sprintf("%s writes each line of this event directly to a file, pipe or terminal: a system call per line.", m.name)
	match.Fix = m.fix + ", or remove the line if nobody reads it."
	match.Evidence = append(match.Evidence, rule.Evidence{
		What:    "of the log line's CPU in write(2) and in waiting for it",
		Value:   fmt.Sprintf("%s (%s)", units.Percent(part), units.Some(float64(samples), "sample")),
		Command: evidence.ListCommand(p, "cpu", match.Site.Function),
	})
	return true
}
