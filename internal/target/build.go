package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/scratch"
)

// BuildSpec describes a build.
type BuildSpec struct {
	// Package is "./cmd/server", an import path, a directory, one in the module
	// cache, or .go files of one directory, separated by spaces.
	Package    string
	Dir        string   // directory that Package is relative to; "" = the working directory
	Bench      bool     // build the package's test binary instead of a main package
	BuildFlags []string // the user's -build flags, merged with GOFLAGS and hone's own; see SplitFlags
	WorkDir    string   // where hone may write (its cache); the user's tree is never written
	NoProbe    bool     // build without the probe
	// Counted lists the import paths of packages to build with execution counters (Go's coverage
	// instrumentation, mode atomic). Package runtime and its imports cannot have any. A program's
	// package main always gets some. Without the probe such a build is an error.
	Counted []string
	// Inputs lists functions whose inputs the probe counts; those that cannot be watched are left
	// out. It excludes Counted. Without the probe such a build is an error.
	Inputs []Func
	// Leaks builds a program whose runtime finds goroutines that nothing can wake, with
	// GOEXPERIMENT=goroutineleakprofile where the toolchain needs that (Go 1.26). Without the
	// probe, or with an older toolchain, such a build is an error.
	Leaks bool
	// Overlay replaces files, by absolute path, in addition to the user's own overlay.
	Overlay map[string]string
	// Layout, when not 0, is the seed by which the linker orders functions (-randlayout, since Go
	// 1.26; ignored by older versions). Builds with different seeds show the effect of the layout
	// alone.
	Layout    int
	GoCommand string   // the go command to use; "" = go in PATH
	Env       []string // added to the caller's environment, for the go command
}

// instrumented reports whether the program is built to report something that only the probe can
// deliver.
func (s *BuildSpec) instrumented() bool { return len(s.Counted)+len(s.Inputs) > 0 || s.Leaks }

// BuildDirPrefix starts the names of the directories that Build makes in WorkDir.
const BuildDirPrefix = "build-"

// Binary is a built target.
type Binary struct {
	Path       string // of the executable, inside WorkDir
	ImportPath string
	Module     string
	Dir        string   // of the package's sources
	Go         string   // toolchain that built it
	GoCommand  string   // the go command used
	Probe      bool     // has the probe (Go 1.23 or newer)
	Counted    []string // packages with counters of executions
	Watched    []Func   // functions whose inputs are counted
	BuildFlags []string
	Notes      []string // e.g. why there is no probe
	Took       time.Duration
	dir        *scratch.Dir // that holds Path
}

// Remove removes what Build wrote for this binary. Copies from the module cache stay for the next
// build.
func (b *Binary) Remove() error {
	if b.dir == nil {
		return os.RemoveAll(filepath.Dir(b.Path))
	}
	return b.dir.Remove()
}

// BuildError is a failed build, with the compiler's output.
type BuildError struct {
	Package string
	Output  string
	Err     error
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("build %s: %v\n%s", e.Package, e.Err, e.Output)
}
func (e *BuildError) Unwrap() error { return e.Err }

// Build builds the package with the probe. The go command runs in the package's directory, so that
// the package's own go.mod or go.work and toolchain apply.
//
// A build that fails with the probe is tried without it. When that one works, the binary has no
// probe and its notes say why. When it fails too, its output is the error: then the fault is in the
// user's code alone.
func Build(ctx context.Context, s BuildSpec) (*Binary, error) {
	began := time.Now()
	if s.Package == "" {
		s.Package = "."
	}
	b, err := build(ctx, s)
	if err != nil {
		var failed *BuildError
		if errors.As(err, &failed) {
			failed.Package = s.Package
		}
		return nil, err
	}
	b.Took = time.Since(began)
	return b, nil
}

// A builder builds one package.
type builder struct {
	spec    BuildSpec
	userDir string // absolute, the user's working directory
	goCommand
	args    []string // the package's name there
	env     goEnv
	goflags []buildFlag
	flags   []buildFlag
	pkg     listedPackage
	copied  *moduleCopy // the module was copied from the module cache
	watched []Func      // functions of spec.Inputs that report their inputs
	notes   []string
}

func build(ctx context.Context, s BuildSpec) (*Binary, error) {
	b, err := newBuilder(s)
	if err != nil {
		return nil, err
	}
	if err := b.find(ctx); err != nil {
		return nil, err
	}
	defer guardSums(b.env)()
	if err := b.load(ctx); err != nil {
		return nil, err
	}
	if err := b.suits(); err != nil {
		return nil, err
	}
	dir, err := scratch.Make(s.WorkDir, BuildDirPrefix)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", s.Package, err)
	}
	bin, err := b.link(ctx, dir.Path)
	if err != nil {
		dir.Remove()
		return nil, err
	}
	bin.dir = dir
	return bin, nil
}

func newBuilder(s BuildSpec) (*builder, error) {
	if s.WorkDir == "" {
		return nil, errors.New("build: no directory to write to")
	}
	work, err := filepath.Abs(s.WorkDir)
	if err != nil {
		return nil, err
	}
	s.WorkDir = work
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	b := &builder{spec: s}
	if b.userDir, err = filepath.Abs(s.Dir); err != nil {
		return nil, err
	}
	if b.userDir, err = filepath.EvalSymlinks(b.userDir); err != nil {
		return nil, fmt.Errorf("build %s: %w", s.Package, err)
	}
	name := s.GoCommand
	if name == "" {
		name = "go"
	}
	if b.goCommand.path, err = exec.LookPath(name); err != nil {
		return nil, fmt.Errorf("build %s: the go command is needed: %w", s.Package, err)
	}
	b.goCommand.env = s.Env
	if b.flags, err = parseFlags(s.BuildFlags); err != nil {
		return nil, err
	}
	return b, nil
}

// find determines where the go command runs and the package's name there.
func (b *builder) find(ctx context.Context) error {
	dir, args, err := locate(b.userDir, b.spec.Package)
	if err != nil {
		return err
	}
	b.dir, b.args = dir, args
	if b.goCommand, b.env, err = b.settle(ctx, b.dir); err != nil {
		return err
	}
	if inside(b.env.GOMODCACHE, b.dir) {
		if err := b.copyModule(b.dir); err != nil {
			return err
		}
		if b.goCommand, b.env, err = b.settle(ctx, b.dir); err != nil {
			return err
		}
	}
	b.goflags, err = parseGOFLAGS(b.env.GOFLAGS)
	return err
}

// settle sets the go command's directory and reads its environment there.
func (b *builder) settle(ctx context.Context, dir string) (goCommand, goEnv, error) {
	g := b.goCommand
	g.dir = dir
	e, err := g.environment(ctx)
	if err != nil {
		return g, e, err
	}
	if e.GOOS != runtime.GOOS {
		return g, e, fmt.Errorf("build %s: GOOS is %s, and this machine runs %s programs", b.spec.Package, e.GOOS, runtime.GOOS)
	}
	return g, e, nil
}

// load asks the go command about the package. A package in the module cache is copied first: the go
// command refuses overlays there.
func (b *builder) load(ctx context.Context) error {
	var err error
	if b.pkg, err = b.list(ctx, b.plainFlags(), b.args); err != nil {
		return b.asUserKnows(err)
	}
	if !inside(b.env.GOMODCACHE, b.pkg.Dir) {
		return nil
	}
	if err := b.copyModule(b.pkg.Dir); err != nil {
		return err
	}
	b.args = []string{"."}
	if b.goCommand, b.env, err = b.settle(ctx, b.dir); err != nil {
		return err
	}
	b.pkg, err = b.list(ctx, b.plainFlags(), b.args)
	return b.asUserKnows(err)
}

// suits rejects packages that cannot be run.
func (b *builder) suits() error {
	p := b.pkg
	if p.Standard && !b.spec.NoProbe {
		return fmt.Errorf("%s is part of the Go distribution: hone adds a probe to what it measures, and the probe imports the standard library, so it cannot be part of it; "+
			"profile a benchmark by `go test -run '^$' -bench REGEXP -cpuprofile cpu.pprof %s` and look at it with `hone top cpu.pprof`, or measure a program of yours that calls the package", p.ImportPath, p.ImportPath)
	}
	if b.spec.Bench {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			return fmt.Errorf("%s has no test files, so there is nothing to benchmark", p.ImportPath)
		}
		return nil
	}
	if p.Name != "main" {
		return fmt.Errorf("%s is not a main package (it is package %s); name a main package, or measure this one's benchmarks with -bench", p.ImportPath, p.Name)
	}
	return nil
}

// plainFlags returns the flags of a build without the probe.
func (b *builder) plainFlags() []string {
	m := mergeFlags(b.goflags, b.flags, b.userDir, b.layoutFlag())
	if m.overlay != "" {
		m.words = append(m.words, "-overlay="+m.overlay)
	}
	return b.withCopy(m.words)
}

// layoutFlag returns the linker's flag for a random layout; "" for none.
func (b *builder) layoutFlag() string {
	if b.spec.Layout == 0 || !atLeast(b.env.GOVERSION, "go1.26") {
		return ""
	}
	return fmt.Sprintf("-randlayout=%d", b.spec.Layout)
}

// replacing returns the flags of a build without the probe, with an overlay of the spec's.
func (b *builder) replacing(work string) ([]string, error) {
	if len(b.spec.Overlay) == 0 {
		return b.plainFlags(), nil
	}
	m := mergeFlags(b.goflags, b.flags, b.userDir, b.layoutFlag())
	overlay, err := mergeOverlay(work, b.spec.Overlay, m.overlay, b.userDir)
	if err != nil {
		return nil, err
	}
	return b.withCopy(append(m.words, "-overlay="+overlay)), nil
}

// withCopy adds the flags for a copy from the module cache: its go.sum lists only what its author's
// builds needed, and it has no version control.
func (b *builder) withCopy(words []string) []string {
	if b.copied != nil {
		words = append(words, "-mod=mod", "-buildvcs=false")
	}
	return words
}

// link builds the executable in dir, with the probe if possible.
func (b *builder) link(ctx context.Context, dir string) (*Binary, error) {
	bin := &Binary{
		Path:       filepath.Join(dir, b.programName()),
		ImportPath: b.pkg.ImportPath,
		Dir:        b.pkg.Dir,
		Go:         b.env.GOVERSION,
		GoCommand:  b.goCommand.path,
		BuildFlags: b.spec.BuildFlags,
		Counted:    b.spec.Counted,
	}
	if b.pkg.Module != nil {
		bin.Module = b.pkg.Module.Path
	}
	if why := b.noProbe(); why != "" {
		b.notes = append(b.notes, why)
	} else if err := b.compileWithProbe(ctx, dir, bin.Path); err == nil {
		bin.Probe = true
	} else if ctx.Err() != nil {
		return nil, err
	} else if b.spec.instrumented() {
		return nil, fmt.Errorf("build %s once more to observe it: %s", b.spec.Package, firstWords(err))
	} else {
		b.notes = append(b.notes, "built without hone's probe, because the build with it fails: "+firstWords(err))
	}
	if !bin.Probe && b.spec.instrumented() {
		return nil, fmt.Errorf("build %s once more to observe it: %s", b.spec.Package, b.notes[len(b.notes)-1])
	}
	bin.Watched = b.watched
	if !bin.Probe {
		flags, err := b.replacing(dir)
		if err == nil {
			err = b.compile(ctx, bin.Path, flags, b.args)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(bin.Path); err != nil {
		return nil, fmt.Errorf("build %s: the go command made no program", b.spec.Package)
	}
	bin.Notes = b.notes
	return bin, nil
}

// noProbe returns why the probe cannot be added, "" when it can.
func (b *builder) noProbe() string {
	switch {
	case b.spec.NoProbe:
		return "built without hone's probe, as asked"
	case !atLeast(b.env.GOVERSION, "go1.23"):
		return fmt.Sprintf("built by %s without hone's probe, which needs Go 1.23 or newer", b.env.GOVERSION)
	}
	for _, f := range append(b.goflags[:len(b.goflags):len(b.goflags)], b.flags...) {
		if f.name == "compiler" && f.value != "gc" {
			return "built by " + f.value + " without hone's probe, which needs the gc toolchain"
		}
	}
	return ""
}

func (b *builder) compileWithProbe(ctx context.Context, work, out string) error {
	m := mergeFlags(b.goflags, b.flags, b.userDir, linkFlag)
	at := b.probePlace()
	if len(b.spec.Inputs) > 0 {
		w, err := b.watch(ctx, work)
		if err != nil {
			return err
		}
		m.words = append(m.words, w.flags...)
		if b.spec.Bench {
			m.words = append(m.words, "-vet=off") // it reads the files as they are, without the additions of an overlay
		}
		b.goCommand.env = append(b.goCommand.env[:len(b.goCommand.env):len(b.goCommand.env)], w.env)
		b.watched, at.inputs = w.funcs, w.setter
	}
	if b.spec.Leaks {
		variable, err := b.env.leaksExperiment()
		if err != nil {
			return err
		}
		b.goCommand.env = append(b.goCommand.env[:len(b.goCommand.env):len(b.goCommand.env)], variable...)
	}
	overlay, err := writeOverlay(work, at, m.overlay, b.userDir)
	if err != nil {
		return err
	}
	args := b.args
	switch {
	case at.counters:
		m.words = append(m.words, "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(b.counted(), ","))
	case strings.HasSuffix(args[0], ".go"):
		args = append(args[:len(args):len(args)], at.file)
	}
	return b.compile(ctx, out, b.withCopy(append(m.words, "-overlay="+overlay)), args)
}

// probePlace returns the package that the probe goes into: the target's own package main. The go
// command's coverage mode cannot read a file that exists only in an overlay (cmd/go, Builder.cover:
// the cover tool opens the file itself). With counters the probe therefore goes into the package of
// the standard library that writes them, which is linked into every such program and is not
// instrumented itself.
func (b *builder) probePlace() placement {
	at := placement{dir: b.pkg.Dir, pkg: b.pkg.Name, file: ProbeFile, goos: b.env.GOOS}
	switch {
	case len(b.spec.Counted) > 0:
		at.counters = true
		at.dir, at.pkg = filepath.Join(b.env.GOROOT, "src", "internal", "coverage", "cfile"), "cfile"
	case b.spec.Bench:
		at.file = probeTestFile
	}
	return at
}

// counted returns the packages to build with counters. The go command links the package that writes
// them, which has the probe, only into a program whose package main has counters, or into one that
// go test generates.
func (b *builder) counted() []string {
	if b.spec.Bench || slices.Contains(b.spec.Counted, b.pkg.ImportPath) {
		return b.spec.Counted
	}
	return append(slices.Clip(b.spec.Counted), b.pkg.ImportPath)
}

func (b *builder) compile(ctx context.Context, out string, flags, args []string) error {
	words := append([]string{"build", "-o", out}, flags...)
	if b.spec.Bench {
		// For tests, -- does not end the flags: the go command would take the directory that it
		// runs in for the package.
		words = append([]string{"test", "-c", "-o", out}, flags...)
	} else {
		words = append(words, "--")
	}
	_, err := b.run(ctx, append(words, args...)...)
	return b.asUserKnows(err)
}

// programName returns the name of the executable.
func (b *builder) programName() string {
	name := strings.TrimSuffix(filepath.Base(b.pkg.Dir), ".go")
	if b.pkg.Module != nil && b.pkg.Module.Dir == b.pkg.Dir {
		name = programOf(b.pkg.Module.Path)
	}
	if b.spec.Bench {
		name += ".test"
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}
