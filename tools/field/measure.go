package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/stats"
)

const (
	// turns is how often each version is recorded to measure a saving. The recordings with profiles
	// do not do: minutes lie between the two, and what else the machine does changes in that time.
	turns = 3
	// turnLength is the length of these recordings of services, which have no profiles.
	turnLength = 2 * time.Second
)

// measured returns what the fixed version saves of a total, with its 95 % interval, or nil if the
// two versions have no common metric. They are recorded alternately.
func measured(ctx context.Context, c *fieldCase, work string, of total) (*span, error) {
	var faulty, fixed []compare.Source
	for turn := range turns {
		for _, fix := range []bool{turn%2 == 1, turn%2 == 0} { // the first one alternates, too
			m, err := c.turn(ctx, work, turn, fix)
			if err != nil {
				return nil, fmt.Errorf("measure: %w", err)
			}
			if fix {
				fixed = append(fixed, compare.Source{Name: fmt.Sprintf("fixed %d", turn), Manifest: m})
			} else {
				faulty = append(faulty, compare.Source{Name: fmt.Sprintf("faulty %d", turn), Manifest: m})
			}
		}
	}
	if of == timeOfRequest {
		return lessTime(faulty, fixed), nil
	}
	result, err := compare.Recordings(faulty, fixed, compare.Options{Force: true})
	if err != nil {
		return nil, err
	}
	for _, r := range result.Rows {
		if r.Metric == metricOf(of) && r.Low != nil && r.High != nil && *r.Low > 0 {
			return saved(*r.Low, *r.High, of), nil
		}
	}
	return nil, nil
}

// metricOf returns the metric of package compare for a total.
func metricOf(of total) string {
	switch of {
	case timeOfRun:
		return "wall"
	case timeOfOperation:
		return "time"
	}
	return "cpu"
}

// saved returns the saving for an interval of the ratio of a metric, new to old.
func saved(low, high float64, of total) *span {
	return &span{Low: 1 - high, High: 1 - low, Of: of}
}

// lessTime returns which share of the mean time of requests the fixed version saves; nil if it is
// unknown. Package compare has only quantiles, and predictions are of the mean.
func lessTime(faulty, fixed []compare.Source) *span {
	ratio, _ := stats.MeanRatio(requestTimes(faulty), requestTimes(fixed))
	if !ratio.Known() || math.IsInf(ratio.High, 1) {
		return nil
	}
	return saved(ratio.Low, ratio.High, timeOfRequest)
}

// requestTimes returns the mean time of the requests of each recording, in units of the time for
// which its connections were open: the load is a closed loop, in which each of them always waits
// for an answer.
func requestTimes(recordings []compare.Source) (times []float64) {
	for _, r := range recordings {
		for _, p := range r.Manifest.Phases {
			if p.Name == recording.PhaseClean && p.Requests > 0 {
				times = append(times, p.Seconds/float64(p.Requests))
			}
		}
	}
	return times
}

// lessLive returns which share of the live memory at the end of its recording the fixed version
// does without. It is a comparison of the recordings with profiles, because what leaks depends on
// their length; the interval is that of the sampling of the heap profile.
func lessLive(faulty, fixed *session.Result) *span {
	old, now := live(faulty), live(fixed)
	if old.Low <= 0 {
		return nil
	}
	ratio := stats.Mul(now, stats.Interval{Value: 1 / old.Value, Low: 1 / old.High, High: 1 / old.Low})
	return saved(ratio.Low, ratio.High, liveMemory)
}

// heapSample is how many bytes a sample of a heap profile stands for by default. (The linker sets
// runtime.MemProfileRate to 0 in programs that take no heap profiles, such as this one.)
const heapSample = 512 << 10

// live returns the live memory at the end of a recording in samples of the heap profile.
func live(r *session.Result) stats.Interval {
	return stats.Poisson(int64(math.Round(float64(r.Table.Totals.LiveBytes) / heapSample)))
}

// turn records a version without profiles, unless an earlier run has done so.
func (c *fieldCase) turn(ctx context.Context, work string, turn int, fixed bool) (recording.Manifest, error) {
	o := c.options(work, fixed)
	o.Out = fmt.Sprintf("%s-turn%d.hone", strings.TrimSuffix(o.Out, ".hone"), turn)
	if _, err := os.Stat(o.Out); err != nil {
		if err := c.prepare(ctx, &o, fixed); err != nil {
			return recording.Manifest{}, err
		}
		o.Phases, o.Duration, o.Warmup = []string{}, turnLength, turnLength
		if _, err := session.Record(ctx, session.Config{CacheDir: work, Version: "field"}, o); err != nil {
			return recording.Manifest{}, err
		}
	}
	rec, err := recording.Open(o.Out)
	if err != nil {
		return recording.Manifest{}, err
	}
	defer rec.Close()
	return rec.Manifest, nil
}
