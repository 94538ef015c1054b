// Package prettylog finds log events whose formatting for people costs more than logging them.
package prettylog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is pretty-log.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pretty-log",
		Kind:  rule.CPU,
		Title: "Log events formatted for people on a hot path",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// An event of four fields, medians of six interleaved runs on a busy machine:
				// zerolog wrote JSON in 0.45 µs and took 14 µs through its ConsoleWriter;
				// charmbracelet/log took 4.8 µs for JSON, 34 µs for text and 92 µs for coloured
				// text. The writes to the output are not among the rows.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.8, High: 1},
				Specificity: 1, // json-to-any reports only the decoding
				Removes:     true,
			},
			Start: finder.Frames(caller),
			Judge: judge,
			Unseen: finder.Words{
				Cause: "Each log event is formatted for people, which costs a multiple of logging it as JSON.",
				Fix:   "Log JSON in production, and format it where people read it.",
			}.Fill,
		},
	}
}

const doc = `Some loggers do the work twice to format for people.
zerolog.ConsoleWriter gets each event as JSON that the logger has just encoded:
it decodes that into a map, sorts the keys and colours the parts, which takes
about 14 µs where the event itself takes half a microsecond. Writers of the
program that decode the lines of slog's JSON handler do the same. Others render
each key and value through a library of terminal styles.

Log JSON (or plain text) in production, and format it where people read it: pipe
the output through a tool, or choose the writer by whether the output is a
terminal.

It is fine in command-line tools and in development. The rule ignores console
encoders that cost about as much as JSON; by measurement, those of zap, logrus
and slog's text handler do.

Seen in the field: rs/zerolog#381 (its author: not meant for production).`

// loggers are packages that log, as in the names of profiles.
func loggers() []string {
	return []string{
		"github.com/rs/zerolog.*", "go.uber.org/zap*", "log/slog.*", "log.*", "github.com/sirupsen/logrus.*",
		"github.com/phuslu/log.*", "github.com/go-kit/log*", "github.com/charmbracelet/log.*",
	}
}

// decoders are functions that decode JSON.
func decoders() []string {
	return []string{
		"encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode", "encoding/json/v2.Unmarshal*", "github.com/goccy/go-json.Unmarshal*",
		"github.com/json-iterator/go.(*frozenConfig).Unmarshal*", "github.com/tidwall/gjson.*", "github.com/bytedance/sonic.*",
	}
}

// stylers are formatters that render each part through a library of terminal styles.
func stylers() []string {
	return []string{"github.com/charmbracelet/log.(*Logger).textFormatter"}
}

// caller returns the frame that formats for people: one that styles, or the Write below a logger
// that decodes its argument. Of several writers in a chain it is the one nearest to the leaf.
func caller(r *site.Row) int {
	if writes(r) {
		return -1
	}
	decoding := len(r.Stack) // of the calls that decode, the one nearest to the root
	for i, f := range r.Stack {
		switch {
		case funcname.Match(f.Function, decoders()...):
			decoding = i
		case f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency:
		case funcname.Match(f.Function, stylers()...):
			return i
		case writer(f.Function) && (decoding < i || decodes(f.Function)) && logged(r, i):
			return i
		}
	}
	return -1
}

// writer reports whether a function is a method that a logger passes an encoded event to.
func writer(function string) bool {
	return strings.HasSuffix(function, ".Write") || strings.HasSuffix(function, ".WriteLevel")
}

// decodes reports whether a writer is known to decode; then all of its work is for people.
func decodes(function string) bool {
	return funcname.Match(function, "github.com/rs/zerolog.ConsoleWriter.Write", "github.com/rs/zerolog.(*ConsoleWriter).Write")
}

// logged reports whether a logger called the frame at i.
func logged(r *site.Row, i int) bool {
	return slices.ContainsFunc(r.Stack[i+1:min(len(r.Stack), i+4)], func(f *site.Frame) bool { return funcname.Match(f.Function, loggers()...) })
}

// writes reports whether a row is in the output, which remains.
func writes(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "os.(*File).Write", "internal/poll.(*FD).Write", "syscall.write", "syscall.Write")
	})
}

func judge(c *finder.Case) bool {
	function := symbol.Short(funcname.Typed(c.Site.Function))
	c.Callers = true
	if funcname.Match(c.Site.Function, stylers()...) {
		c.Cause = fmt.Sprintf("%s renders each key and value of a log event through terminal styles.", function)
		c.Fix = "Use the logger's JSON or logfmt formatter in production, and styles only if the output is a terminal."
		return true
	}
	c.Cause = fmt.Sprintf("%s decodes each log event from the JSON that the logger has just encoded, to format it for people.", function)
	c.Fix = "Let the logger write its JSON to the output directly, and format it where people read it; use this writer only if the output is a terminal."
	return true
}
