package inspect

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile/report"
)

// counted returns remarks on the expensive lines of a function, with how often they ran and what
// one execution costs, and on its head with how many different inputs it got, as far as the
// recording counted that.
func counted(src *source.Source, v *report.View, f *report.FuncLines, file string) (out []Remark) {
	if src.Counts == nil && src.Inputs == nil {
		return nil
	}
	p := &rule.Pass{Manifest: src.Recording, Counts: src.Counts, Inputs: src.Inputs}
	if words := evidence.InputsSeen(p, f.Name); words != "" && f.StartLine > 0 {
		out = append(out, Remark{f.StartLine, "inputs", words})
	}
	owner := src.Code.Owner(f.Name, file)
	for _, c := range f.Lines {
		if c.Line <= 0 || c.Flat == 0 && c.Cum == 0 {
			continue
		}
		frame := site.Frame{Function: f.Name, File: file, Line: int(c.Line), Owner: owner}
		if words := evidence.Runs(p, frame, costOf(v, c.Cum)); words != "" {
			out = append(out, Remark{c.Line, "executions", words})
		}
	}
	return out
}

// countsPerUnit reports whether a recording counted executions per request, operation or run.
func countsPerUnit(src *source.Source) bool {
	if src.Counts == nil || src.Recording == nil {
		return false
	}
	ph, ok := src.Recording.Phase(recording.PhaseCounts)
	return ok && !ph.Cut && (ph.Requests > 0 || src.Recording.Target.Bench == "")
}

// executions returns how often each line of a listed function ran per unit of work.
func executions(src *source.Source, f *ListedFunction, file string) map[int64]float64 {
	p := &rule.Pass{Manifest: src.Recording, Counts: src.Counts}
	owner := src.Code.Owner(f.Name, file)
	last := f.From + int64(len(f.Source)) - 1
	if len(f.Lines) > 0 {
		last = min(last, f.Lines[len(f.Lines)-1].Line+listMargin)
	}
	out := map[int64]float64{}
	for n := max(f.From, f.StartLine); n <= last; n++ {
		if e, ok := evidence.Executions(p, site.Frame{Function: f.Name, File: file, Line: int(n), Owner: owner}); ok {
			out[n] = e.PerUnit
		}
	}
	return out
}

// costOf returns a value of a view as the cost of a line; a zero Cost if it is neither CPU time nor
// bytes.
func costOf(v *report.View, value int64) (c site.Cost) {
	switch t := v.SampleType; {
	case t.Unit == "nanoseconds" && t.Type == "cpu":
		c.CPUSeconds = float64(value) / 1e9
	case t.Unit == "bytes" && strings.HasPrefix(t.Type, "alloc"):
		c.AllocBytes = value
	}
	return c
}
