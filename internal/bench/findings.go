package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/session"
)

// Finding is a finding about a benchmark.
type Finding struct {
	Rule     string  `json:"rule"`
	Title    string  `json:"title"`
	Function string  `json:"function"`
	File     string  `json:"file"` // relative to its module
	Line     int     `json:"line"`
	Cause    string  `json:"cause"`
	Fix      string  `json:"fix"`
	Share    float64 `json:"share"`         // of the benchmark's cost, 0 to 1
	New      bool    `json:"new,omitempty"` // only the new side has it
}

const (
	recordLength = 6 * time.Second // of a benchmark's recording, for its findings
	mostFindings = 3               // kept per benchmark
)

// diagnose records a benchmark on one side and returns its findings. out is the path of the
// recording; "" chooses a new name in the cache.
func (r *runner) diagnose(ctx context.Context, x *subject, side int, out string) (findings []diagnose.Finding, path string, err error) {
	cfg := r.Session
	cfg.Progress = nil
	path, err = session.Record(ctx, cfg, capture.Options{
		Package: ".", Dir: x.pkgs[side].dir, Bench: exactly(x.bareName()), BuildFlags: r.BuildFlags,
		Env: []string{fmt.Sprintf("GOMAXPROCS=%d", x.cpus)}, Duration: recordLength, Phases: []string{"cpu"}, Out: out, Arg: x.Package,
	})
	if err != nil {
		return nil, path, err
	}
	d, err := session.Diagnose(ctx, cfg, path)
	if err != nil {
		return nil, path, err
	}
	return d.Report.Findings, path, nil
}

// newFindings adds the findings of the new side that the old side does not have.
func (r *runner) newFindings(ctx context.Context, x *subject) error {
	var sides [2][]diagnose.Finding
	for side := range sides {
		var err error
		if sides[side], _, err = r.diagnose(ctx, x, side, filepath.Join(r.work, fmt.Sprintf("side%d.hone", side))); err != nil {
			return err
		}
	}
	type key struct{ rule, function string }
	was := map[key]bool{}
	for _, f := range sides[oldSide] {
		was[key{f.Rule, f.Function}] = true
		for _, also := range f.Also {
			was[key{also.Rule, also.Function}] = true
		}
	}
	for _, f := range sides[newSide] {
		if !f.Generic && f.Function != "" && !was[key{f.Rule, f.Function}] && len(x.Findings) < mostFindings {
			x.Findings = append(x.Findings, findingOf(f, true))
		}
	}
	return nil
}

func findingOf(f diagnose.Finding, isNew bool) Finding {
	out := Finding{Rule: f.Rule, Title: f.Title, Function: f.Function, File: f.File, Line: f.Line, Cause: f.Cause, Fix: f.Fix, New: isNew}
	if f.Cost.WithGC != nil {
		out.Share = f.Cost.WithGC.Share
	}
	return out
}

// record records the benchmarks that cost the most CPU time per operation, as many as Spec.Record,
// and adds their findings. The recordings stay in the cache.
func (r *runner) record(ctx context.Context) error {
	for _, x := range r.expensive() {
		r.Progress(Progress{Text: "recording " + x.Name})
		findings, path, err := r.diagnose(ctx, x, newSide, "")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.result.Notes = append(r.result.Notes, fmt.Sprintf("no findings of %s: %v", x.Name, err))
			continue
		}
		x.Recording = path
		x.Findings = nil
		for _, f := range findings[:min(len(findings), mostFindings)] {
			x.Findings = append(x.Findings, findingOf(f, false))
		}
	}
	return nil
}
