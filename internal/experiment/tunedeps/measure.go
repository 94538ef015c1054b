package tunedeps

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

// experiment runs versions interleaved with the unchanged target. One that cannot be built is an
// outcome that failed.
func (d *search) experiment(ctx context.Context, module string, runs int, versions ...string) ([]experiment.Outcome, error) {
	d.say("%s@%s, interleaved with the unchanged target", module, strings.Join(versions, " and "))
	outs := make([]experiment.Outcome, len(versions))
	var variants []experiment.Variant
	var at []int // the place of each variant in outs
	for i, version := range versions {
		b, err := d.tree.With(ctx, module, version)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			outs[i].Failed = err.Error()
			continue
		}
		variants = append(variants, experiment.Variant{Name: module + "@" + version, BuildFlags: b.Flags, BuildEnv: b.Env})
		at = append(at, i)
	}
	if len(variants) == 0 {
		return outs, nil
	}
	r, err := experiment.Run(ctx, d.cfg, experiment.Spec{Options: d.Options, Runs: runs, Seed: d.Seed, Progress: d.Progress, Variants: variants})
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		outs[i] = r.Outcomes[k]
	}
	return outs, nil
}

// once records a version once and compares it with the unchanged target.
func (d *search) once(ctx context.Context, module, version string) (c *compare.Comparison, failed string, err error) {
	d.say("%s@%s", module, version)
	b, err := d.tree.With(ctx, module, version)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, err.Error(), nil
	}
	d.n++
	o := d.Options
	o.Phases, o.Out = []string{}, filepath.Join(d.dir, fmt.Sprintf("one%d.hone", d.n))
	o.BuildFlags, o.BuildEnv = slices.Concat(o.BuildFlags, b.Flags), slices.Concat(o.BuildEnv, b.Env)
	path, err := session.Record(ctx, d.cfg, o)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, err.Error(), nil
	}
	rec, err := recording.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer rec.Close()
	c, err = compare.Recordings([]compare.Source{d.base}, []compare.Source{{Name: version, Manifest: rec.Manifest}}, compare.Options{Force: true, InTurns: true})
	if err != nil {
		return nil, err.Error(), nil
	}
	return c, "", nil
}
