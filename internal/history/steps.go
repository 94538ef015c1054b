package history

import (
	"context"
	"path"
	"strings"

	"github.com/hone-go/hone/stats"
)

// leastStep is the smallest relative change of level that is reported: another link order alone can
// cause as much.
const leastStep = 0.01

// Causes of a step.
const (
	ByCommit    = "commit"    // in one of the commits between
	ByToolchain = "toolchain" // the runs before and after were built by different toolchains
)

// Step is a change of the level of a series on one machine.
type Step struct {
	Before float64 `json:"before"` // medians of the two levels
	After  float64 `json:"after"`
	By     string  `json:"by"`
	// Good is the last run of the old level, Bad the first of the new one. The change is in one of
	// the commits after Good's, up to and including Bad's.
	Good        Run     `json:"good"`
	Bad         Run     `json:"bad"`
	P           float64 `json:"p"`
	Provisional bool    `json:"provisional,omitempty"` // later runs may revoke it
	At          int     `json:"at"`                    // index in Points
}

// Track is a series on one machine.
type Track struct {
	Series
	Machine string  `json:"machine,omitempty"`
	Points  []Point `json:"points"`
	Steps   []Step  `json:"steps,omitempty"`
}

// Tracks returns the series whose name matches pattern (see [Matches]) and whose unit is unit (""
// for all), with their steps, separately for each machine. It ignores runs of trees with
// uncommitted changes.
func (s *Store) Tracks(ctx context.Context, pattern, unit string) ([]Track, error) {
	all, err := s.AllSeries(ctx)
	if err != nil {
		return nil, err
	}
	var out []Track
	for _, c := range all {
		if !Matches(pattern, c) || unit != "" && c.Unit != unit {
			continue
		}
		points, err := s.Points(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(out, tracks(c, points)...)
	}
	return out, nil
}

// Matches reports whether pattern selects a series. "" selects all; otherwise pattern is the
// series' name, with or without Benchmark and -procs, its package and name, or a glob for one of
// these ("Encode/*").
func Matches(pattern string, c Series) bool {
	if pattern == "" {
		return true
	}
	short := strings.TrimPrefix(c.Name, "Benchmark")
	bare := short
	if i := strings.LastIndexByte(short, '-'); i > 0 && strings.Trim(short[i+1:], "0123456789") == "" {
		bare = short[:i]
	}
	for _, name := range []string{c.Name, short, bare, "Benchmark" + bare, c.Package + "." + bare, c.Package} {
		if name == pattern {
			return true
		}
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return false
}

func tracks(c Series, points []Point) []Track {
	byMachine := map[string]*Track{}
	var order []*Track
	for _, p := range points {
		if p.Run.Dirty {
			continue
		}
		t := byMachine[p.Run.Machine]
		if t == nil {
			t = &Track{Series: c, Machine: p.Run.Machine}
			byMachine[p.Run.Machine] = t
			order = append(order, t)
		}
		t.Points = append(t.Points, p)
	}
	var out []Track
	for _, t := range order {
		t.Steps = t.findSteps()
		out = append(out, *t)
	}
	return out
}

// findSteps looks for steps among the runs of each toolchain, and at each change of toolchain
// checks whether the level changed, too.
func (t *Track) findSteps() []Step {
	var steps []Step
	begin := 0
	for end := 1; end <= len(t.Points); end++ {
		if end < len(t.Points) && t.Points[end].Run.Go == t.Points[begin].Run.Go {
			continue
		}
		for _, s := range stats.Steps(medians(t.Points[begin:end]), leastStep) {
			steps = append(steps, t.step(begin+s.At, s, ByCommit, s.Provisional && end == len(t.Points)))
		}
		if end < len(t.Points) {
			// The levels at the change of toolchain: the runs closest to it on both sides.
			low, high := max(begin, end-stats.LeastStep*3), min(len(t.Points), end+stats.LeastStep*3)
			for high > end && t.Points[high-1].Run.Go != t.Points[end].Run.Go {
				high--
			}
			for _, s := range stats.Steps(medians(t.Points[low:high]), leastStep) {
				if low+s.At == end {
					steps = append(steps, t.step(end, s, ByToolchain, s.Provisional && high == len(t.Points)))
				}
			}
		}
		begin = end
	}
	return steps
}

func (t *Track) step(at int, s stats.Step, by string, provisional bool) Step {
	return Step{Before: s.Before, After: s.After, By: by, Good: t.Points[at-1].Run, Bad: t.Points[at].Run, P: s.P, Provisional: provisional, At: at}
}

func medians(points []Point) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = p.Median
	}
	return out
}
