// Package prove measures a change against a recording: does it save what the findings predicted?
//
// The base is the commit that was recorded. The change is the current tree, a patch, or another
// commit. Both run interleaved under the recording's load, which shows the total change; then each
// is recorded once in full, which shows what became of each finding. The base is recorded again
// instead of reading its recording, because a finding needs the source that was built, and the tree
// now has the change.
package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/prove/v1"

// Spec says what to measure.
type Spec struct {
	Options capture.Options // to record the target again; Dir is in the tree with the change
	Base    string          // a git ref; "": the commit of the recording, or the tree's
	Ref     string          // the change is that commit
	Patch   string          // the change is this file, on top of the base; without Ref and Patch it is the current tree
	Runs    int             // of each side; 0: 6
	Length  time.Duration   // of the full recordings
	Seed    uint64
}

// Result is the comparison of base and change.
type Result struct {
	Schema    string             `json:"schema"`
	Target    string             `json:"target"`
	Base      string             `json:"base"`   // commit
	Change    string             `json:"change"` // a description
	Trial     *experiment.Result `json:"trial"`
	Findings  []Was              `json:"findings"` // of the base
	New       []Was              `json:"new,omitempty"`
	Proof     *compare.Proof     `json:"proof,omitempty"`
	Recording string             `json:"recording,omitempty"` // of the change, if that is the tree
}

// What became of a finding.
const (
	Gone    = "gone" // no finding of its rule is left in its function
	Smaller = "smaller"
	Still   = "still there"
	Larger  = "larger"
	Found   = "new"
)

// Was is a finding before and after. Costs are shares of the program's CPU before; those after are
// on the same scale.
type Was struct {
	Finding  string          `json:"finding"` // its label, in its recording
	Rule     string          `json:"rule"`
	Title    string          `json:"title"`
	Function string          `json:"function"`
	File     string          `json:"file"`
	Line     int             `json:"line"`
	Before   *diagnose.Range `json:"before,omitempty"`
	After    *diagnose.Range `json:"after,omitempty"`
	Became   string          `json:"became"`
}

// dirPrefix starts the names of the directories for commits.
const dirPrefix = "prove-"

// Run measures a change against a recording.
func Run(ctx context.Context, cfg session.Config, m recording.Manifest, s Spec) (*Result, error) {
	work := filepath.Join(cfg.CacheDir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	scratch.Sweep(work, time.Now(), dirPrefix)
	dir, err := scratch.Make(work, dirPrefix)
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	r := &Result{Schema: Schema, Target: m.Target.Arg, Findings: []Was{}}
	base, changed, err := sides(ctx, m.Runtime, s, dir.Path, r)
	if err != nil {
		return nil, err
	}
	o := s.Options
	o.Dir = base
	r.Trial, err = experiment.Run(ctx, cfg, experiment.Spec{
		Options: o, Variants: []experiment.Variant{{Name: r.Change, Dir: changed}}, Runs: s.Runs, Seed: s.Seed, Progress: cfg.Progress,
	})
	if err != nil {
		return nil, err
	}
	outcome := r.Trial.Outcomes[0]
	if outcome.Failed != "" {
		return r, nil
	}
	o.Duration, o.Out = s.Length, filepath.Join(dir.Path, "base.hone")
	before, err := recorded(ctx, cfg, o)
	if err != nil {
		return nil, fmt.Errorf("record the base: %w", err)
	}
	o.Dir, o.Out = changed, filepath.Join(dir.Path, "changed.hone")
	if changed == s.Options.Dir {
		o.Out = "" // its source remains, so the recording is useful
	}
	after, err := recorded(ctx, cfg, o)
	if err != nil {
		return nil, fmt.Errorf("record the change: %w", err)
	}
	if o.Out == "" {
		r.Recording = after.Path
	}
	r.compare(before, after, outcome.Comparison)
	return r, nil
}

// recorded records a program in full and diagnoses it.
func recorded(ctx context.Context, cfg session.Config, o capture.Options) (*session.Result, error) {
	path, err := session.Record(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	return session.Diagnose(ctx, cfg, path)
}

// sides creates the directories of the two programs.
func sides(ctx context.Context, of recording.Runtime, s Spec, dir string, r *Result) (base, changed string, err error) {
	ref := s.Base
	if ref == "" {
		if of.Dirty {
			return "", "", errors.New("the recording is of a tree with uncommitted changes, which hone does not have: name what to compare with by -base")
		}
		ref = of.Revision
	}
	if ref == "" { // a benchmark's binary has no commit
		ref = "HEAD"
	}
	if base, r.Base, err = gittree.Checkout(ctx, s.Options.Dir, ref, filepath.Join(dir, "base")); err != nil {
		return "", "", fmt.Errorf("the program that was recorded: %w", err)
	}
	switch {
	case s.Ref != "":
		r.Change = s.Ref
		changed, _, err = gittree.Checkout(ctx, s.Options.Dir, s.Ref, filepath.Join(dir, "changed"))
	case s.Patch != "":
		r.Change = filepath.Base(s.Patch)
		if changed, _, err = gittree.Checkout(ctx, s.Options.Dir, ref, filepath.Join(dir, "changed")); err == nil {
			err = gittree.Apply(ctx, filepath.Join(dir, "changed"), changed, s.Patch)
		}
	default:
		r.Change, changed = "the tree", s.Options.Dir
	}
	return base, changed, err
}

// compare computes what became of the findings.
func (r *Result) compare(before, after *session.Result, c *compare.Comparison) {
	old, new := perUnit(c)
	scale := 1.0
	if old > 0 && new > 0 {
		scale = new / old
	}
	later := map[[2]string]*diagnose.Finding{}
	for i := range after.Report.Findings {
		f := &after.Report.Findings[i]
		for _, x := range append([]diagnose.Finding{*f}, f.Also...) {
			later[key(&x)] = &x
		}
	}
	was := map[[2]string]bool{}
	for i := range before.Report.Findings {
		f := &before.Report.Findings[i]
		w := wasOf(f)
		w.Before = f.Cost.WithGC
		was[key(f)] = true
		now := later[key(f)]
		if now != nil {
			w.After = scaled(now.Cost.WithGC, scale)
		}
		w.Became = became(w.Before, w.After, now != nil)
		r.Findings = append(r.Findings, w)
		for j := range f.Also {
			was[key(&f.Also[j])] = true
		}
	}
	for i := range after.Report.Findings {
		f := &after.Report.Findings[i]
		if !was[key(f)] && !f.Generic {
			w := wasOf(f)
			w.After, w.Became = scaled(f.Cost.WithGC, scale), Found
			r.New = append(r.New, w)
		}
	}
	if old > 0 && new > 0 {
		p := compare.Prove(before.Report, before.Table, after.Table, old, new)
		r.Proof = &p
	}
}

func key(f *diagnose.Finding) [2]string { return [2]string{f.Rule, f.Function} }

func wasOf(f *diagnose.Finding) Was {
	return Was{Finding: f.Label(), Rule: f.Rule, Title: f.Title, Function: f.Function, File: f.File, Line: f.Line}
}

func scaled(r *diagnose.Range, by float64) *diagnose.Range {
	if r == nil {
		return nil
	}
	return &diagnose.Range{Share: r.Share * by, Low: r.Low * by, High: r.High * by}
}

// became returns the verdict on a finding: its cost is smaller or larger if the intervals do not
// overlap.
func became(before, after *diagnose.Range, there bool) string {
	switch {
	case !there:
		return Gone
	case before == nil || after == nil:
		return Still
	case after.High < before.Low:
		return Smaller
	case after.Low > before.High:
		return Larger
	}
	return Still
}

// perUnit returns the CPU of the program before and after, per request, run or operation; 0 if it
// was not compared.
func perUnit(c *compare.Comparison) (old, new float64) {
	if c == nil {
		return 0, 0
	}
	for _, row := range c.Rows {
		if row.Metric == "cpu" {
			return row.Old, row.New
		}
	}
	return 0, 0
}
