package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
)

// Result is a diagnosed recording.
type Result struct {
	Path     string
	Manifest recording.Manifest
	Cut      bool // the recording ended early
	Table    *site.Table
	Report   *diagnose.Report
	Code     *gocode.Index
	CPU      *profile.Profile  // of the recording; nil when it has none
	Trace    *analysis.Results // of the recording; nil when it has none, or one that cannot be read
	Lacking  []string          // notes on what the diagnosis had to do without; they are among the report's
}

// Which packages get syntax and compiler facts: those that own at least hotShare of
// the CPU or the allocated bytes, the most expensive hotPackages of them. Compiling a
// package costs about a second, so the long tail is not worth it.
const (
	hotShare    = 0.003
	hotPackages = 16
)

// Diagnose joins a recording with the code that it measured and runs every rule.
func Diagnose(ctx context.Context, c Config, path string) (*Result, error) {
	rec, err := c.Opener().Recording(path)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	path = rec.Path
	c.say("join", "reading the recording")
	in, notes, err := profiles(rec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in.Code, err = c.Opener().Code(ctx, rec, in.CPU)
	if err != nil {
		return nil, err
	}
	table, err := site.Join(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", path, err)
	}
	pass := &rule.Pass{Table: table, Code: in.Code, Manifest: &rec.Manifest, RecordingPath: c.Shelf().ShortName(path)}
	notes = append(notes, distrust(ctx, table, in.Code, in.CPU, in.Allocs)...)
	if pass.Metrics, pass.Goroutines, err = metrics(rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := goroutines(ctx, pass, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if pass.Growth, err = site.Growth(ctx, in.Code, in.Allocs); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if pass.Counts, err = source.Executions(rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if pass.Inputs, err = source.Inputs(rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var traced []string
	if pass.Trace, traced, err = c.readTrace(ctx, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	notes = append(notes, traced...)
	more, err := codeFacts(ctx, c, pass)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	c.say("diagnose", "looking for known mistakes")
	chosen := diagnose.Choice{Rules: c.Rules}
	if chosen.File, err = choice.Find(rec.Manifest.Target.Dir, choice.KnownRules(diagnose.Rules())); err != nil {
		notes = append(notes, fmt.Sprintf("%v: nothing in it is applied", err))
	}
	report, err := diagnose.Run(ctx, pass, chosen)
	if err != nil {
		return nil, fmt.Errorf("diagnose %s: %w", path, err)
	}
	if rec.Cut || !rec.Manifest.Complete {
		notes = append([]string{"the recording was cut short; the figures are of the part that there is"}, notes...)
	}
	report.Recording.Path = path
	report.Notes = append(notes, report.Notes...)
	if report.Notes == nil {
		report.Notes = []string{} // an empty list in JSON, not null
	}
	return &Result{Path: path, Manifest: rec.Manifest, Cut: rec.Cut, Table: table, Report: report, Code: in.Code, CPU: in.CPU, Trace: pass.Trace, Lacking: notes}, nil
}

// profiles decodes the profiles of a recording. A part that is not there is no error.
func profiles(rec *recording.Recording) (in site.Input, notes []string, err error) {
	for _, part := range []struct {
		name string
		to   **profile.Profile
	}{
		{recording.PartCPU, &in.CPU},
		{recording.PartAllocs, &in.Allocs},
		{recording.PartHeap, &in.Heap},
		{recording.PartBlock, &in.Block},
		{recording.PartMutex, &in.Mutex},
	} {
		if !rec.Has(part.name) {
			continue
		}
		p, err := source.Part(rec, part.name)
		if err != nil {
			return in, nil, err
		}
		*part.to = p
	}
	if in.CPU == nil {
		notes = append(notes, "there is no CPU profile in this recording, so nothing can be said about CPU")
	}
	if ph, ok := rec.Phase(recording.PhaseContention); ok {
		in.ContentionSeconds = ph.Seconds
	}
	if ph, ok := rec.Phase(recording.PhaseCPU); ok {
		in.CountedObjects = ph.AllocObjects
	}
	return in, notes, nil
}

// codeFacts loads syntax and compiler facts of the hot packages, side by side. What
// cannot be had is a note, not an error: the profiles still speak.
func codeFacts(ctx context.Context, c Config, pass *rule.Pass) ([]string, error) {
	// Without hot packages both are empty at once: nothing to look at, and so nothing missing.
	// The line that leads to a cost is read too, but the compiler is asked about the lines that own costs.
	pkgs, read := hot(pass.Table, false), hot(pass.Table, true)
	for _, pkg := range traced.Packages(pass, hotPackages/2) {
		if !slices.Contains(read, pkg) {
			read = append(read, pkg)
		}
	}
	var (
		wg                 sync.WaitGroup
		syntaxErr, factErr error
	)
	wg.Go(func() { pass.Syntax, syntaxErr = pass.Code.Syntax(ctx, read) })
	wg.Go(func() { pass.Facts, factErr = pass.Code.Facts(ctx, pkgs) })
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var notes []string
	if syntaxErr != nil {
		pass.Syntax = nil
		notes = append(notes, fmt.Sprintf("the program's packages could not be read (%v): findings rest on the profile alone", syntaxErr))
	}
	if factErr != nil {
		pass.Facts = nil
		notes = append(notes, fmt.Sprintf("the compiler could not be asked (%v): its reasons are missing", factErr))
	}
	return append(notes, pass.Code.Notes()...), nil
}

// hot lists the packages that own enough of the cost to be looked at, most expensive first; with entries
// also those of the main module's lines that lead to enough of it.
func hot(t *site.Table, entries bool) []string {
	type share struct {
		pkg  string
		cost float64
	}
	byPkg := map[string]float64{}
	for _, s := range t.Sites {
		if s.Owner.Kind != gocode.Main && s.Owner.Kind != gocode.Dependency || s.Owner.Package == "" {
			continue
		}
		cost := ratio(s.Cost.CPUSeconds+s.Cost.GCSeconds, t.Totals.TotalSeconds) +
			ratio(float64(s.Cost.AllocBytes), float64(t.Totals.AllocBytes))
		byPkg[s.Owner.Package] += cost
		if entries && s.Entry != nil && s.Entry.Owner.Package != "" && s.Entry.Owner.Package != s.Owner.Package {
			byPkg[s.Entry.Owner.Package] += cost
		}
	}
	var all []share
	for pkg, cost := range byPkg {
		if cost >= hotShare {
			all = append(all, share{pkg, cost})
		}
	}
	slices.SortFunc(all, func(a, b share) int {
		if a.cost != b.cost {
			if a.cost > b.cost {
				return -1
			}
			return 1
		}
		if a.pkg < b.pkg {
			return -1
		}
		return 1
	})
	var pkgs []string
	for _, s := range all[:min(len(all), hotPackages)] {
		pkgs = append(pkgs, s.pkg)
	}
	return pkgs
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// metricsLine is one line of metrics.jsonl.
type metricsLine struct {
	Phase   string `json:"phase"`
	Metrics map[string]struct {
		Value float64 `json:"v"`
	} `json:"m"`
}

// metrics returns the last runtime/metrics of the clean phase, when no collector is at work; of
// another phase where there is no clean one, nil when there are none. And how many goroutines there were in the first
// of all and in the last.
func metrics(rec *recording.Recording) (clean map[string]float64, goroutines rule.Change, err error) {
	if !rec.Has(recording.PartMetrics) {
		return nil, goroutines, nil
	}
	r, err := rec.Part(recording.PartMetrics)
	if err != nil {
		return nil, goroutines, err
	}
	defer r.Close()
	dec := json.NewDecoder(r)
	for first := true; ; first = false {
		var line metricsLine
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			return clean, goroutines, nil
		}
		if err != nil {
			return nil, goroutines, fmt.Errorf("%s: %w", recording.PartMetrics, err)
		}
		if !recording.Apart(line.Phase) {
			goroutines.Last = line.Metrics[recording.MetricGoroutines].Value
		}
		if first {
			goroutines.First = goroutines.Last
		}
		if line.Phase != recording.PhaseClean && clean != nil {
			continue
		}
		clean = map[string]float64{}
		for name, m := range line.Metrics {
			clean[name] = m.Value
		}
	}
}
