package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/experiment/fix"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
)

const targetHelp = `TARGET is a Go main package (./cmd/server), any package with -bench REGEXP, or the
URL of a running service that mounts net/http/pprof. A package is built with hone's
probe in a build overlay: your tree, go.mod and go.sum are not changed. Arguments
after -- are passed to the program. Package initialisation, which runs before main, is
not measured.

With -load, hone drives the service and measures throughput and latency. Without it,
hone observes a program until it exits, or a service for -duration under the load that
it has. With -load_cmd 'k6 run …' another tool drives the service: the command is started
and stopped with each phase. hone sends requests only to the targets of -load. If all
requests fail, the report says so first; -expect 404 measures errors on purpose.

` + targetsHelp

func runCommand() command {
	return command{
		name: "run", args: "TARGET [flags] [-- ARGS]", group: "the main job",
		short: "record a program and report which lines cost what, why, and what to do",
		long:  targetHelp,
		examples: []string{
			"hone run ./cmd/server -load http://127.0.0.1:8080/path",
			"hone run ./cmd/server -load http://127.0.0.1:8080/v1/x -method POST -body @x.json -header 'Content-Type: application/json'",
			"hone run ./cmd/server -load targets.txt -rate 500 -duration 60s -- -config dev.yaml",
			"hone run http://127.0.0.1:6060 -load http://127.0.0.1:8080/path",
			"hone run ./cmd/batchjob -- -n 1000",
			"hone run -bench 'BenchmarkX' ./pkg",
			"hone run ./cmd/batchjob -prove 2m -- -n 1000",
			"hone run ./cmd/server -load http://127.0.0.1:8080/path -ui",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var rec recordFlags
			var out outputFlags
			rec.declare(fs)
			out.declare(fs, "show `N` findings (default 10)")
			budget := fs.Duration("prove", 0, "then try the fixes that hone can write for up to `D`, largest saving first, each separately in a copy of the commit")
			watch := fs.Bool("ui", false, "show the recording in a browser while it runs, then its findings, until Ctrl-C")
			noBrowser := fs.Bool("no_browser", false, "with -ui: only print the address")
			return func(ctx context.Context, env Env, args, rest []string) error {
				if err := rec.provable(*budget, args); err != nil {
					return err
				}
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				var prove afterwards
				if *budget > 0 {
					prove = func(res *session.Result) error { return rec.prove(ctx, env, cfg, res, *budget) }
				}
				if *watch {
					v := viewed{rec: &rec, out: out, then: prove, noBrowser: *noBrowser}
					return v.run(ctx, env, cfg, prog, args, rest)
				}
				path, err := rec.record(ctx, env, cfg, prog, args, rest)
				if err != nil {
					if ctx.Err() == nil && profiled(cfg, path) {
						_, derr := diagnoseAndPrint(ctx, env, cfg, prog, out, path, nil)
						return errors.Join(derr, err)
					}
					return err
				}
				res, err := diagnoseAndPrint(ctx, env, cfg, prog, out, path, prove)
				if err != nil {
					return err
				}
				return targetFailed(res.Manifest, path)
			}
		},
	}
}

// record makes the recording that the flags and arguments describe, and returns its path. If
// recording fails, record prints where the part recorded so far is kept.
func (r *recordFlags) record(ctx context.Context, env Env, cfg session.Config, prog *progress, args, rest []string) (string, error) {
	o, err := r.capture(env, args, rest)
	if err != nil {
		return "", err
	}
	if r.showOutput {
		_, stderr := env.raw()
		o.Output = programOutput{prog, stderr}
	}
	path, err := session.Record(ctx, cfg, o)
	prog.clear()
	if err != nil && path != "" {
		env.say("hone: the part recorded so far is kept: hone findings %s", path)
	}
	return path, err
}

// provable returns an error, before anything is recorded, if fixes of the target cannot be tried.
func (r *recordFlags) provable(budget time.Duration, args []string) error {
	switch {
	case budget == 0:
		return nil
	case budget < 0:
		return usagef("-prove %s: want a duration such as 2m", budget)
	case len(args) == 1 && strings.Contains(args[0], "://"):
		return usagef("-prove builds the program with each fix: give its package, not a URL")
	}
	return nil
}

// prove tries the fixes of a recording's findings under the same load.
func (r *recordFlags) prove(ctx context.Context, env Env, cfg session.Config, res *session.Result, budget time.Duration) error {
	m := res.Manifest
	root, err := moduleRoot(ctx, m.Target.Dir)
	if err != nil {
		return fmt.Errorf("-prove: %w", err)
	}
	given, err := r.loadFlags.options(r.load) // with the headers and bodies, which a recording does not contain
	if err != nil {
		return err
	}
	if given != nil {
		m.Load = nil
	}
	o, err := capture.OptionsOf(m)
	if err != nil {
		return fmt.Errorf("-prove: %w", err)
	}
	if given != nil {
		o.Load = given
	}
	if o.Dir, err = filepath.EvalSymlinks(o.Dir); err != nil {
		return err
	}
	o.Stdin, o.Timeout = absoluteFile(env.Dir, r.stdin), r.timeout
	o.Duration, o.Warmup = min(r.duration, proveRun), min(r.warmup, proveRun)
	if err := fix.TryEach(ctx, cfg, root, res.Report, fix.Budget{Options: o, Time: budget}); err != nil {
		return fmt.Errorf("-prove: %w", err)
	}
	return nil
}

// proveRun is the length of one run of a trial, and its longest warm-up.
const proveRun = 3 * time.Second

// profiled reports whether a recording that was cut short has a CPU profile, so that it can be
// diagnosed.
func profiled(cfg session.Config, path string) bool {
	if path == "" {
		return false
	}
	m, err := cfg.Opener().Manifest(path)
	return err == nil && slices.ContainsFunc(m.Parts, func(p recording.Part) bool { return p.Name == recording.PartCPU })
}

// targetFailed returns an error if the program's exit code is not 0.
func targetFailed(m recording.Manifest, path string) error {
	if code := m.Target.ExitCode; m.Target.Kind == "program" && code != nil && *code != 0 {
		return fmt.Errorf("the program itself exited with code %d; its output is in %s", *code, path)
	}
	return nil
}

func recordCommand() command {
	return command{
		name: "record", args: "TARGET [flags] [-- ARGS]", group: "the main job",
		short: "record without diagnosing; see hone findings, hone top, hone list",
		long:  targetHelp,
		examples: []string{
			"hone record ./cmd/server -load http://127.0.0.1:8080/path -o before.hone",
			"hone findings before.hone",
			"hone record http://127.0.0.1:6060 -duration 60s -o prod.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var rec recordFlags
			var out outputFlags
			rec.declare(fs)
			out.declare(fs, "")
			return func(ctx context.Context, env Env, args, rest []string) error {
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				path, err := rec.record(ctx, env, cfg, prog, args, rest)
				if err != nil {
					return err
				}
				m, err := cfg.Opener().Manifest(path)
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, m)
				}
				if _, err = fmt.Fprintln(env.Stdout, path); err != nil {
					return err
				}
				return targetFailed(m, path)
			}
		},
	}
}

func findingsCommand() command {
	return command{
		name: "findings", args: "[REC]", group: "the main job",
		short: "diagnose a recording again",
		long:  "REC is a .hone file; without it, the last recording made on this machine.",
		examples: []string{
			"hone findings",
			"hone findings before.hone -json",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			out.declare(fs, "show `N` findings (default 10)")
			return func(ctx context.Context, env Env, args, _ []string) error {
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				path, err := oneRecording(cfg, "findings", args)
				if err != nil {
					return err
				}
				_, err = diagnoseAndPrint(ctx, env, cfg, prog, out, path, nil)
				return err
			}
		},
	}
}

// oneRecording returns the recording that the arguments name, or the last one.
func oneRecording(cfg session.Config, command string, args []string) (string, error) {
	switch len(args) {
	case 0:
		return cfg.Shelf().Last()
	case 1:
		return args[0], nil
	}
	return "", usagef("%s takes one recording", command)
}

// afterwards completes a diagnosis before it is printed.
type afterwards func(*session.Result) error

// diagnoseAndPrint diagnoses a recording and prints the findings.
func diagnoseAndPrint(ctx context.Context, env Env, cfg session.Config, prog *progress, out outputFlags, path string, then afterwards) (*session.Result, error) {
	res, err := session.Diagnose(ctx, cfg, path)
	if err == nil && then != nil {
		if terr := then(res); terr != nil { // print the findings anyway
			res.Report.Notes = append(res.Report.Notes, terr.Error())
		}
	}
	prog.clear()
	if err != nil {
		return nil, err
	}
	if out.json {
		return res, render.JSON(env.Stdout, res.Report)
	}
	err = buffered(env.Stdout, func(w io.Writer) error {
		render.Findings(w, render.FindingsPage{
			Report: res.Report, Manifest: res.Manifest, Top: out.top, Verbose: out.verbose,
		}, out.style(env))
		return nil
	})
	if err == nil && !out.quiet {
		env.say("recording: %s", path)
	}
	return res, err
}
