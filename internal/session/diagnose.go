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
	Cut      bool // the recording ended too early
	Table    *site.Table
	Report   *diagnose.Report
	Code     *gocode.Index
	CPU      *profile.Profile  // of the recording; nil when it has none
	Trace    *analysis.Results // of the recording; nil when it has none, or one that cannot be read
	Lacking  []string          // notes on what was missing for the diagnosis; the report's notes include them
}

// These decide which packages get syntax and compiler facts: those that own at least hotShare of
// the CPU or the allocated bytes (or, for syntax, of the live memory), and of them the hotPackages
// most expensive ones. Compiling a package takes about a second, which is too long for packages
// that cost little.
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
	if pass.RequestBytes, err = source.RequestBytes(rec); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if pass.Upgraded, err = upgraded(rec); err != nil {
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
		notes = append(notes, fmt.Sprintf("%v: the file is ignored", err))
	}
	report, err := diagnose.Run(ctx, pass, chosen)
	if err != nil {
		return nil, fmt.Errorf("diagnose %s: %w", path, err)
	}
	if rec.Cut || !rec.Manifest.Complete {
		notes = append([]string{"the recording ended early; the figures cover the part that was recorded"}, notes...)
	}
	report.Recording.Path = path
	report.Notes = append(notes, report.Notes...)
	if report.Notes == nil {
		report.Notes = []string{} // an empty list in JSON, not null
	}
	return &Result{Path: path, Manifest: rec.Manifest, Cut: rec.Cut, Table: table, Report: report, Code: in.Code, CPU: in.CPU, Trace: pass.Trace, Lacking: notes}, nil
}

// profiles decodes the profiles of a recording. A missing part is not an error.
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
		notes = append(notes, "this recording has no CPU profile: costs in CPU are unknown")
	}
	if ph, ok := rec.Phase(recording.PhaseContention); ok {
		in.ContentionSeconds = ph.Seconds
	}
	if ph, ok := rec.Phase(recording.PhaseCPU); ok {
		in.CountedObjects = ph.AllocObjects
	}
	return in, notes, nil
}

// upgraded decodes the profiles of the target with newer releases of dependencies.
func upgraded(rec *recording.Recording) (u rule.Upgraded, err error) {
	if rec.Has(recording.PartUpgradeCPU) {
		if u.CPU, err = source.Part(rec, recording.PartUpgradeCPU); err != nil {
			return u, err
		}
	}
	if rec.Has(recording.PartUpgradeAllocs) {
		u.Allocs, err = source.Part(rec, recording.PartUpgradeAllocs)
	}
	return u, err
}

// codeFacts loads syntax and compiler facts of the hot packages concurrently. If one of them is not
// available, that is a note and not an error: the profiles can still be diagnosed.
func codeFacts(ctx context.Context, c Config, pass *rule.Pass) ([]string, error) {
	// Without hot packages both results are empty, and nothing is missing. Packages of the lines
	// that lead to a cost are read too, but the compiler is asked only about the lines that own
	// costs.
	pkgs, read := hot(pass.Table, false), hot(pass.Table, true)
	for _, pkg := range traced.Packages(pass, hotPackages/2) {
		if !slices.Contains(read, pkg) {
			read = append(read, pkg)
		}
	}
	for i, in := range pass.Manifest.Inits {
		if i < mostInits && !slices.Contains(read, in.Package) && in.Package != "main" {
			read = append(read, in.Package)
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
		notes = append(notes, fmt.Sprintf("the program's packages could not be read (%v): findings use only the profile", syntaxErr))
	}
	if factErr != nil {
		pass.Facts = nil
		notes = append(notes, fmt.Sprintf("the compiler could not be run (%v): its reasons are missing", factErr))
	}
	return append(notes, pass.Code.Notes()...), nil
}

// mostInits is how many packages are read because their initialisation takes long.
const mostInits = 4

// hot lists the packages that own enough of the cost to be examined, most expensive first. With
// entries it adds the packages of the main module's lines that lead to enough of the cost.
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
		if entries {
			cost += ratio(float64(s.Cost.LiveBytes), float64(t.Totals.LiveBytes))
		}
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

// metrics returns the last runtime/metrics of the clean phase, in which nothing else is recorded,
// or of another phase if there is no clean one; nil if there are none. It also returns how the
// number of goroutines changed from the first to the last sample.
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
