// Package unboundedlabels finds metrics that keep a series for each of many label values.
package unboundedlabels

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/labelled"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is unbounded-labels.
func Rule() rule.Rule {
	return rule.Rule{
		ID:              "unbounded-labels",
		Kind:            rule.Leak,
		Title:           "Metric that keeps a series for each client or request",
		Doc:             doc,
		Needs:           []rule.Need{rule.NeedTrace}, // which shows that the program serves requests
		Finder:          finder.Trace{Judge: find},
		SkipsBenchmarks: true,
		Urgent:          true,
	}
}

const doc = `A metric with labels, or with attributes of OpenTelemetry, keeps one series in
memory for each different combination of their values, and never drops one. A
counter takes 200 bytes, a histogram a kilobyte. If a value comes from the
client (the path of the URL, its address with the port, a header, an
identifier), or is the text of an error, memory grows with the number of clients
and requests, and anybody can make it grow. Each scrape encodes all series
again, and the server that stores them pays for each as well.

Use labels with few values: the pattern of the route instead of the path, the
class of the status, the kind of the error. Put the rest into log lines and
traces. If a value must be a label, remove its series when it is no longer used
(DeleteLabelValues), or count all values but the first hundred as "other".

It is fine for values whose number is known to be small, such as the tenants of
an installation. The rule reports a line if its series take a megabyte or more,
and the source shows where the values come from, or if each request leaves a
series behind.

Seen in the field: openmeterio/openmeter#2818 (the URL as a label),
zsais/go-gin-prometheus#36, open-telemetry/opentelemetry-go-contrib#3071 (the
port of the peer), wippyai/runtime#426.`

func find(p *rule.Pass) (matches []rule.Match) {
	if !traced.Serves(p) {
		return nil // what a program that exits counts is its result
	}
	for _, s := range labelled.SeriesOf(p) {
		matches = append(matches, match(p, &s))
	}
	return matches
}

func match(p *rule.Pass, s *labelled.Series) rule.Match {
	// A label with few values leaves next to nothing; another label may have many, too.
	m := rule.Match{Site: s.Site, Live: s.Live, Confidence: rule.Likely, Fraction: &rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}}
	if s.Grown > s.Bytes/2 {
		m.Confidence = rule.Measured
	}
	name, why := which(s), "each request brings new ones"
	if len(s.Many) > 0 {
		has := "has"
		if len(s.Many) > 1 {
			has = "have"
		}
		why = fmt.Sprintf("%s %s as many values as clients send%s", name, has, sources(s))
	}
	m.Cause = fmt.Sprintf("%s keeps a series for each different combination of its labels, for as long as the program runs, and %s. They take %s of live memory%s.",
		syntax.Text(s.Call.Fun), why, units.Bytes(float64(s.Bytes)), rate(p, s))
	m.Fix = fmt.Sprintf("Leave %s out of the labels, and use what has few values: the pattern of the route, a class of clients, the kind of the error. Put the value itself into a log line or a trace. If it must be a label, delete its series when it is no longer used, or limit how many there are.", name)
	if s.Site.Owner.Kind == gocode.Dependency {
		m.Fix += " See whether the module has an option for that."
	}
	m.Evidence = []rule.Evidence{
		{What: "live memory of the series", Value: units.Bytes(float64(s.Bytes)), Command: evidence.ListCommand(p, "inuse_space", s.Site.Function)},
	}
	for _, r := range s.Live {
		for _, f := range r.Stack {
			if in := p.Inputs.Of(f.Function); in != nil && labelled.Resolves(f.Function) && in.Hashed > 0 && len(m.Evidence) == 1 {
				m.Evidence = append(m.Evidence, rule.Evidence{What: "different labels of " + symbol.Short(f.Function), Value: fmt.Sprintf("%s in %s calls", units.Count(in.Different), units.Count(in.Hashed))})
			}
		}
	}
	return m
}

// which returns the labels with many values, or the names of those that may be it.
func which(s *labelled.Series) string {
	var names []string
	for _, many := range s.Many {
		names = append(names, many.Label)
	}
	if len(names) > 0 {
		return funcname.List(names)
	}
	for _, l := range s.Labels {
		if _, constant := l.Const(l.Value); !constant {
			names = append(names, syntax.Text(l.Value))
		}
	}
	if len(names) == 0 {
		return "the value that differs"
	}
	return "what differs (" + funcname.List(names) + ")"
}

// sources says where the labels with many values come from, if their own text does not.
func sources(s *labelled.Series) string {
	var words []string
	for _, many := range s.Many {
		if from := syntax.Text(many.Value); from != many.Label {
			words = append(words, fmt.Sprintf("%s is %s (%s)", many.Label, from, syntax.Where(many.Place, many.Value.Pos())))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + funcname.List(words)
}

// rate says how fast the series grow; "" if they do not.
func rate(p *rule.Pass, s *labelled.Series) string {
	ph, ok := p.Phase(recording.PhaseCPU)
	if !ok || ph.Seconds <= 0 || s.Grown <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s of it new in %s: %s a minute", units.Bytes(float64(s.Grown)), units.Seconds(ph.Seconds), units.Bytes(float64(s.Grown)/ph.Seconds*60))
}
