package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/session"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "cases:", err)
		}
		stop()
		os.Exit(1)
	}
}

// flags are what the command line says.
type flags struct {
	duration                time.Duration
	runs, processes         int
	only, examples, keep    string
	litter                  string
	requests, promises, gc  bool
	busy, again, save, spin bool
}

func parse(args []string) (flags, error) {
	var f flags
	fs := flag.NewFlagSet("cases", flag.ContinueOnError)
	fs.DurationVar(&f.duration, "duration", 0, "length of each recording; 0 is 20s, with -promises 12s, with -gc 4s")
	fs.IntVar(&f.runs, "runs", 1, "runs of each case")
	fs.IntVar(&f.processes, "processes", 0, "number of processes per program that are measured without profiles; 0 is 10, with -promises or -gc 6")
	fs.StringVar(&f.only, "only", "", "letters of the cases to run, without spaces, or with -promises the names of programs, separated by commas; empty for all")
	fs.StringVar(&f.examples, "examples", "examples", "directory of the examples")
	fs.StringVar(&f.keep, "keep", "", "directory that keeps the latest recordings; empty for a temporary one")
	fs.StringVar(&f.litter, "litter", "", "instead, measure what `WHAT` costs the rest of a program: allocating, collecting or labels")
	fs.BoolVar(&f.requests, "requests", false, "instead, compare the requests found in traces with those that the service logs itself")
	fs.BoolVar(&f.promises, "promises", false, "instead, compare the predictions for the repairs of examples/promises with what they save")
	fs.BoolVar(&f.gc, "gc", false, "instead, compare what hone tune gc predicts for settings of the garbage collector with measurements")
	fs.BoolVar(&f.busy, "busy", false, "with -promises: run two busy loops in the background")
	fs.BoolVar(&f.again, "again", false, "with -promises and -keep: only diagnose the kept recordings again")
	fs.BoolVar(&f.save, "w", false, "write docs/cases.md, with -promises docs/promises.md, or with -gc docs/tune-gc.md, instead of printing it")
	fs.BoolVar(&f.spin, "spin", false, "be a busy loop until standard input ends; -busy starts it")
	if err := fs.Parse(args); err != nil {
		return f, err
	}
	duration, processes := 20*time.Second, 10
	switch {
	case f.promises:
		duration, processes = 12*time.Second, 6
	case f.gc:
		duration, processes = 4*time.Second, 6
	}
	f.duration, f.processes = cmp.Or(f.duration, duration), cmp.Or(f.processes, processes)
	switch {
	case f.duration < 4*time.Second || f.runs < 1 || f.processes < 1 || fs.NArg() > 0:
		return f, fmt.Errorf("want a duration of at least 4s, at least 1 run and 1 process, and no arguments")
	case (f.busy || f.again) && !f.promises:
		return f, fmt.Errorf("-busy and -again need -promises")
	case f.again && f.keep == "":
		return f, fmt.Errorf("-again needs the directory of an earlier -keep")
	case f.promises && f.save && f.only != "":
		return f, fmt.Errorf("-promises -w writes totals of all programs: leave out -only")
	}
	return f, nil
}

func run(ctx context.Context, args []string) error {
	f, err := parse(args)
	if err != nil {
		return err
	}
	if f.spin {
		spin(os.Stdin, spinLimit)
		return nil
	}
	root, err := filepath.Abs(f.examples)
	if err != nil {
		return err
	}
	dir := f.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "hone-cases-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := runner{
		session:  session.Config{CacheDir: dir, Version: "cases"},
		examples: root, duration: f.duration, processes: f.processes, turn: turn,
	}
	switch {
	case f.promises:
		return r.runPromises(ctx, f)
	case f.gc:
		page := ""
		if f.save {
			page = filepath.Join(filepath.Dir(root), "docs", "tune-gc.md")
		}
		return r.printSettings(ctx, os.Stdout, settingsCases(), page)
	case f.litter != "":
		r.examples = filepath.Join(filepath.Dir(root), "tools", "cases", "testdata")
		return r.measureBeside(ctx, os.Stdout, f.litter)
	case f.requests:
		return r.measureRequests(ctx, os.Stdout)
	}
	return r.runStudies(ctx, f)
}

// runPromises writes docs/promises.md or prints a part of it.
func (r *runner) runPromises(ctx context.Context, f flags) error {
	var names []string
	if f.only != "" {
		names = strings.Split(f.only, ",")
	}
	chosen, err := chooseFixables(fixables(), names)
	if err != nil {
		return err
	}
	r.turn, r.patience = shortTurn, patience
	page := ""
	if f.save {
		page = filepath.Join(filepath.Dir(r.examples), "docs", "promises.md")
	}
	return r.printPromises(ctx, os.Stdout, chosen, conditionOf(f.busy), f.again, page)
}

// runStudies writes docs/cases.md or prints it.
func (r *runner) runStudies(ctx context.Context, f flags) error {
	chosen, err := choose(studies(), f.only)
	if err != nil {
		return err
	}
	all := make([][]*outcome, len(chosen))
	for n := range f.runs {
		for i, s := range chosen {
			r.session.Progress = phases(func(text string) {
				fmt.Fprintf(os.Stderr, "case %s, run %d of %d: %s\n", s.id, n+1, f.runs, text)
			})
			o, err := r.study(ctx, s)
			if err != nil {
				return err
			}
			all[i] = append(all[i], o)
		}
	}
	var page bytes.Buffer
	write(&page, all, f.duration)
	if f.save {
		return savePage(filepath.Join(filepath.Dir(r.examples), "docs", "cases.md"), page.String(), chosen, f.only == "")
	}
	_, err = os.Stdout.Write(page.Bytes())
	return err
}

// choose picks studies by their letters.
func choose(all []study, letters string) ([]study, error) {
	if letters == "" {
		return all, nil
	}
	var chosen []study
	for _, s := range all {
		if strings.Contains(letters, s.id) {
			chosen = append(chosen, s)
			letters = strings.ReplaceAll(letters, s.id, "")
		}
	}
	if letters != "" {
		return nil, fmt.Errorf("no case %q", letters)
	}
	return chosen, nil
}

// phases prints only the ends of phases, to keep the log short.
func phases(say func(string)) func(capture.Event) {
	return func(e capture.Event) {
		if e.End {
			say(e.Phase + ": " + e.Text)
		}
	}
}
