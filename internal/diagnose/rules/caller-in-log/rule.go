// Package callerinlog finds log lines that look up the file and line of their caller.
package callerinlog

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is caller-in-log.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "caller-in-log",
		Kind:  rule.CPU,
		Title: "File and line looked up for every log line",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				Removes: true,
				// The rows are the lookup, which is gone without the flag.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.9, High: 1},
				Specificity: 1,
			},
			Lines: []finder.Line{
				{
					Start:  finder.Calls{Functions: calls(), Keep: lookup},
					Judge:  judge,
					Unseen: words("the logger").Fill,
				},
				{Start: finder.Frames(event), Judge: judgeEvent},
			},
		},
	}
}

const doc = `With log.Lshortfile or Llongfile, AddSource of slog, SetReportCaller of logrus,
AddCaller of zap or Caller of zerolog, each line walks the stack to its caller
and decodes the binary's line tables to find the file and line. That takes half
a microsecond to a microsecond, often more than formatting the text. The tables
are optimized for size, not speed.

Omit the location where log lines are frequent: a message that is unique in the
source locates the line as well. Or keep it only for warnings and errors, with a
separate logger.

It is fine for rare lines. Locations help debugging; the rule only reports their
cost.

Seen in the field: uber-go/zap#1052, sirupsen/logrus#1323 (20 to 40 % of the
time of a log line).`

// calls are the functions that the rule looks for.
func calls() []string {
	callees := []string{"log.Print*", "log.Output", "log.(*Logger).Print*", "log.(*Logger).Output"}
	for _, level := range []string{"Debug", "Info", "Warn", "Error", "Log"} {
		callees = append(callees, "log/slog."+level+"*", "log/slog.(*Logger)."+level+"*")
	}
	return callees
}

// lookup reports whether a row is in finding the caller's file and line. (slog always gets the
// caller's program counter with runtime.Callers; that does not count.)
func lookup(r *site.Row) bool {
	return r.Below("runtime.Caller") || r.Below("runtime.CallersFrames") || r.Below("runtime.(*Frames).Next") || r.Below("log/slog.(*Record).Source") || r.Below("log/slog.Record.Source")
}

func judge(c *finder.Case) bool {
	words(symbol.Short(c.Name())).Fill(c.Pass, c.Match)
	return true
}

func words(logger string) finder.Words {
	return finder.Words{
		Cause: fmt.Sprintf("%s walks the stack and searches the line tables for the caller's file and line, for every log line.", logger),
		Fix:   "Remove Lshortfile or Llongfile from the logger's flags (AddSource in slog), or keep them only for a logger of rare messages.",
	}
}
