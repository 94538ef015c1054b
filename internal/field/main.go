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
	"runtime"
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
	only := fs.String("only", "", "run the cases whose names begin so, separated by commas; empty for all")
	fixed := fs.Bool("fixed", false, "run the versions that fixed the faults")
	save := fs.Bool("w", false, "write docs/field.md instead of printing it")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 || *save && (*only != "" || *fixed) {
		return errors.New("want the directory of the cases; -w goes with all of them, as they are")
	}
	cases, err := readCases(fs.Arg(0))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "hone-field-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var rows []row
	for i := range cases {
		c := &cases[i]
		if *only != "" && !chosen(c.ID, *only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\n", c.ID)
		r := row{c: c}
		r.verdict, r.err = tryCase(ctx, c, work, *duration, *fixed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rows = append(rows, r)
	}
	var page bytes.Buffer
	writePage(&page, rows, *duration, *fixed)
	if *save {
		return os.WriteFile(filepath.Join("docs", "field.md"), page.Bytes(), 0o644)
	}
	_, err = w.Write(page.Bytes())
	return err
}

func chosen(id, only string) bool {
	for prefix := range strings.SplitSeq(only, ",") {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// tryCase records a copy of a case, fixed first if need be, and judges the findings.
func tryCase(ctx context.Context, c *fieldCase, work string, duration time.Duration, fixed bool) (verdict, error) {
	dir := filepath.Join(work, c.ID)
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
		return verdict{}, err
	}
	if fixed {
		for _, args := range [][]string{append([]string{"get"}, c.GoodGet...), {"mod", "tidy"}} {
			cmd := exec.CommandContext(ctx, "go", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				return verdict{}, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, lastLine(string(out)))
			}
		}
	}
	o := capture.Options{Package: ".", Dir: dir, RunDir: dir, Arg: c.ID, Duration: duration, Out: filepath.Join(work, c.ID+".hone")}
	if _, err := os.Stat(filepath.Join(dir, "case_test.go")); err == nil {
		o.Bench = "."
	}
	config := session.Config{CacheDir: work, Version: "field"}
	path, err := session.Record(ctx, config, o)
	if err != nil {
		return verdict{}, err
	}
	result, err := session.Diagnose(ctx, config, path)
	if err != nil {
		return verdict{}, err
	}
	return c.judge(result.Report), nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// row is a case with its verdict.
type row struct {
	c *fieldCase
	verdict
	err error
}

func writePage(w io.Writer, rows []row, duration time.Duration, fixed bool) {
	var bugs, first, near, explained, controls, accused int
	for _, r := range rows {
		switch {
		case r.c.Kind == clean:
			controls++
			if len(r.Accused) > 0 {
				accused++
			}
		default:
			bugs++
			if r.Rank == 1 {
				first++
			}
			if r.Rank > 0 && r.Rank <= placed {
				near++
			}
			if r.Explained > 0 {
				explained++
			}
		}
	}
	fmt.Fprintf(w, "# Real bugs, and what hone says of them\n\nMade by `go run ./internal/field -w DIR`; do not edit. The cases are real performance bugs of public Go\nmodules, each with a small workload; `go doc ./internal/field` says what *placed* and *explained* mean.\n\n")
	fmt.Fprintf(w, "%s, %d cores, %s a recording.\n\n", runtime.Version(), runtime.NumCPU(), duration)
	if fixed {
		fmt.Fprint(w, "At the versions that fixed the faults: what is explained here is a false alarm.\n\n")
	}
	fmt.Fprintf(w, "**Of %d bugs: %d at rank 1, %d placed, %d explained. Of %d clean cases %d accused.**\n\n", bugs, first, near, explained, controls, accused)
	fmt.Fprint(w, "| case | module | kind | rank of the place | explained at | by |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s %s | %s | %s |\n", r.c.ID, r.c.Module, r.c.Bad, r.c.Kind, r.words())
	}
}

// words are the last three cells.
func (r row) words() string {
	rank := func(n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprint(n)
	}
	switch {
	case r.err != nil:
		return "error | – | " + strings.ReplaceAll(lastLine(r.err.Error()), "|", "/")
	case r.c.Kind == clean && len(r.Accused) > 0:
		return "– | – | accused by `" + strings.Join(r.Accused, "`, `") + "`"
	case r.c.Kind == clean:
		return "– | – | silent"
	case r.Rank == 0:
		return "– | – | –"
	}
	return fmt.Sprintf("%s | %s | `%s`", rank(r.Rank), rank(r.Explained), r.Rule)
}
