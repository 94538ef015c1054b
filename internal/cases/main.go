package main

import (
	"bytes"
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

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("cases", flag.ContinueOnError)
	duration := fs.Duration("duration", 20*time.Second, "length of each recording")
	runs := fs.Int("runs", 1, "runs of each case")
	rounds := fs.Int("rounds", 10, "measurements of each program without profiles")
	only := fs.String("only", "", "letters of the cases to run, without a space between; empty for all")
	examples := fs.String("examples", "examples", "where the examples are")
	keep := fs.String("keep", "", "directory that keeps the latest recordings; empty for a temporary one")
	beside := fs.String("litter", "", "measure instead what `WHAT` costs the rest of a program: allocating, collecting or labels")
	log := fs.Bool("requests", false, "compare instead the requests found in traces with those that the service logs itself")
	save := fs.Bool("w", false, "write docs/cases.md instead of printing it")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *duration < 4*time.Second || *runs < 1 || *rounds < 1 || fs.NArg() > 0 {
		return fmt.Errorf("want a duration of at least 4s, at least 1 run and 1 round, and no arguments")
	}
	chosen, err := choose(studies(), *only)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(*examples)
	if err != nil {
		return err
	}
	dir := *keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "hone-cases-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}

	if *beside != "" {
		r := runner{
			session:  session.Config{CacheDir: dir, Version: "cases"},
			examples: filepath.Join(filepath.Dir(root), "internal", "cases", "testdata"), duration: *duration, rounds: *rounds,
		}
		return r.measureBeside(ctx, os.Stdout, *beside)
	}
	if *log {
		r := runner{session: session.Config{CacheDir: dir, Version: "cases"}, examples: root, duration: *duration}
		return r.measureRequests(ctx, os.Stdout)
	}
	all := make([][]*outcome, len(chosen))
	for n := range *runs {
		for i, s := range chosen {
			say := func(text string) {
				fmt.Fprintf(os.Stderr, "case %s, run %d of %d: %s\n", s.id, n+1, *runs, text)
			}
			r := runner{
				session:  session.Config{CacheDir: dir, Version: "cases", Progress: phases(say)},
				examples: root, duration: *duration, rounds: *rounds,
			}
			o, err := r.study(ctx, s)
			if err != nil {
				return err
			}
			all[i] = append(all[i], o)
		}
	}
	var page bytes.Buffer
	write(&page, all, *duration)
	if *save {
		return savePage(filepath.Join(filepath.Dir(root), "docs", "cases.md"), page.String(), chosen, *only == "")
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

// phases tells the ends of phases, so that a log of them stays short.
func phases(say func(string)) func(capture.Event) {
	return func(e capture.Event) {
		if e.End {
			say(e.Phase + ": " + e.Text)
		}
	}
}
