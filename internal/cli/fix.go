package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/experiment/fix"
	"github.com/hone-go/hone/internal/experiment/upstream"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/session"
)

// fixFlags are the flags of `hone fix`.
type fixFlags struct {
	out   outputFlags
	again againFlags
	spec  fix.Spec
	all   bool
	patch string
	fork  string
}

// againFlags are the flags for recording again what a recording measured.
type againFlags struct {
	load    loadFlags
	build   string
	command string
	length  time.Duration
	warmup  time.Duration
	timeout time.Duration
}

func fixCommand() command {
	return command{
		name: "fix", args: "[REC] [N...] [flags]", group: "the main job",
		short: "rewrite the lines of findings: shown, tested, measured, then written",
		long: `Shows a diff for each finding of a recording (or for the findings N) whose rewrite cannot change what the program does: the types prove it,
or a condition that is checked in the surrounding code. These rules have rewrites: ` + strings.Join(rewrite.Rules(), ", ") + `.
Findings in other modules, and those that need judgement, are not rewritten.

-try builds a copy of the commit with all changes, vets it, and runs the tests of the changed packages and of those that import them. It then
measures the copy interleaved with the unchanged tree, under the load of the recording. -w does the same and then writes the files if the trial
shows a gain and no loss. Until then your tree is not changed, even if hone is interrupted. Both need a git tree without uncommitted changes.

-fork is for a finding in a dependency. With -try, hone first looks for a version that does not have the problem. If there is none (or without
-try), it copies the module, patches the copy, runs the copy's tests, measures it (with -try), and prints the replace directive. It also writes the
text of an issue for the maintainers (and does not send it). If hone has no rewrite, change the copy and run the command again:
hone then tests and measures your change.

A recording does not contain headers and bodies of requests: repeat -load if the requests had some.`,
		examples: []string{
			"hone fix",
			"hone fix before.hone 1 3",
			"hone fix -patch fixes.diff",
			"hone fix -try -duration 10s",
			"hone fix -all -w",
			"hone fix -w -untried 2",
			"hone fix 3 -fork ../forks -try",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f fixFlags
			f.out.declare(fs, "")
			f.again.declare(fs)
			fs.BoolVar(&f.all, "all", false, "all findings that have a rewrite, which is what hone fix does without N")
			fs.StringVar(&f.patch, "patch", "", "write all changes as one diff to `FILE`, for git apply")
			fs.StringVar(&f.fork, "fork", "", "for one finding in a dependency: patch a copy of the module in `DIR`, and write the text of an issue there; with -try, first look for a version without the problem, and measure the copy")
			fs.BoolVar(&f.spec.Try, "try", false, "test and measure the changes in a copy")
			fs.BoolVar(&f.spec.Write, "w", false, "test and measure the changes in a copy, and write them if the measurement shows a gain")
			fs.BoolVar(&f.spec.Untried, "untried", false, "with -w: test, but do not measure")
			fs.IntVar(&f.spec.Runs, "runs", 6, "record each side `N` times")
			fs.Uint64Var(&f.spec.Seed, "seed", 0, "the `SEED` of the order of runs (default: from the clock)")
			return f.run
		},
	}
}

func (f *fixFlags) run(ctx context.Context, env Env, args, _ []string) error {
	if f.spec.Untried && !f.spec.Write {
		return usagef("fix: -untried is for -w")
	}
	cfg, prog, err := f.out.session(env)
	if err != nil {
		return err
	}
	var names []string
	var numbers []int
	for _, a := range args {
		if n, err := strconv.Atoi(a); err == nil && n > 0 {
			numbers = append(numbers, n)
		} else {
			names = append(names, a)
		}
	}
	if f.all && len(numbers) > 0 {
		return usagef("fix: -all is for all findings, %d for one: give one of them", numbers[0])
	}
	path, err := oneRecording(cfg, "fix", names)
	if err != nil {
		return err
	}
	f.patch = absoluteFile(env.Dir, f.patch)
	res, err := session.Diagnose(ctx, cfg, path)
	if err != nil {
		prog.clear()
		return err
	}
	if f.fork != "" {
		return f.upstream(ctx, env, cfg, res, numbers, prog)
	}
	r, err := f.fix(ctx, env, cfg, res, numbers)
	prog.clear()
	if err != nil {
		return err
	}
	if f.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.Fix(w, r, f.out.style(env)); return nil })
}

// upstream handles a finding in a dependency.
func (f *fixFlags) upstream(ctx context.Context, env Env, cfg session.Config, res *session.Result, numbers []int, prog *progress) error {
	defer prog.clear()
	if len(numbers) != 1 || f.spec.Write || f.patch != "" {
		return usagef("fix: -fork is for one finding: hone fix 2 -fork DIR [-try]")
	}
	i := slices.IndexFunc(res.Report.Findings, func(x diagnose.Finding) bool { return x.Rank == numbers[0] })
	if i < 0 {
		return usagef("fix: there is no finding %d", numbers[0])
	}
	spec := upstream.Spec{Dir: absolute(env.Dir, f.fork), Try: f.spec.Try, Runs: f.spec.Runs, Seed: f.spec.Seed}
	var err error
	if spec.Options, err = f.again.options(ctx, env, res.Manifest); err != nil {
		return err
	}
	spec.Options.Arg = res.Manifest.Target.Arg
	r, err := upstream.Run(ctx, cfg, &res.Report.Findings[i], spec)
	prog.clear()
	if err != nil {
		return err
	}
	if f.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.Upstream(w, r, f.out.style(env)); return nil })
}

func (f *fixFlags) fix(ctx context.Context, env Env, cfg session.Config, res *session.Result, numbers []int) (*fix.Result, error) {
	root, err := moduleRoot(ctx, res.Manifest.Target.Dir)
	if err != nil {
		return nil, err
	}
	var findings []*diagnose.Finding
	for i := range res.Report.Findings {
		findings = append(findings, &res.Report.Findings[i])
	}
	flags, _ := gocode.HarmlessFlags(res.Manifest.Target.BuildFlags)
	plan, err := fix.Make(ctx, root, findings, numbers, flags)
	if err != nil {
		return nil, err
	}
	if f.patch != "" {
		if err := os.WriteFile(f.patch, plan.Patch(), 0o644); err != nil {
			return nil, fmt.Errorf("-patch: %w", err)
		}
	}
	f.spec.Try = f.spec.Try || f.spec.Write && !f.spec.Untried
	switch {
	case f.spec.Try:
		f.spec.Options, err = f.again.options(ctx, env, res.Manifest)
	case f.spec.Write:
		f.spec.Options.BuildFlags, err = flags, isHere(ctx, env, res.Manifest)
	}
	if err != nil {
		return nil, err
	}
	f.spec.Options.Arg = res.Manifest.Target.Arg
	return fix.Run(ctx, cfg, plan, f.spec)
}

// moduleRoot returns the directory of the go.mod that applies to a directory.
func moduleRoot(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		return "", usagef("the recording is of a running service, whose source is unknown; record its package instead")
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOMOD")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD in %s: %w", dir, err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", usagef("%s is not in a module", dir)
	}
	return filepath.EvalSymlinks(filepath.Dir(file))
}

func (a *againFlags) declare(fs *flag.FlagSet) {
	a.load.declare(fs, true)
	fs.StringVar(&a.build, "build", "", "`FLAGS` of go build instead of those of the recording")
	fs.StringVar(&a.command, "load_cmd", "", "drive the service with this shell `COMMAND` instead of the recording's load")
	fs.DurationVar(&a.length, "duration", 5*time.Second, "length of one run, `D`")
	fs.DurationVar(&a.warmup, "warmup", 5*time.Second, "wait at most `D` for a steady throughput")
	fs.DurationVar(&a.timeout, "timeout", 10*time.Minute, "wait at most `D` for a build, for the service to be ready, and for the program to exit")
}

// isHere returns an error unless a recording is of the module that the user is in. A recording may
// come from anywhere; hone runs only the user's own code because of one.
func isHere(ctx context.Context, env Env, m recording.Manifest) error {
	of, err := moduleRoot(ctx, m.Target.Dir)
	if err != nil {
		return err
	}
	here, err := moduleRoot(ctx, env.Dir)
	if ctx.Err() != nil {
		return ctx.Err() // the go command was interrupted: the module is unknown
	}
	// An interrupt from a terminal reaches the go command, too, which may end before hone knows of
	// it.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return err
	}
	if err != nil || here != of {
		return fmt.Errorf("the recording is of the module in %s, and hone runs a module's code only from there: cd %s", of, of)
	}
	return nil
}

// options returns the options for recording the target again.
func (a *againFlags) options(ctx context.Context, env Env, m recording.Manifest) (capture.Options, error) {
	if err := isHere(ctx, env, m); err != nil {
		return capture.Options{}, err
	}
	flags, err := splitQuoted(a.build)
	if err != nil {
		return capture.Options{}, usagef("-build: %v", err)
	}
	given, err := a.load.options(a.load.load)
	if err != nil {
		return capture.Options{}, err
	}
	if a.build != "" {
		m.Target.BuildFlags = nil
	}
	if given != nil || a.command != "" {
		m.Load, m.Target.LoadCommand = nil, ""
	}
	o, err := capture.OptionsOf(m)
	if err != nil {
		return o, err
	}
	if a.build != "" {
		o.BuildFlags = flags
	}
	if given != nil || a.command != "" {
		o.Load, o.LoadCommand = given, a.command
	}
	if o.Dir, err = filepath.EvalSymlinks(o.Dir); err != nil { // like the module's root
		return o, err
	}
	o.Duration, o.Warmup, o.Timeout = a.length, a.warmup, a.timeout
	return o, nil
}
