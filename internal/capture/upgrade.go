package capture

import (
	"context"
	"errors"
	"fmt"
	gover "go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

const (
	// upgradeShare is the share of the cost that must pass through a dependency for its newer
	// releases to be tried.
	upgradeShare = 0.05
	// mostUpgrades is how many dependencies are tried, together.
	mostUpgrades = 4
	// mostBuilds is how many builds may look for the newest release of a dependency that the target
	// builds with.
	mostBuilds = 6
	// leastUpgrade is the share of a cost that newer releases must save for the unchanged target
	// to run once more, to be sure.
	leastUpgrade = 0.04
	// upgradeAsking bounds the time for questions about versions.
	upgradeAsking = 30 * time.Second
	// upgradeLongest is the longest run of a program that is worth running again.
	upgradeLongest = 20 * time.Second
)

// recordUpgrade builds the target with newer releases of its expensive dependencies and runs it
// under the same load. If that costs less, the unchanged target runs once more after it, so that a
// machine whose speed drifts is not taken for a saving. A failure loses the figures, not the
// recording; only the end of ctx is returned as an error.
func (r *recorder) recordUpgrade(ctx context.Context) error {
	m := r.out.Manifest()
	if !slices.Contains(r.o.Phases, recording.PhaseUpgrade) || r.o.Load == nil && m.Target.Kind == kindService || r.ownModules() {
		return nil
	}
	if clean := r.kept(recording.PhaseClean).phase; clean.Seconds > upgradeLongest.Seconds()*float64(max(clean.Runs, 1)) && clean.Runs > 0 {
		r.missing(recording.PhaseUpgrade, fmt.Errorf("a run takes longer than %s: hone tune deps measures newer releases", upgradeLongest))
		return nil
	}
	return r.runPhaseAgain(ctx, recording.PhaseUpgrade, recording.PhaseUpgrade, func() (string, error) {
		began := time.Now()
		text, err := r.takeUpgrade(ctx)
		if r.out.Manifest().Upgrade != nil {
			r.keep(stretch{phase: recording.Phase{Name: recording.PhaseUpgrade, Start: began.UTC(), Seconds: time.Since(began).Seconds()}})
		}
		return text, err
	})
}

// ownModules reports whether the user's build flags choose where modules come from; then no other
// versions can be built.
func (r *recorder) ownModules() bool {
	return slices.ContainsFunc(r.o.BuildFlags, func(f string) bool {
		f = "-" + strings.TrimLeft(f, "-")
		return f == "-mod" || strings.HasPrefix(f, "-mod=") || strings.HasPrefix(f, "-modfile")
	})
}

// upgrade is a dependency to try in newer releases.
type upgrade struct {
	recording.ModuleUpgrade
	packages []string // that carry the cost
	share    float64
	releases []string // the last of each newer minor version, oldest first
}

// takeUpgrade returns the summary for the progress line.
func (r *recorder) takeUpgrade(ctx context.Context) (string, error) {
	m := r.out.Manifest()
	hot := hotModules(r.profiles, r.buildInfo)
	if len(hot) == 0 {
		return "nothing to try: no dependency has 5 % of the cost", nil
	}
	r.say(Event{Phase: r.phase, Text: "looking for newer releases of " + count(len(hot), "module")})
	work, err := os.MkdirTemp(r.tmp, "upgrade-")
	if err != nil {
		return "", err
	}
	asking, cancel := context.WithTimeout(ctx, upgradeAsking)
	defer cancel()
	// A toolchain is not downloaded for a release that demands a newer one.
	tree, err := altmod.Open(asking, "go", m.Target.Dir, work, append([]string{"GOTOOLCHAIN=" + toolchain(m.Runtime.Go)}, r.o.BuildEnv...)...)
	if err != nil {
		return "", err
	}
	found, err := differing(asking, tree, hot)
	if len(found) == 0 {
		return "nothing to try: the expensive dependencies have no newer release with other code", err
	}
	text, u, err := r.tryUpgrades(ctx, tree, found)
	r.out.Update(func(m *recording.Manifest) { m.Upgrade = u })
	return text, err
}

// toolchain returns the setting of GOTOOLCHAIN for a toolchain that is there, because it has built
// the target.
func toolchain(version string) string {
	if gover.IsValid(version) && strings.Count(version, ".") == 2 {
		return version
	}
	return "local"
}

// tryUpgrades tries the newest releases of all modules at once; if that fails, the newest ones that
// the target builds with.
func (r *recorder) tryUpgrades(ctx context.Context, tree *altmod.Tree, found []upgrade) (string, *recording.Upgrade, error) {
	u := &recording.Upgrade{}
	set := found
	rec, err := r.runUpgrade(ctx, tree, set, "upgrade1.hone")
	if err != nil && ctx.Err() == nil {
		failed := err
		if set = r.building(ctx, tree, found); len(set) > 0 && withReleases(set) != withReleases(found) {
			rec, err = r.runUpgrade(ctx, tree, set, "upgrade2.hone")
		}
		for _, m := range found {
			if err != nil || !slices.ContainsFunc(set, func(o upgrade) bool { return o.Path == m.Path }) {
				m.Failed = firstLine(failed.Error())
				u.Modules = append(u.Modules, m.ModuleUpgrade)
			}
		}
	}
	if err != nil {
		return "", u, fmt.Errorf("%s: %w", withReleases(found), err)
	}
	defer rec.Close()
	for _, m := range set {
		u.Modules = append(u.Modules, m.ModuleUpgrade)
	}
	text, err := r.keepUpgrade(ctx, u, withReleases(set), rec)
	kept := func(p recording.Part) bool { return p.Name == recording.PartUpgradeCPU }
	if err != nil || gains(u) || slices.ContainsFunc(r.out.Manifest().Parts, kept) {
		return text, u, err
	}
	if text, next, err := r.tryNext(ctx, tree, set); next != nil || ctx.Err() != nil {
		return text, next, err
	}
	return text, u, nil
}

// tryNext tries the next releases after those of the target, because the newest may have repaired
// what costs and brought something else that costs as much; nil if that saves nothing either.
func (r *recorder) tryNext(ctx context.Context, tree *altmod.Tree, set []upgrade) (string, *recording.Upgrade, error) {
	u := &recording.Upgrade{}
	next := slices.Clone(set)
	for i := range next {
		m := &next[i]
		m.To = m.releases[0]
		if j := slices.IndexFunc(m.releases, func(v string) bool { return semver.MajorMinor(v) != semver.MajorMinor(m.From) }); j >= 0 {
			m.To = m.releases[j]
		}
		u.Modules = append(u.Modules, m.ModuleUpgrade)
	}
	if withReleases(next) == withReleases(set) {
		return "", nil, nil
	}
	rec, err := r.runUpgrade(ctx, tree, next, "upgrade3.hone")
	if err != nil {
		return "", nil, err
	}
	defer rec.Close()
	text, err := r.keepUpgrade(ctx, u, withReleases(next), rec)
	if err != nil || !gains(u) {
		return "", nil, err
	}
	return text, u, nil
}

// building returns the modules with the newest releases that the target builds with. What one
// release has changed is assumed to be in the later ones, so that bisection finds the last one.
func (r *recorder) building(ctx context.Context, tree *altmod.Tree, found []upgrade) (set []upgrade) {
	for _, m := range found {
		good, bad := 0, len(m.releases)+1 // numbers of releases, from 1: 0 is the target's own
		at := len(m.releases)
		if len(found) == 1 { // the newest was tried
			bad, at = at, at/2
		}
		for tries := 0; bad-good > 1 && tries < mostBuilds && ctx.Err() == nil; tries++ {
			if r.buildsWith(ctx, tree, module.Version{Path: m.Path, Version: m.releases[at-1]}) {
				good = at
			} else {
				bad = at
			}
			at = (good + bad) / 2
		}
		if good > 0 {
			m.To = m.releases[good-1]
			set = append(set, m)
		}
	}
	return set
}

// buildsWith reports whether the target builds with a version of a module.
func (r *recorder) buildsWith(ctx context.Context, tree *altmod.Tree, v module.Version) bool {
	r.say(Event{Phase: r.phase, Text: "building with " + v.String()})
	b, err := with(ctx, tree, []module.Version{v})
	if err != nil {
		return false
	}
	o := r.o
	o.BuildFlags, o.BuildEnv = slices.Concat(o.BuildFlags, b.Flags), slices.Concat(o.BuildEnv, b.Env)
	other := &recorder{o: o, world: r.world, out: r.out, tmp: r.tmp, phase: r.phase}
	bin, _, err := other.buildTarget(ctx, target.BuildSpec{NoProbe: true})
	return err == nil && bin.Remove() == nil
}

// withReleases lists modules with their versions.
func withReleases(list []upgrade) string {
	var words []string
	for _, m := range list {
		words = append(words, fmt.Sprintf("%s %s → %s", m.Path, m.From, m.To))
	}
	return strings.Join(words, ", ")
}

// runUpgrade records the target with the releases.
func (r *recorder) runUpgrade(ctx context.Context, tree *altmod.Tree, set []upgrade, file string) (*recording.Recording, error) {
	var versions []module.Version
	for _, m := range set {
		versions = append(versions, module.Version{Path: m.Path, Version: m.To})
	}
	r.say(Event{Phase: r.phase, Text: "building and running with " + withReleases(set)})
	b, err := with(ctx, tree, versions)
	if err != nil {
		return nil, err
	}
	return r.recordBriefly(ctx, b.Flags, b.Env, file)
}

// with is altmod's WithAll, which may have to download modules, within the time for questions.
func with(ctx context.Context, tree *altmod.Tree, versions []module.Version) (altmod.Build, error) {
	asking, cancel := context.WithTimeout(ctx, upgradeAsking)
	defer cancel()
	return tree.WithAll(asking, versions)
}

// recordBriefly records the target once more, with other flags of the build: the clean and the CPU
// phase alone.
func (r *recorder) recordBriefly(ctx context.Context, flags, env []string, file string) (*recording.Recording, error) {
	o := r.o
	o.BuildFlags, o.BuildEnv = slices.Concat(o.BuildFlags, flags), slices.Concat(o.BuildEnv, env)
	o.Phases, o.Out = []string{recording.PhaseCPU}, filepath.Join(r.tmp, file)
	o.Duration = min(max(o.Duration/2, 3*r.world.tick), 8*r.world.tick)
	o.Warmup = min(o.Warmup, 3*r.world.tick)
	o.Answers, o.PeakOperations, o.Output, o.StdinFrom, o.Progress = 0, nil, nil, nil, nil
	if _, err := record(ctx, o, r.world); err != nil {
		return nil, err
	}
	rec, err := recording.Open(o.Out)
	if err != nil {
		return nil, err
	}
	if why := r.worse(&rec.Manifest); why != "" {
		return nil, errors.Join(errors.New(why), rec.Close())
	}
	return rec, nil
}

// moreFailed is by how much the share of failed requests may be above that of the recording.
const moreFailed = 0.01

// worse returns how another run failed where the recording's did not; "" if it did not.
func (r *recorder) worse(other *recording.Manifest) string {
	m := r.out.Manifest()
	failed := func(m *recording.Manifest) float64 {
		var failed, all int64
		for _, ph := range m.Phases {
			if ph.Name == recording.PhaseClean || ph.Name == recording.PhaseCPU {
				failed, all = failed+ph.Failed, all+ph.Requests+ph.Failed
			}
		}
		return float64(failed) / float64(max(all, 1))
	}
	if trouble := other.Trouble(); trouble != "" {
		return trouble
	}
	if before, now := failed(&m), failed(other); now > before+moreFailed {
		return fmt.Sprintf("%.0f %% of the requests failed, and %.0f %% before", 100*now, 100*before)
	}
	if a, b := m.Target.ExitCode, other.Target.ExitCode; a != nil && b != nil && *a != *b {
		return fmt.Sprintf("the program exited with %d, and with %d before", *b, *a)
	}
	return ""
}
