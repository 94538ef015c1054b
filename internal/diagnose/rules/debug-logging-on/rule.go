// Package debugloggingon finds debug records that are not only made but written.
package debugloggingon

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// Rule is debug-logging-on.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "debug-logging-on",
		Kind:    rule.Config,
		Setting: true,
		Title:   "Debug logging is on",
		Doc:     doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// With the level off the call tests it and returns; boxing its arguments stays.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.75, High: 0.98},
				Specificity: 2, // what else could be done about the line does not matter when it goes
			},
			Loop: find,
		},
	}
}

const doc = `A debug line costs a nanosecond while its level is off, and a microsecond and a
write when it is on: formatting, the handler's lock, the output. The profile
shows the handler at work below debug calls, so the level was on during the
recording.

Set the level to info in production; keep it in a slog.LevelVar to change it at
run time.

It is fine while you debug a problem. If the recording used other settings than
production, record again with those of production.

Seen in the field: oxia-db/oxia#1186 and osrg/gobgp#2774 are about what debug
lines cost even when off.`

// handling is what a logger calls once the level has let a record through.
var handling = []string{
	"log/slog.(*commonHandler).handle", "log/slog.(*TextHandler).Handle", "log/slog.(*JSONHandler).Handle", "log/slog.(*defaultHandler).Handle",
	"go.uber.org/zap/zapcore.(*CheckedEntry).Write",
	"github.com/sirupsen/logrus.(*Entry).write", "github.com/sirupsen/logrus.(*Entry).log",
	"github.com/rs/zerolog.(*Event).msg", "github.com/rs/zerolog.(*Event).write",
}

func find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
	s := finder.Line{
		Start: finder.Calls{Functions: []string{
			"log/slog.Debug", "log/slog.DebugContext", "log/slog.(*Logger).Debug", "log/slog.(*Logger).DebugContext",
			"go.uber.org/zap.(*Logger).Debug", "go.uber.org/zap.(*SugaredLogger).Debug*",
			"github.com/sirupsen/logrus.Debug*", "github.com/sirupsen/logrus.(*Logger).Debug*", "github.com/sirupsen/logrus.(*Entry).Debug*",
		}},
		Judge:  judge,
		Unseen: words("The logger"),
	}
	var written []rule.Match
	matches, err := s.Find(ctx, p)
	for _, m := range matches {
		for _, r := range m.CPU {
			if handled(r) {
				written = append(written, m)
				break
			}
		}
	}
	return written, err
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
	w := words(funcname.Short(c.Name()))
	c.Cause, c.Fix = w.Cause, w.Fix
	c.Confidence = rule.Likely // the recording's settings may not be production's
	return true
}

func words(logger string) *finder.Words {
	return &finder.Words{
		Cause: fmt.Sprintf("%s writes its records: the debug level was on during the recording.", logger),
		Fix:   "Set the level to info where the program serves, with a slog.LevelVar to switch it at run time.",
	}
}
