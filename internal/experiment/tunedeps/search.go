package tunedeps

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/target"
)

const (
	// mostMinors is how many minor versions are measured, by their newest releases, if the newest
	// version does not answer the question.
	mostMinors = 4
	// LeastGain is the minimum part of a metric that a version must save: below it, an upgrade is
	// not worth its risk, and nothing counts as a fix.
	LeastGain = 0.05
)

// module searches for a version of one module with the fix.
func (d *search) module(ctx context.Context, m *Module) error {
	version, replaced, err := d.tree.Current(ctx, m.Path)
	if err != nil {
		return err
	}
	m.Version = version
	if replaced {
		m.Why = "go.mod replaces it: a version of it would not be built"
		return nil
	}
	versions, err := d.tree.Newer(ctx, m.Path, version)
	if err != nil {
		return err
	}
	m.Why = "there is no newer release"
	fixed, err := d.releases(ctx, m, versions)
	if err != nil || fixed {
		return err
	}
	// What is fixed on the default branch may not be released yet.
	newest := version
	if len(versions) > 0 {
		newest = versions[len(versions)-1]
	}
	if head := d.tree.Head(ctx, m.Path, newest); head != "" {
		_, err = d.try(ctx, m, []string{head})
	}
	return err
}

// releases tries the newest release that builds and, if that saves nothing, searches for older ones
// that do: a newer one can have lost the saving of an older one. If a version builds but fails when
// it runs, the last version of an older minor version is next.
func (d *search) releases(ctx context.Context, m *Module, versions []string) (fixed bool, err error) {
	for range mostMinors {
		n, err := building(len(versions), func(i int) (bool, error) { return d.builds(ctx, m, versions[i]) })
		if err != nil || n == 0 {
			return false, err
		}
		fixed, err := d.try(ctx, m, versions[:n])
		if err != nil || fixed {
			return fixed, err
		}
		if last := m.Tried[len(m.Tried)-1]; last.Failed == "" {
			return d.screen(ctx, m, versions)
		}
		older := lastOfMinors(versions[:n-1])
		if len(older) == 0 {
			return false, nil
		}
		versions = versions[:1+slices.Index(versions, older[0])]
	}
	return false, nil
}

// building returns how many of n versions to keep, so that the last one builds; 0 if none does. If
// the newest does not, bisection finds the change with which the target does not compile: what one
// version has removed is assumed to be missing from later ones.
func building(n int, builds func(i int) (bool, error)) (int, error) {
	if n == 0 {
		return 0, nil
	}
	if ok, err := builds(n - 1); ok || err != nil {
		return n, err
	}
	good, bad := 0, n
	for bad-good > 1 {
		mid := (good + bad) / 2
		ok, err := builds(mid - 1)
		if err != nil {
			return 0, err
		}
		if ok {
			good = mid
		} else {
			bad = mid
		}
	}
	return good, nil
}

// builds reports whether the target compiles with a version, and records the version if it does
// not.
func (d *search) builds(ctx context.Context, m *Module, version string) (bool, error) {
	d.say("%s@%s: does the target build with it?", m.Path, version)
	b, err := d.tree.With(ctx, m.Path, version)
	if err == nil {
		o := d.Options
		var bin *target.Binary
		bin, err = target.Build(ctx, target.BuildSpec{Package: o.Package, Dir: o.Dir, Bench: o.Bench != "", WorkDir: d.dir, NoProbe: true,
			BuildFlags: slices.Concat(o.BuildFlags, b.Flags), Env: slices.Concat(o.BuildEnv, b.Env)})
		if err == nil {
			return true, bin.Remove()
		}
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	m.Tried = append(m.Tried, Tried{Version: version, Failed: err.Error()})
	m.Why = "the newer versions do not build with the target"
	return false, nil
}

// lastOfMinors are the newest patch releases of the newest minor versions, newest first.
func lastOfMinors(versions []string) (list []string) {
	for i := len(versions) - 1; i >= 0 && len(list) < mostMinors; i-- {
		if i == len(versions)-1 || semver.MajorMinor(versions[i]) != semver.MajorMinor(versions[i+1]) {
			list = append(list, versions[i])
		}
	}
	return list
}

// try runs the last of some versions interleaved with the unchanged target and, if it saves
// something, searches the others for the oldest that does.
func (d *search) try(ctx context.Context, m *Module, versions []string) (fixed bool, err error) {
	last := versions[len(versions)-1]
	outs, err := d.experiment(ctx, m.Path, d.Runs, last)
	if err != nil {
		return false, err
	}
	out := outs[0]
	switch {
	case out.Failed != "":
		m.Tried = append(m.Tried, Tried{Version: last, Failed: out.Failed})
		m.Why = "with the newest version that builds, the target fails"
		return false, nil
	case out.Differs != "":
		m.Tried = append(m.Tried, Tried{Version: last, Failed: out.Differs})
		m.Why = "with the newest version that builds, the target answers differently"
		return false, nil
	}
	if m.Newest == "" {
		m.Newest = last
	}
	row := saved(out.Comparison)
	if row == nil {
		m.Tried = append(m.Tried, Tried{Version: last})
		m.Why = fmt.Sprintf("%s saves nothing that is more than chance and more than %.0f %%", last, 100*LeastGain)
		return false, nil
	}
	m.Why = ""
	return true, d.bisect(ctx, m, versions, out, row)
}

// screen records the next version and the last ones of each minor version once, if the newest saves
// nothing, and tries the one with the largest saving.
func (d *search) screen(ctx context.Context, m *Module, versions []string) (fixed bool, err error) {
	rest := versions[:slices.Index(versions, m.Newest)]
	if len(rest) == 0 {
		return false, nil
	}
	list := lastOfMinors(rest)
	if !slices.Contains(list, rest[0]) {
		list = append(list, rest[0])
	}
	best, least := "", 1-2*LeastGain // one recording scatters: what looks like less is not worth a trial
	for _, v := range list {
		c, failed, err := d.once(ctx, m.Path, v)
		if err != nil {
			return false, err
		}
		if failed != "" {
			m.Tried = append(m.Tried, Tried{Version: v, Failed: failed})
			continue
		}
		ratio := 1.0
		for i := range c.Rows {
			if r := &c.Rows[i]; costs(r) && r.Matters() {
				ratio = min(ratio, *r.Ratio)
			}
		}
		if ratio < least {
			best, least = v, ratio
		}
		m.Tried = append(m.Tried, Tried{Version: v})
	}
	if best == "" {
		m.order()
		return false, nil
	}
	m.Tried = slices.DeleteFunc(m.Tried, func(t Tried) bool { return t.Version == best })
	fixed, err = d.try(ctx, m, versions[:1+slices.Index(versions, best)])
	m.order()
	return fixed, err
}

// order puts the tried versions in the order of releases.
func (m *Module) order() {
	slices.SortStableFunc(m.Tried, func(a, b Tried) int { return semver.Compare(a.Version, b.Version) })
}
