package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	gover "go/version"
	"io"
	"net/url"
	"os"
	pathpkg "path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/symbol"
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
	return r.runPhaseAgain(ctx, recording.PhaseUpgrade, recording.PhaseUpgrade, func() (string, error) { return r.takeUpgrade(ctx) })
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

// hotModules returns the dependencies that carry the cost, most expensive first.
func hotModules(profiles map[string][]byte, buildInfo string) []upgrade {
	var deps []*debug.Module // none in the binaries of tests
	if info, err := debug.ParseBuildInfo(buildInfo); err == nil {
		deps = info.Deps
	}
	byPath := map[string]*upgrade{}
	for _, of := range []struct{ part, column string }{{recording.PartCPU, "cpu"}, {recording.PartAllocs, "alloc_space"}, {recording.PartHeap, "inuse_space"}, {recording.PartGoroutine, "goroutine"}} {
		p, err := decode(profiles[of.part])
		if err != nil {
			continue
		}
		index, err := p.SampleIndex(of.column)
		if err != nil {
			continue
		}
		var cached map[string]*debug.Module
		if len(deps) == 0 {
			cached = cachedModules(p)
		}
		for name, share := range packageShares(p, index) {
			pkg, _ := url.PathUnescape(name) // the linker escapes dots: "gopkg.in/yaml%2ev3"
			d := moduleOf(deps, pkg)
			if d == nil {
				d = cached[name]
			}
			if share < countedShare || d == nil || d.Replace != nil || !semver.IsValid(d.Version) {
				continue
			}
			if byPath[d.Path] == nil {
				byPath[d.Path] = &upgrade{ModuleUpgrade: recording.ModuleUpgrade{Path: d.Path, From: d.Version}}
			}
			u := byPath[d.Path]
			u.share = max(u.share, share)
			if !slices.Contains(u.packages, pkg) {
				u.packages = append(u.packages, pkg)
			}
		}
	}
	var list []upgrade
	for _, u := range byPath {
		if u.share >= upgradeShare {
			list = append(list, *u)
		}
	}
	slices.SortFunc(list, func(a, b upgrade) int { return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.Path, b.Path)) })
	return list[:min(len(list), mostUpgrades)]
}

// cachedModules returns the modules of packages whose files are in a module cache, by package as
// the profile names it: …/github.com/x/y@v1.2.3/z.go.
func cachedModules(p *profile.Profile) map[string]*debug.Module {
	found := map[string]*debug.Module{}
	for _, f := range p.Functions {
		dir, rest, ok := strings.Cut(filepath.ToSlash(f.Filename), "@")
		name := symbol.Package(f.Name)
		if !ok || found[name] != nil {
			continue
		}
		version, _, _ := strings.Cut(rest, "/")
		pkg, _ := url.PathUnescape(name)
		for path := pkg; path != "." && path != "/"; path = pathpkg.Dir(path) {
			escaped, err := module.EscapePath(path)
			if err == nil && (dir == escaped || strings.HasSuffix(dir, "/"+escaped)) {
				found[name] = &debug.Module{Path: path, Version: version}
				break
			}
		}
	}
	return found
}

// moduleOf returns the module that a package belongs to; nil if that is none of the dependencies.
func moduleOf(deps []*debug.Module, pkg string) (of *debug.Module) {
	for _, d := range deps {
		if (pkg == d.Path || strings.HasPrefix(pkg, d.Path+"/")) && (of == nil || len(d.Path) > len(of.Path)) {
			of = d
		}
	}
	return of
}

// differing returns the modules of which a newer release has other code in the packages that carry
// the cost. The error is that of the last module which could not be looked at.
func differing(ctx context.Context, tree *altmod.Tree, hot []upgrade) (found []upgrade, err error) {
	for _, u := range hot {
		newer, lerr := tree.Newer(ctx, u.Path, u.From)
		if lerr != nil {
			err = lerr
			continue
		}
		for i, v := range newer {
			if i+1 == len(newer) || semver.MajorMinor(newer[i+1]) != semver.MajorMinor(v) {
				u.releases = append(u.releases, v)
			}
		}
		if len(u.releases) == 0 { // what is fixed on the default branch may not be released yet
			head := tree.Head(ctx, u.Path, u.From)
			if head == "" {
				continue
			}
			u.releases = []string{head}
		}
		u.To = u.releases[len(u.releases)-1]
		same, serr := sameSource(ctx, tree, &u)
		if serr != nil {
			err = serr
		} else if !same {
			found = append(found, u)
		}
	}
	return found, err
}

// sameSource reports whether the packages that carry the cost have the same files in the newest
// release.
func sameSource(ctx context.Context, tree *altmod.Tree, u *upgrade) (bool, error) {
	old, err := tree.Source(ctx, u.Path, u.From)
	if err != nil {
		return false, err
	}
	newest, err := tree.Source(ctx, u.Path, u.To)
	if err != nil {
		return false, err
	}
	for _, pkg := range u.packages {
		below := filepath.FromSlash(strings.TrimPrefix(strings.TrimPrefix(pkg, u.Path), "/"))
		if !sameFiles(filepath.Join(old, below), filepath.Join(newest, below)) {
			return false, nil
		}
	}
	return true, nil
}

// sameFiles reports whether two directories have the same Go files, without tests.
func sameFiles(a, b string) bool {
	read := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err == nil {
				files[filepath.Base(name)] = text
			}
		}
		return files
	}
	x, y := read(a), read(b)
	if len(x) != len(y) {
		return false
	}
	for name, text := range x {
		if !bytes.Equal(text, y[name]) {
			return false
		}
	}
	return true
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
	return text, u, err
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

// keepUpgrade keeps the figures of the upgraded target, and compares them with those of the
// unchanged one: those of this recording and, if the upgrade seems to save something, of another
// run after it.
func (r *recorder) keepUpgrade(ctx context.Context, u *recording.Upgrade, releases string, upgraded *recording.Recording) (string, error) {
	m := r.out.Manifest()
	u.Figures = recording.UpgradeFigures(&upgraded.Manifest, &m)
	gain := func() bool {
		for _, f := range u.Figures {
			if s := u.Saved(f.Name); s.Known() && s.Value >= leastUpgrade && s.Low > 0 {
				return true
			}
		}
		return false
	}
	if !gain() {
		return releases + ": costs about the same", nil
	}
	again, err := r.recordBriefly(ctx, nil, nil, "again.hone")
	if err != nil {
		u.Figures = nil // an unchanged target that fails proves nothing
		return "", err
	}
	defer again.Close()
	u.Figures = recording.UpgradeFigures(&upgraded.Manifest, &m, &again.Manifest)
	for from, to := range map[string]string{recording.PartCPU: recording.PartUpgradeCPU, recording.PartAllocs: recording.PartUpgradeAllocs} {
		if err := r.copyPart(upgraded, from, to); err != nil {
			return "", err
		}
	}
	text := releases
	for _, f := range u.Figures {
		if s := u.Saved(f.Name); s.Known() {
			text += fmt.Sprintf("; %s %+.0f %%", f.Name, -100*s.Value)
		}
	}
	return text, nil
}

// copyPart copies a part of another recording, if it has that.
func (r *recorder) copyPart(from *recording.Recording, part, to string) error {
	if !from.Has(part) {
		return nil
	}
	f, err := from.Part(part)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return r.add(to, r.phase, data)
}
