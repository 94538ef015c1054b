package callerinlog

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// logger is a package that can look up the caller of each event: how its names in profiles start,
// and how to turn the lookup off.
type logger struct{ name, functions, fix string }

func loggers() []logger {
	return []logger{
		{"logrus", "github.com/sirupsen/logrus.*", "Remove SetReportCaller(true)"},
		{"zap", "go.uber.org/zap*", "Build the logger with zap.WithCaller(false), without AddCaller and AddStacktrace"},
		{"zerolog", "github.com/rs/zerolog.*", "Remove Caller() from the logger's context and events"},
	}
}

// known returns the logger whose package has a function.
func known(function string) (logger, bool) {
	for _, l := range loggers() {
		if funcname.Match(function, l.functions) {
			return l, true
		}
	}
	return logger{}, false
}

// finders are the functions of package runtime that find a caller and its line.
func finders() []string {
	return []string{"runtime.Callers", "runtime.Caller", "runtime.CallersFrames", "runtime.(*Frames).Next"}
}

// event returns the frame that logs an event whose logger looks up the caller itself; -1 for none.
func event(r *site.Row) int {
	at := -1
	for i, f := range r.Stack {
		if funcname.Match(f.Function, finders()...) {
			at = i
		}
	}
	if at < 0 {
		return -1
	}
	for i := at + 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if _, ok := known(f.Function); ok {
			continue
		}
		if k := f.Owner.Kind; i > at+1 && (k == gocode.Main || k == gocode.Dependency) {
			return i
		}
		return -1
	}
	return -1
}

// judgeEvent fills in the words for a line that logs events.
func judgeEvent(c *finder.Case) bool {
	c.Callees = finders()
	for _, rows := range [][]*site.Row{c.CPU, c.Allocs} {
		for _, r := range rows {
			for _, f := range r.Stack {
				l, ok := known(f.Function)
				if !ok {
					continue
				}
				c.Cause = fmt.Sprintf("%s walks the stack and searches the line tables for the caller's file and line, for every event that this line logs.", l.name)
				c.Fix = l.fix + ", or keep it only for a logger of rare events: the message locates the line as well."
				return true
			}
		}
	}
	return false
}
