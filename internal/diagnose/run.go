package diagnose

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// pricer is the part of a site.Table that the engine uses.
type pricer interface {
	Price(cpu, allocs []*site.Row) (site.Cost, stats.Interval)
	Share(cpu, allocs []*site.Row) stats.Interval
}

// engine is the state that the steps of one diagnosis share.
type engine struct {
	pass     *rule.Pass
	manifest recording.Manifest
	table    pricer
	silencer *silencer
	totals   site.Totals

	candidates        candidates // newer versions of blamed dependencies
	limiting          string
	why               string
	requestSeconds    float64              // total time of all requests in the contention window; 0 when unknown
	contentionSeconds float64              // length of that window
	faults            stats.Interval       // CPU seconds of the profile in page faults
	cycling           stats.Interval       // CPU seconds of the profile in the scheduler, for cycles of the collector
	barriers          []*site.Row          // of the CPU profile, in write barriers
	owners            map[*site.Row]*claim // of the rows that claims of known mistakes got
	grown             []*site.Row          // of live memory that grew and that they did not get
}

// Rules returns all rules, in the order in which they run.
func Rules() []rule.Rule { return rules.All() }

// Explain returns the rule with that ID, for its title and prose.
func Explain(id string) (rule.Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return rule.Rule{}, false
}

// Run runs the rules that the user chose over the pass and ranks what they find. It fails when the
// choice names what does not exist, when a rule fails, and when ctx ends.
func Run(ctx context.Context, p *rule.Pass, c Choice) (*Report, error) {
	return run(ctx, p, p.Table, Rules(), c)
}

// run is Run with given rules and prices.
func run(ctx context.Context, p *rule.Pass, prices pricer, all []rule.Rule, c Choice) (*Report, error) {
	rules, off, err := c.chosen(all)
	if err != nil {
		return nil, err
	}
	e := newEngine(p, prices)
	e.silencer = &silencer{pass: p, known: choice.KnownRules(all), file: c.File, said: map[claimPlace]muting{}}
	claims, broken, err := find(ctx, p, rules)
	if err != nil {
		return nil, err
	}
	charge(claims)
	claims = e.unexplained(claims)
	e.owners, e.grown = owners(claims), e.grownRows(claims)
	var code, settings, small []*draft
	drafts, silenced := e.silence(e.group(claims))
	e.nest(drafts)
	for _, d := range drafts {
		switch {
		case e.above(d) && d.setting():
			settings = append(settings, d)
		case e.above(d):
			code = append(code, d)
		case !d.rule.Generic:
			small = append(small, d)
		}
	}
	e.rank(code)
	e.rank(settings)
	hidden := len(small) - e.accompany(code, small)
	e.candidates = e.newer(ctx, slices.Concat(code, settings))
	report := &Report{
		Schema: Schema,
		Recording: RecordingRef{
			ID:     e.manifest.ID,
			Path:   p.RecordingPath,
			Target: e.manifest.Target.Name(),
			Go:     e.manifest.Runtime.Go,
			Module: e.manifest.Runtime.Module,
		},
		Resources: e.resources(),
		Findings:  e.list(code),
		Settings:  e.list(settings),
		Hidden:    Hidden{BelowFloor: hidden, Floor: floor(e.totals.CPUSamples)},
		Silenced:  silenced,
		RulesOff:  off,
		Notes:     e.notes(code, settings),
		Join:      join(p),
	}
	report.Notes = append(report.Notes, e.silencer.notes...)
	report.Notes = append(report.Notes, broken...)
	report.Notes = append(report.Notes, joinNotes(report.Join)...)
	return report, nil
}

// list describes ranked drafts in words, with their ranks and ties.
func (e *engine) list(drafts []*draft) []Finding {
	list := make([]Finding, 0, len(drafts))
	for i, d := range drafts {
		f := e.finding(d)
		f.Rank = i + 1
		d.nested(&f, drafts)
		for _, s := range d.also {
			f.Also = append(f.Also, e.finding(s))
		}
		list = append(list, f)
	}
	for i := 1; i < len(drafts); i++ {
		if e.tied(drafts[i-1], drafts[i]) {
			a, b := &list[i-1], &list[i]
			a.TiedWith = append(a.TiedWith, b.Rank)
			b.TiedWith = append(b.TiedWith, a.Rank)
		}
	}
	return list
}

func newEngine(p *rule.Pass, prices pricer) *engine {
	e := &engine{pass: p, table: prices}
	if p.Manifest != nil {
		e.manifest = *p.Manifest
	}
	if p.Table != nil {
		e.totals = p.Table.Totals
	}
	e.requestSeconds = e.requestTime()
	e.limiting, e.why = e.limit()
	e.faults = e.faultSeconds()
	e.cycling = e.cyclingSeconds()
	e.barriers = e.barrierRows()
	if ph, ok := e.phase(recording.PhaseContention); ok {
		e.contentionSeconds = ph.Seconds
	}
	return e
}

// find runs the rules. It drops matches without claims, and those of a benchmark's harness. broken
// has a note for each rule that panicked: the findings of the others are worth having.
func find(ctx context.Context, p *rule.Pass, rules []rule.Rule) (claims []*claim, broken []string, err error) {
	harness := newHarness(p)
	for _, r := range rules {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if r.SkipsBenchmarks && p.Benchmark() {
			continue
		}
		matches, panicked, err := findOne(ctx, p, r)
		if err != nil {
			return nil, nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if panicked != "" {
			broken = append(broken, fmt.Sprintf("rule %s failed, so its findings are missing. This is a defect of hone, please report it: %s", r.ID, panicked))
		}
		for _, m := range matches {
			if !harness.strip(&m) || m.Empty() && m.Saving == nil && !r.Urgent {
				continue
			}
			claims = append(claims, &claim{rule: r, match: m, order: len(claims)})
		}
	}
	return claims, broken, nil
}

// findOne runs a rule; panicked says what it panicked with, and where.
func findOne(ctx context.Context, p *rule.Pass, r rule.Rule) (matches []rule.Match, panicked string, err error) {
	defer func() {
		x := recover()
		if x == nil {
			return
		}
		matches, panicked = nil, fmt.Sprint(x)
		var stack [16]uintptr
		frames := runtime.CallersFrames(stack[:runtime.Callers(2, stack[:])])
		for f, more := frames.Next(); more; f, more = frames.Next() {
			if !strings.HasPrefix(f.Function, "runtime.") {
				panicked += fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
				return
			}
		}
	}()
	matches, err = r.Find(ctx, p)
	return matches, "", err
}
