package capture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
	"github.com/hone-go/hone/profile"
)

// depLab is a lab whose service spends four fifths of its CPU in example.com/dep. It depends on
// v1.0.0; built with another go.mod, with what that says, its CPU is cores. Builds with versions
// for which there is no figure fail.
func depLab(t *testing.T, cores map[string]float64) *lab {
	l := newLab(t)
	l.o.Phases = []string{recording.PhaseCPU, recording.PhaseUpgrade}
	dir := unpack(t, dependent)
	var gens []*fakeLoad
	l.world.startLoad = func(context.Context, load.Options) (generator, error) {
		g := &fakeLoad{rate: 20_000, done: make(chan struct{}), last: time.Now()}
		gens = append(gens, g)
		return g, nil
	}
	l.world.build = func(_ context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
		l.builds++
		version := "v1.0.0"
		for _, f := range s.BuildFlags {
			if name, ok := strings.CutPrefix(f, "-modfile="); ok {
				version = required(t, name)
			}
		}
		if cores[version] == 0 {
			return nil, nil, errors.New("main.go:14:27: cannot use list\nmore")
		}
		start := func(_ context.Context, s target.RunSpec) (process, error) {
			l.runs = append(l.runs, s)
			p := &depProgram{newFake()}
			p.cores = cores[version]
			return p, nil
		}
		work := filepath.Join(l.o.WorkDir, fmt.Sprintf("build-%d", l.builds))
		if err := os.MkdirAll(work, 0o755); err != nil {
			t.Error(err)
		}
		return &target.Binary{Path: filepath.Join(work, "x"), ImportPath: "example.com/app", Dir: dir, Go: runtime.Version(), Probe: true}, start, nil
	}
	l.start = func(target.RunSpec) process { return nil } // not called
	t.Cleanup(func() {
		for i, g := range gens {
			if !g.stopped {
				t.Errorf("load %d was not stopped", i)
			}
		}
	})
	return l
}

// required reads the version of example.com/dep in a go.mod.
func required(t *testing.T, gomod string) string {
	text, err := os.ReadFile(gomod)
	if err != nil {
		t.Error(err)
		return ""
	}
	_, after, _ := strings.Cut(string(text), depPath+" ")
	return strings.Fields(after + " ?")[0]
}

// depProgram is a program that spends its CPU in example.com/dep.
type depProgram struct{ *fakeProgram }

func (p *depProgram) Info(ctx context.Context) (target.Info, error) {
	info, err := p.fakeProgram.Info(ctx)
	info.Go, info.BuildInfo = runtime.Version(), depInfo
	return info, err
}

func (p *depProgram) CPUProfile(ctx context.Context, d time.Duration) ([]byte, error) {
	if _, err := p.fakeProgram.CPUProfile(ctx, d); err != nil {
		return nil, err
	}
	return through(map[string]int64{depPath + ".Distinct": 80, "main.work": 20}), nil
}

const depInfo = "go\tgo1.26.8\npath\texample.com/app\nmod\texample.com/app\t(devel)\t\ndep\texample.com/dep\tv1.0.0\th1:x=\n"

// through returns a CPU profile in which main.main calls functions that take so many samples.
func through(samples map[string]int64) []byte {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for name, n := range samples {
		b.Add([]profile.FrameSpec{{Function: name, File: "x.go", Line: 3}, {Function: "main.main", File: "main.go", Line: 9}}, n, n*1e7)
	}
	return built(b)
}

// texts returns what was reported at the ends of the phase upgrade.
func texts(events []Event) (list []string) {
	for _, e := range events {
		if e.Phase == recording.PhaseUpgrade && e.End {
			list = append(list, e.Text)
		}
	}
	return list
}

// TestUpgrade: a release that the program does not build with is followed by the one before; what
// it saves is that of another run of the unchanged program after it.
func TestUpgrade(t *testing.T) {
	proxied(t, map[string]string{"v1.0.0": slowDep, "v1.1.0": fastDep, "v1.2.0": otherDep})
	synctest.Test(t, func(t *testing.T) {
		l := depLab(t, map[string]float64{"v1.0.0": 0.5, "v1.1.0": 0.2})
		if partial, err := l.record(t.Context()); partial || err != nil {
			t.Fatal(partial, err)
		}
		r := l.open()
		u := r.Manifest.Upgrade
		if u == nil {
			t.Fatalf("no upgrade: %+v", r.Manifest.Missing)
		}
		if m, ok := u.Tried(depPath); !ok || len(u.Modules) != 1 || m.From != "v1.0.0" || m.To != "v1.1.0" {
			t.Errorf("modules %+v", u.Modules)
		}
		// The clock and the load are fake, and exact.
		if s := u.Saved(recording.UpgradeCPU); math.Abs(s.Value-0.6) > 0.01 || s.Low < 0.58 || s.High > 0.62 {
			t.Errorf("saved %v of the CPU, want 0.6", s)
		}
		if s := u.Saved(recording.UpgradeTime); math.Abs(s.Value) > 0.01 {
			t.Errorf("saved %v of the time, want none", s)
		}
		for _, part := range []string{recording.PartUpgradeCPU, recording.PartUpgradeAllocs} {
			if !r.Has(part) {
				t.Errorf("no %s: %s", part, why(r.Manifest, part))
			}
		}
		if l.builds != 5 || len(l.runs) != 3 { // v1.2.0 fails; v1.1.0 builds, and runs; v1.0.0 once more
			t.Errorf("%d builds, %d runs", l.builds, len(l.runs))
		}
		got := texts(l.events)
		if want := "example.com/dep v1.0.0 → v1.1.0; cpu_seconds -60 %"; len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("reported %q, want %q", got, want)
		}
	})
}

// TestNextUpgrade: if the newest release saves nothing, the next one may.
func TestNextUpgrade(t *testing.T) {
	proxied(t, map[string]string{"v1.0.0": slowDep, "v1.0.1": slowDep, "v1.1.0": fastDep, "v1.2.0": otherDep})
	synctest.Test(t, func(t *testing.T) {
		l := depLab(t, map[string]float64{"v1.0.0": 0.5, "v1.1.0": 0.2, "v1.2.0": 0.6})
		if partial, err := l.record(t.Context()); partial || err != nil {
			t.Fatal(partial, err)
		}
		u := l.open().Manifest.Upgrade
		if u == nil || len(u.Modules) != 1 || u.Modules[0].To != "v1.1.0" {
			t.Fatalf("upgrade %+v", u)
		}
		if s := u.Saved(recording.UpgradeCPU); math.Abs(s.Value-0.6) > 0.01 {
			t.Errorf("saved %v of the CPU, want 0.6", s)
		}
	})
}

// TestNoUpgrade: what is reported in place of an upgrade, and what is kept of it.
func TestNoUpgrade(t *testing.T) {
	proxied(t, map[string]string{"v1.0.0": slowDep, "v1.1.0": fastDep, "v1.2.0": otherDep})
	for name, c := range map[string]struct {
		cores  map[string]float64
		change func(*lab)
		text   string // "": nothing is reported
		builds int
		module string // in the manifest; "" for no upgrade there
	}{
		"not asked for": {
			change: func(l *lab) { l.o.Phases = []string{recording.PhaseCPU} },
			builds: 1,
		},
		"modules from elsewhere": {
			change: func(l *lab) { l.o.BuildFlags = []string{"-mod=vendor"} },
			builds: 1,
		},
		"no dependency is expensive": {
			change: func(l *lab) { l.world.build = without(l.world.build) },
			text:   "nothing to try: no dependency has 5 % of the cost",
			builds: 1,
		},
		"costs the same": {
			cores:  map[string]float64{"v1.1.0": 0.5, "v1.2.0": 0.5},
			text:   "example.com/dep v1.0.0 → v1.2.0: costs about the same",
			builds: 3, module: "v1.2.0",
		},
		"costs more": {
			cores:  map[string]float64{"v1.2.0": 0.7}, // and v1.1.0 does not build
			text:   "example.com/dep v1.0.0 → v1.2.0: costs about the same",
			builds: 3, module: "v1.2.0",
		},
		"none builds": {
			text:   "not available: example.com/dep v1.0.0 → v1.2.0: main.go:14:27: cannot use list",
			builds: 3, module: "v1.2.0 main.go:14:27: cannot use list",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cores := map[string]float64{"v1.0.0": 0.5}
				for v, x := range c.cores {
					cores[v] = x
				}
				l := depLab(t, cores)
				if c.change != nil {
					c.change(l)
				}
				if partial, err := l.record(t.Context()); partial || err != nil {
					t.Fatal(partial, err)
				}
				r := l.open()
				if got := strings.Join(texts(l.events), "; "); got != c.text {
					t.Errorf("reported %q, want %q", got, c.text)
				}
				module := ""
				if u := r.Manifest.Upgrade; u != nil && len(u.Modules) == 1 {
					module = strings.TrimSpace(u.Modules[0].To + " " + u.Modules[0].Failed)
				}
				if module != c.module || l.builds != c.builds {
					t.Errorf("upgrade to %q in %d builds, want %q in %d", module, l.builds, c.module, c.builds)
				}
				if r.Has(recording.PartUpgradeCPU) || r.Has(recording.PartUpgradeAllocs) {
					t.Error("there are profiles of an upgrade")
				}
			})
		})
	}
}

type buildFunc = func(context.Context, target.BuildSpec) (*target.Binary, startFunc, error)

// without gives programs that spend nothing in dependencies.
func without(build buildFunc) buildFunc {
	return func(ctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
		b, start, err := build(ctx, s)
		return b, func(ctx context.Context, s target.RunSpec) (process, error) {
			p, err := start(ctx, s)
			return p.(*depProgram).fakeProgram, err
		}, err
	}
}

// TestUpgradeInterrupted: the recording keeps what it had.
func TestUpgradeInterrupted(t *testing.T) {
	proxied(t, map[string]string{"v1.0.0": slowDep, "v1.1.0": fastDep})
	synctest.Test(t, func(t *testing.T) {
		l := depLab(t, map[string]float64{"v1.0.0": 0.5, "v1.1.0": 0.2})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l.o.Progress = func(e Event) {
			if e.Phase == recording.PhaseUpgrade && strings.Contains(e.Text, "v1.1.0") {
				time.AfterFunc(l.o.Warmup, cancel)
			}
		}
		partial, err := l.record(ctx)
		if !partial || !errors.Is(err, context.Canceled) {
			t.Fatal(partial, err)
		}
		if r := l.open(); !r.Has(recording.PartCPU) || r.Has(recording.PartUpgradeCPU) {
			t.Errorf("parts %q", partNames(r.Manifest))
		}
	})
}

func TestHotModules(t *testing.T) {
	const info = "go\tgo1.26.8\npath\texample.com/app\nmod\texample.com/app\t(devel)\t\n" +
		"dep\texample.com/a\tv1.0.0\th1:x=\ndep\texample.com/a/b\tv1.1.0\th1:x=\ndep\texample.com/few\tv1.0.0\th1:x=\n" +
		"dep\texample.com/fork\tv1.0.0\n=>\texample.com/mine\tv1.0.1\th1:x=\ndep\texample.com/local\tv1.0.0\n=>\t../local\t(devel)\t\n" +
		"dep\texample.com/work\t(devel)\t\ndep\texample.com/idle\tv1.0.0\th1:x=\n"
	profiles := map[string][]byte{
		recording.PartCPU: through(map[string]int64{
			"example.com/a.F": 8, "example.com/a/x.(*T).G": 6, "example.com/a/b/c.H[...]": 20, "example.com/few.F": 4, "example.com/fork.F": 10,
			"example.com/local.F": 10, "example.com/work.F": 10, "strings.Map": 31, "example.com/a/y.F": 1,
		}),
		recording.PartHeap: []byte("not a profile"),
	}
	got := hotModules(profiles, info)
	if len(got) != 2 || got[0].Path != "example.com/a/b" || got[0].From != "v1.1.0" || got[1].Path != "example.com/a" {
		t.Fatalf("%+v", got)
	}
	slices.Sort(got[1].packages)
	if want := []string{"example.com/a", "example.com/a/x"}; !slices.Equal(got[1].packages, want) || math.Abs(got[1].share-0.08) > 1e-9 {
		t.Errorf("%q with %v, want %q with 0.08", got[1].packages, got[1].share, want)
	}
	if got := hotModules(profiles, "not build info"); got != nil {
		t.Errorf("without build info: %+v", got)
	}
	dots := hotModules(map[string][]byte{recording.PartCPU: through(map[string]int64{"gopkg.in/yaml%2ev3.Unmarshal": 9})}, "dep\tgopkg.in/yaml.v3\tv3.0.0\th1:x=\n")
	if len(dots) != 1 || dots[0].Path != "gopkg.in/yaml.v3" || dots[0].packages[0] != "gopkg.in/yaml.v3" {
		t.Errorf("a dot in the last element of the path: %+v", dots)
	}
	// Only the most expensive ones are tried.
	many, deps := map[string]int64{}, "path\texample.com/app\n"
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		many["example.com/"+name+".F"] = int64(10 + i)
		deps += "dep\texample.com/" + name + "\tv1.0.0\th1:x=\n"
	}
	got = hotModules(map[string][]byte{recording.PartCPU: through(many)}, deps)
	if len(got) != mostUpgrades || got[0].Path != "example.com/f" || got[mostUpgrades-1].Path != "example.com/c" {
		t.Errorf("of six: %+v", got)
	}
}

func TestModuleOf(t *testing.T) {
	deps := []*debug.Module{{Path: "example.com/a/b"}, {Path: "example.com/a"}, {Path: "example.com/a/b/v2"}, {Path: "gopkg.in/yaml.v3"}}
	for pkg, want := range map[string]string{
		"example.com/a": "example.com/a", "example.com/a/x/y": "example.com/a", "example.com/a/b": "example.com/a/b", "example.com/a/bc": "example.com/a",
		"example.com/a/b/v2/z": "example.com/a/b/v2", "gopkg.in/yaml.v3": "gopkg.in/yaml.v3", "example.com/ab": "", "strings": "", "main": "", "": "",
	} {
		got := ""
		if m := moduleOf(deps, pkg); m != nil {
			got = m.Path
		}
		if got != want {
			t.Errorf("%q is of %q, want %q", pkg, got, want)
		}
	}
}

func TestSameFiles(t *testing.T) {
	base := map[string]string{"a.go": "package a\n", "b.go": "package a\n\nfunc B() {}\n"}
	with := func(change map[string]string) string {
		dir := t.TempDir()
		for _, files := range []map[string]string{base, change} {
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		return dir
	}
	a := with(nil)
	for name, c := range map[string]struct {
		change map[string]string
		want   bool
	}{
		"nothing":      {nil, true},
		"a test":       {map[string]string{"a_test.go": "package a\n"}, true},
		"the notes":    {map[string]string{"README.md": "faster\n"}, true},
		"a function":   {map[string]string{"b.go": "package a\n\nfunc C() {}\n"}, false},
		"another file": {map[string]string{"c.go": "package a\n"}, false},
	} {
		b := with(c.change)
		if sameFiles(a, b) != c.want || sameFiles(b, a) != c.want {
			t.Errorf("%s changed: want %t", name, c.want)
		}
	}
	if sameFiles(a, filepath.Join(a, "not there")) {
		t.Error("a package that is gone is the same")
	}
}

func TestToolchain(t *testing.T) {
	for version, want := range map[string]string{
		"go1.26.8": "go1.26.8", "go1.21.0": "go1.21.0", "go1.20": "local", "go1.27rc1": "local", "devel go1.27-abcdef": "local", "": "local",
		"go1.26.8 X:nodwarf5": "local",
	} {
		if got := toolchain(version); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}

func TestOwnModules(t *testing.T) {
	for flags, want := range map[string]bool{
		"": false, "-tags=a -race": false, "-modcacherw": false, "-mod=vendor": true, "--mod=mod": true, "-tags=a -modfile=x.mod": true, "-modfile x.mod": true,
		"-mod vendor": true,
	} {
		r := &recorder{o: Options{BuildFlags: strings.Fields(flags)}}
		if got := r.ownModules(); got != want {
			t.Errorf("%q: %t", flags, got)
		}
	}
}

// TestCachedModules: the files of a profile name the modules of a binary without that information.
func TestCachedModules(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for name, file := range map[string]string{
		"github.com/Miek/dns/internal.F":       "/go/pkg/mod/github.com/!miek/dns@v1.0.8/internal/f.go",
		"gopkg.in/yaml%2ev3.Unmarshal":         "gopkg.in/yaml.v3@v3.0.1/yaml.go",
		"example.com/replaced.F":               "/go/pkg/mod/example.com/fork@v1.0.0/f.go",
		"example.com/vendored.F":               "/src/app/vendor/example.com/vendored/f.go",
		"golang.org/x/net@v1/odd.F":            "/x@y/f.go",
		"main.main":                            "/src/app/main.go",
		"github.com/go-chi/chi/v5.(*Mux).Find": `/go/pkg/mod/github.com/go-chi/chi/v5@v5.0.1/mux.go`,
	} {
		b.Add([]profile.FrameSpec{{Function: name, File: file, Line: 1}}, 1)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, m := range cachedModules(p) {
		got[name] = m.Path + " " + m.Version
	}
	want := map[string]string{
		"github.com/Miek/dns/internal": "github.com/Miek/dns v1.0.8", "gopkg.in/yaml%2ev3": "gopkg.in/yaml.v3 v3.0.1",
		"github.com/go-chi/chi/v5": "github.com/go-chi/chi/v5 v5.0.1",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
