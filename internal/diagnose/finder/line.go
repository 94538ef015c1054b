package finder

import (
	"context"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// Line finds lines whose rows and source show a mistake. It starts from rows of the
// profile and judges the source around each line.
type Line struct {
	Claim rule.Claim
	// Start selects lines and rows.
	Start Start
	// Judge decides, and fills in cause and fix. If it leaves the confidence empty,
	// [evidence.Weigh] sets it.
	Judge func(*Case) bool
	// Unseen fills in the cause and fix of a hint about a line whose source is not available. If it
	// is nil, the rows alone show no mistake, and the rule reports nothing.
	Unseen func(*rule.Pass, *rule.Match)
}

// Words are the cause and the fix of a match.
type Words struct{ Cause, Fix string }

// Fill puts the words into a match. It fits [Line.Unseen].
func (w Words) Fill(_ *rule.Pass, m *rule.Match) { m.Cause, m.Fix = w.Cause, w.Fix }

// Case is a line that is judged.
type Case struct {
	*rule.Match
	Pass  *rule.Pass
	Place *gocode.Place
	// Calls are the calls on the line of the functions that [Calls] names, outermost first: at
	// least one. Other starts leave it empty.
	Calls []*ast.CallExpr
}

// All reports whether is holds for every call.
func (c *Case) All(is func(*ast.CallExpr) bool) bool {
	for _, call := range c.Calls {
		if !is(call) {
			return false
		}
	}
	return true
}

// Name returns the full name of the first call's function.
func (c *Case) Name() string { return c.Place.CalleeName(c.Calls[0]) }

// Claims returns how the matches are priced.
func (l Line) Claims() rule.Claim { return l.Claim }

// Find judges every line that the start selects.
func (l Line) Find(_ context.Context, p *rule.Pass) ([]rule.Match, error) { return l.find(p), nil }

func (l Line) find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	for _, m := range l.Start.matches(p) {
		if l.decide(p, m) {
			matches = append(matches, *m)
		}
	}
	return matches
}

// decide reports whether a match holds, and completes it.
func (l Line) decide(p *rule.Pass, m *rule.Match) bool {
	if place := p.Place(m.Site); place != nil {
		c := &Case{Match: m, Pass: p, Place: place}
		if !l.Start.of(c) || !l.Judge(c) || m.Empty() && m.Saving == nil {
			return false
		}
		if m.Confidence == "" {
			m.Confidence = evidence.Weigh(p, m.Site, false)
		}
	} else if l.Unseen != nil {
		l.Unseen(p, m)
		m.Confidence = rule.Hint
	} else {
		return false
	}
	l.Start.complete(p, m)
	return true
}

// Prepared is a [Line] whose start and judge share what they compute about a recording. It needs
// the source, so the line has no words for lines without.
type Prepared struct {
	Claim rule.Claim
	// Prepare returns the line to look for in a recording, without a start when the recording
	// cannot show it. The claim of that line is not used.
	Prepare func(ctx context.Context, p *rule.Pass) Line
}

// Claims returns how the matches are priced.
func (l Prepared) Claims() rule.Claim { return l.Claim }

// Find prepares the line and finds it.
func (l Prepared) Find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
	if p.Syntax == nil {
		return nil, nil
	}
	line := l.Prepare(ctx, p)
	if line.Start == nil {
		return nil, ctx.Err()
	}
	return line.find(p), ctx.Err()
}

// Patterns is a rule with several patterns, each of which is a [Line].
type Patterns struct {
	Claim rule.Claim
	// Lines find one pattern each. Their claims are not used.
	Lines []Line
	// Prepare returns further lines, which share what they compute about a recording; nil for none.
	Prepare func(p *rule.Pass) []Line
}

// Claims returns how the matches are priced.
func (l Patterns) Claims() rule.Claim { return l.Claim }

// Find finds the patterns one after the other.
func (l Patterns) Find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	lines := l.Lines
	if l.Prepare != nil {
		lines = append(slices.Clip(lines), l.Prepare(p)...)
	}
	var matches []rule.Match
	for _, line := range lines {
		matches = append(matches, line.find(p)...)
	}
	return matches, nil
}
