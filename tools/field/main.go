package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "field:", err)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	fs := flag.NewFlagSet("field", flag.ContinueOnError)
	duration := fs.Duration("duration", 12*time.Second, "length of each recording")
	only := fs.String("only", "", "run the cases whose names start with one of these prefixes, separated by commas; empty for all")
	fixed := fs.Bool("fixed", false, "run the versions that fixed the faults")
	pairs := fs.Bool("pairs", false, "run the faulty and then the fixed versions, and compare predicted and measured savings")
	kept := fs.String("work", "", "keep sources and recordings in this directory; existing recordings are only diagnosed again")
	save := fs.Bool("w", false, "write the page in docs instead of printing it")
	look := fs.Bool("first", false, "store hone's first results on new cases in first.json")
	versions := fs.Bool("upgrades", false, "search for versions that fix the bugs, as hone tune deps does; -only none writes the page from kept results")
	costs := fs.Bool("overheads", false, "write the cost of counting executions and inputs, from the recordings that -work keeps")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 || *save && *fixed {
		return errors.New("give the directory of the cases; -w needs them unfixed")
	}
	if *costs {
		return savedTo(filepath.Join("docs", "overhead.md"), *save, w, func(page io.Writer) error { return overheads(*kept, page) })
	}
	dir := fs.Arg(0)
	cases, err := readCases(dir)
	if err != nil {
		return err
	}
	work := *kept
	if work == "" {
		if work, err = os.MkdirTemp("", "hone-field-"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	if *versions {
		return savedTo(filepath.Join("docs", "field-upgrades.md"), *save, w, func(page io.Writer) error {
			return upgrades(ctx, cases, *only, work, filepath.Join("tools", "field", "testdata", "upgrades.json"), *duration, page)
		})
	}
	t := table{Duration: *duration, fixed: *fixed}
	for i := range cases {
		c := &cases[i]
		if *only != "" && !chosen(c.ID, *only) {
			continue
		}
		r := tryRow(ctx, c, work, t, *pairs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "%s | %s |%s\n", c.ID, r.words(), r.pairWords(r.Fixed != nil))
		t.Rows = append(t.Rows, r)
	}
	if err := t.first(filepath.Join(dir, "first.json"), *look); err != nil {
		return err
	}
	if *save {
		if err := t.latest(latestOf(cases, dir), cases); err != nil {
			return err
		}
	}
	return savedTo(filepath.Join("docs", pageOf(cases)), *save, w, func(page io.Writer) error {
		t.write(page)
		return nil
	})
}

// savedTo writes a page to a file or, without save, to w.
func savedTo(file string, save bool, w io.Writer, write func(io.Writer) error) error {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		return err
	}
	if save {
		return os.WriteFile(file, page.Bytes(), 0o644)
	}
	_, err := w.Write(page.Bytes())
	return err
}

// pageOf returns the name of the page for cases: those that are archives have their own page.
func pageOf(cases []fieldCase) string {
	if cases[0].files != nil {
		return "field-own.md"
	}
	return "field.md"
}

// latestOf returns the name of the file with the latest results of cases in a directory. Those of
// cases that are directories, which may be anywhere, are kept in this repository.
func latestOf(cases []fieldCase, dir string) string {
	if cases[0].files != nil {
		return filepath.Join(dir, "latest.json")
	}
	return filepath.Join("tools", "field", "testdata", "latest.json")
}

func chosen(id, only string) bool {
	for prefix := range strings.SplitSeq(only, ",") {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// tryRow tries a case and, with pairs, its fixed version.
func tryRow(ctx context.Context, c *fieldCase, work string, t table, pairs bool) row {
	r := row{c: c}
	result, err := tryCase(ctx, c, work, t.Duration, t.fixed)
	if err != nil {
		r.err = err
		return r
	}
	r.verdict = c.judge(result.Report)
	if !pairs || c.Kind == clean {
		return r
	}
	after, err := tryCase(ctx, c, work, t.Duration, true)
	if err != nil {
		r.err = fmt.Errorf("fixed: %w", err)
		return r
	}
	v := c.judge(after.Report)
	r.Fixed = &v
	r.promise(after.Report)
	switch {
	case r.Promise == nil:
		r.Measured, r.err = measured(ctx, c, work, "")
	case r.Promise.Of == liveMemory:
		r.Measured = lessLive(result, after)
	default:
		r.Measured, r.err = measured(ctx, c, work, r.Promise.Of)
	}
	r.compare()
	return r
}

// tryCase records a copy of a case, or of its fixed version, and diagnoses it.
func tryCase(ctx context.Context, c *fieldCase, work string, duration time.Duration, fixed bool) (*session.Result, error) {
	config := session.Config{CacheDir: work, Version: "field"}
	o := c.options(work, fixed)
	if _, err := os.Stat(o.Out); err == nil {
		return session.Diagnose(ctx, config, o.Out)
	}
	if err := c.prepare(ctx, &o, fixed); err != nil {
		return nil, err
	}
	o.Duration = duration
	path, err := session.Record(ctx, config, o)
	if err != nil {
		return nil, err
	}
	return session.Diagnose(ctx, config, path)
}

// options returns how a case, or its fixed version, is recorded in a directory.
func (c *fieldCase) options(work string, fixed bool) capture.Options {
	name := c.ID
	if fixed {
		name += "-fixed"
	}
	dir := filepath.Join(work, name)
	o := capture.Options{Package: ".", Dir: dir, RunDir: dir, Arg: c.ID, Out: dir + ".hone"}
	if fixed && c.files != nil {
		o.BuildFlags = []string{"-tags=fixed"}
	}
	return o
}

// prepare writes the source of a case, or of its fixed version, and completes the options.
func (c *fieldCase) prepare(ctx context.Context, o *capture.Options, fixed bool) error {
	if err := c.source(ctx, o.Dir, fixed); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "case_test.go")); err == nil {
		o.Bench = "."
	}
	return c.drive(o)
}

// source writes the source of a case, or of its fixed version, to a directory.
func (c *fieldCase) source(ctx context.Context, dir string, fixed bool) error {
	if c.files == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return nil // an earlier recording copied it
		}
		return c.copy(ctx, dir, fixed)
	}
	if err := c.write(ctx, dir); err != nil || !fixed {
		return err
	}
	return c.upgrade(ctx, dir)
}

// copy copies a case that is a directory to another directory, if requested at the version that
// fixed the fault.
func (c *fieldCase) copy(ctx context.Context, dir string, fixed bool) error {
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil || !fixed {
		return err
	}
	return c.upgrade(ctx, dir)
}

// upgrade changes a copy of a case to the version of the module that fixed the fault, if the fault
// is in a module.
func (c *fieldCase) upgrade(ctx context.Context, dir string) error {
	if len(c.GoodGet) == 0 {
		return nil
	}
	for _, args := range [][]string{append([]string{"get"}, c.GoodGet...), {"mod", "tidy"}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, lastLine(string(out)))
		}
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
