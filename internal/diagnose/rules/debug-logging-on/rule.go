// Package debugloggingon finds debug log records that are written.
package debugloggingon

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is debug-logging-on.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "debug-logging-on",
		Kind:    rule.Config,
		Setting: true,
		Title:   "Debug logging is on",
		Doc:     doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// With the level off the call only checks it. Boxing the arguments remains.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.75, High: 1},
				Specificity: 2, // other advice on the line is moot when the line writes nothing
			},
			Start:  finder.Sites(written),
			Judge:  judge,
			Unseen: words("The logger").Fill,
		},
	}
}

const doc = `A debug line costs a nanosecond when its level is off, and a microsecond and a
write when it is on: formatting, the handler's lock, the output. The profile
shows the handler below debug calls, so the level was on during the recording.

Set the level to info in production; keep it in a slog.LevelVar to change it at
run time.

It is fine while you debug a problem. If production runs with other settings than
the recording, record again with those.

Seen in the field: oxia-db/oxia#1186 and osrg/gobgp#2774, about the cost of debug
lines even when the level is off.`

// handling are the functions that a logger calls for a record whose level is enabled.
var handling = []string{
	"log/slog.(*commonHandler).handle", "log/slog.(*TextHandler).Handle", "log/slog.(*JSONHandler).Handle", "log/slog.(*defaultHandler).Handle",
	"go.uber.org/zap/zapcore.(*CheckedEntry).Write",
	"github.com/sirupsen/logrus.(*Entry).write", "github.com/sirupsen/logrus.(*Entry).log",
	"github.com/rs/zerolog.(*Event).msg", "github.com/rs/zerolog.(*Event).write",
}

// calls log at the debug level.
var calls = []string{
	"log/slog.Debug", "log/slog.DebugContext", "log/slog.(*Logger).Debug", "log/slog.(*Logger).DebugContext",
	"go.uber.org/zap.(*Logger).Debug", "go.uber.org/zap.(*SugaredLogger).Debug*",
	"github.com/sirupsen/logrus.Debug*", "github.com/sirupsen/logrus.(*Logger).Debug*", "github.com/sirupsen/logrus.(*Entry).Debug*",
}

// written selects the rows of debug calls on a line whose records were written.
func written(s *site.Site) rule.Match {
	m := finder.TakeCalls(s, calls...)
	m.Keep(stacks.Steady)
	if !slices.ContainsFunc(m.CPU, handled) {
		return rule.Match{Site: s}
	}
	return m
}

func handled(r *site.Row) bool {
	for _, h := range handling {
		if r.Below(h) {
			return true
		}
	}
	return false
}

func judge(c *finder.Case) bool {
	logs := syntax.CallsOf(c.Place, funcname.TypedAll(calls)...)
	if len(logs) == 0 {
		return false
	}
	words(symbol.Short(c.Place.CalleeName(logs[0]))).Fill(c.Pass, c.Match)
	c.Confidence = rule.Likely // production may have other settings
	return true
}

func words(logger string) finder.Words {
	return finder.Words{
		Cause: fmt.Sprintf("%s writes its records: the debug level was on during the recording.", logger),
		Fix:   "Set the level to info in production, with a slog.LevelVar to switch it at run time.",
	}
}
