package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/target"
)

// runner is the state of a call of Run.
type runner struct {
	Spec
	work     string
	sides    [2]side
	overlay  map[string]string // for the timer that reads CPU time; nil if there is none
	subjects []*subject
	result   Result
	binaries []*target.Binary
	counter  *counter // of instructions; nil if they are not counted

	oneLayout bool // the linker has no -randlayout
}

// side is one of the trees that are measured.
type side struct {
	dir      string // that patterns are relative to; "" if there is no such side
	packages map[string]*testPackage
}

// testPackage is a package of one side that has benchmarks.
type testPackage struct {
	path, dir string
	layouts   []layout // for the first set of samples
	others    []layout // for the second set; linked when needed
}

// layout is a test binary with its own order of functions.
type layout struct {
	seed   int
	binary *target.Binary
}

// selfSeeds is the distance between the layout seeds of both sides when a tree is compared with
// itself. With the same seeds, the binaries would be identical, and the effect of layouts would not
// show.
const selfSeeds = 1000

func (r *runner) remove() {
	for _, b := range r.binaries {
		b.Remove()
	}
}

// prepare builds both sides and finds the benchmarks that they have in common.
func (r *runner) prepare(ctx context.Context) error {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	r.sides[newSide].dir = dir
	r.result = Result{Schema: Schema, CPUs: runtime.GOMAXPROCS(0), Layouts: r.Layouts, Against: r.Against, Tree: r.Tree}
	if r.Tree != "" {
		r.Progress(Progress{Text: "checking out " + r.Tree})
		r.sides[newSide].dir, r.result.TreeCommit, err = gittree.Checkout(ctx, dir, r.Tree, filepath.Join(r.work, "new"))
		if err != nil {
			return err
		}
	}
	switch r.Against {
	case "":
	case Self:
		r.sides[oldSide].dir = r.sides[newSide].dir
	default:
		r.Progress(Progress{Text: "checking out " + r.Against})
		r.sides[oldSide].dir, r.result.Commit, err = gittree.Checkout(ctx, dir, r.Against, filepath.Join(r.work, "old"))
		if err != nil {
			return err
		}
	}
	env, err := r.goEnv(ctx, dir)
	if err != nil {
		return err
	}
	r.result.Go = env.GOVERSION
	if r.overlay, err = timerOverlay(env.GOROOT, r.work); err != nil {
		r.result.Notes = append(r.result.Notes, "no CPU time: "+err.Error())
	}
	if !layouts(env.GOVERSION) {
		r.oneLayout = true
		r.Layouts, r.result.Layouts = 1, 1
		r.result.Notes = append(r.result.Notes, env.GOVERSION+" links a program in one layout only: changes of CPU and time by a few percent may be caused by the placement of functions; Go 1.26 has -randlayout")
	}
	for i := range r.sides {
		if err := r.build(ctx, i); err != nil {
			return err
		}
	}
	return r.find(ctx)
}

// layouts reports whether the toolchain's linker has -randlayout.
func layouts(version string) bool {
	var major, minor int
	fmt.Sscanf(version, "go%d.%d", &major, &minor)
	return major > 1 || minor >= 26
}

type goEnv struct{ GOROOT, GOVERSION string }

func (r *runner) goEnv(ctx context.Context, dir string) (goEnv, error) {
	var env goEnv
	out, err := r.goCommand(ctx, dir, "env", "-json", "GOROOT", "GOVERSION")
	if err == nil {
		err = json.Unmarshal(out, &env)
	}
	return env, err
}

func (r *runner) goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.GoCommand, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// build builds the test binaries of a side.
func (r *runner) build(ctx context.Context, i int) error {
	sd := &r.sides[i]
	if sd.dir == "" {
		return nil
	}
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Error"}, tags(r.BuildFlags)...)
	out, err := r.goCommand(ctx, sd.dir, append(append(args, "--"), r.Packages...)...)
	if err != nil {
		return err
	}
	sd.packages = map[string]*testPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
			Error                     *struct{ Err string }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil && i == newSide {
			return fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		if !hasBenchmarks(p.Dir, append(p.TestGoFiles, p.XTestGoFiles...)) {
			continue
		}
		pkg := &testPackage{path: p.ImportPath, dir: p.Dir}
		sd.packages[p.ImportPath] = pkg
		if pkg.layouts, err = r.link(ctx, i, pkg, 0); err != nil {
			return err
		}
	}
	return nil
}

// tags returns the build flags that affect which files a package has.
func tags(flags []string) []string {
	var out []string
	for i, f := range flags {
		if name := strings.TrimLeft(f, "-"); strings.HasPrefix(name, "tags=") || strings.HasPrefix(name, "mod=") || strings.HasPrefix(name, "modfile=") {
			out = append(out, f)
		} else if (name == "tags" || name == "mod" || name == "modfile") && i+1 < len(flags) {
			out = append(out, f, flags[i+1])
		}
	}
	return out
}

func hasBenchmarks(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		src, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && bytes.Contains(src, []byte("func Benchmark"))
	})
}

// link links the test binary of a side's package in several layouts, with seeds after first.
func (r *runner) link(ctx context.Context, i int, pkg *testPackage, first int) (list []layout, err error) {
	if i == oldSide && r.Against == Self {
		first += selfSeeds
	}
	for n := range r.Layouts {
		r.Progress(Progress{Text: fmt.Sprintf("building %s, layout %d of %d", pkg.path, n+1, r.Layouts)})
		seed := first + n + 1
		bin, err := target.Build(ctx, target.BuildSpec{
			Package: pkg.dir, Dir: pkg.dir, Bench: true, NoProbe: true, BuildFlags: r.BuildFlags, GoCommand: r.GoCommand,
			WorkDir: r.work, Overlay: r.overlay, Layout: seed,
		})
		if err != nil {
			return nil, err
		}
		r.binaries = append(r.binaries, bin)
		list = append(list, layout{seed, bin})
	}
	return list, nil
}

// otherLayouts switches a benchmark to the layouts of the second set. It links them unless another
// benchmark of the package already did.
func (r *runner) otherLayouts(ctx context.Context, x *subject) (err error) {
	for i, pkg := range x.pkgs {
		if pkg == nil || r.oneLayout {
			continue
		}
		if len(pkg.others) == 0 {
			if pkg.others, err = r.link(ctx, i, pkg, r.Layouts); err != nil {
				return err
			}
		}
		x.layouts[i] = pkg.others
	}
	return nil
}
