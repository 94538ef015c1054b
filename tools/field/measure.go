package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

const (
	// turns is how often each version is recorded to measure a saving. The recordings with profiles
	// do not do: minutes lie between the two, and what else the machine does changes in that time.
	turns = 3
	// turnLength is the length of these recordings of services, which have no profiles.
	turnLength = 2 * time.Second
)

// measured returns the share of CPU per unit of work that the fixed version saves, or of the time
// of a run, with its 95 % interval, or nil if they have no common metric. The two versions are
// recorded alternately.
func measured(ctx context.Context, c *fieldCase, work string, ofTime bool) (*span, error) {
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
	result, err := compare.Recordings(faulty, fixed, compare.Options{Force: true})
	if err != nil {
		return nil, err
	}
	metric := "cpu"
	if ofTime {
		metric = "wall"
	}
	for _, r := range result.Rows {
		if r.Metric == metric && r.Low != nil && r.High != nil {
			return &span{Low: 1 - *r.High, High: 1 - *r.Low, Time: ofTime}, nil
		}
	}
	return nil, nil
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
