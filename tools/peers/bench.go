package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/bench"
)

//go:embed benchmarks/study_test.go.txt
var studyBenchmarks string

// The operations of the study: the planted change adds a tenth of work.
const (
	studyWork    = 100
	studyPlanted = 110
	studyCount   = 5                        // benchmarks
	studyLayouts = 4 * bench.DefaultLayouts // per side: enough for two sets on each of two sides, as in hone bench
)

// study holds the flags of `peers bench`.
type study struct {
	data    string // directory of the collected samples
	collect time.Duration
	rival   int // pairs of go test runs
	seed    uint64
	out     io.Writer
}

// benchArea studies the verdicts of hone bench: how often it reports a change of an unchanged
// program, compared with go test -count=10 and benchstat, and how often it detects a planted change
// of a tenth. Samples are collected in pieces, which accumulate in the directory of -data; a call
// that collects nothing judges the existing ones.
func benchArea(ctx context.Context, args []string, out io.Writer) error {
	s := study{out: out}
	fs := flag.NewFlagSet("peers bench", flag.ContinueOnError)
	fs.StringVar(&s.data, "data", "", "`FOLDER` of the samples")
	fs.DurationVar(&s.collect, "collect", 0, "only collect samples, for about `D`")
	fs.IntVar(&s.rival, "rival", 0, "only collect `N` pairs of go test -count=10")
	fs.Uint64Var(&s.seed, "seed", 1, "`SEED` of the relabelling")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if s.data == "" || fs.NArg() > 0 {
		return errors.New("bench needs -data FOLDER and takes no other arguments")
	}
	if err := os.MkdirAll(s.data, 0o755); err != nil {
		return err
	}
	if s.rival == 0 && s.collect == 0 {
		return s.judge(ctx)
	}
	if s.rival > 0 {
		if err := s.collectRival(ctx); err != nil {
			return err
		}
	}
	if s.collect > 0 {
		return s.collectPiece(ctx)
	}
	return nil
}

// repository creates a git repository with the study's benchmarks, and the planted change in the
// working tree.
func repository(ctx context.Context, dir string) error {
	write := func(work int) error {
		text := strings.Replace(studyBenchmarks, "WORK", fmt.Sprint(work), 1)
		return os.WriteFile(filepath.Join(dir, "study_test.go"), []byte(text), 0o600)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module study\n\ngo 1.24\n"), 0o600); err != nil {
		return err
	}
	if err := write(studyWork); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=study", "-c", "user.email=study@example.com", "commit", "-q", "-m", "base"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, text)
		}
	}
	return write(studyPlanted)
}

// collectPiece collects samples of both sides, as hone bench does.
func (s *study) collectPiece(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if err := repository(ctx, tree); err != nil {
		return err
	}
	r, err := bench.Run(ctx, bench.Spec{
		Dir: tree, WorkDir: filepath.Join(dir, "work"), Against: "HEAD", SamplesOnly: true,
		Budget: s.collect / studyCount, Most: 1 << 20, Width: 1e-9, Layouts: studyLayouts,
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.data, "piece-"+time.Now().UTC().Format("20060102T150405")+".json"), text, 0o644)
}

// collectRival runs the unchanged benchmarks as benchstat's documentation recommends, ten values
// per process.
func (s *study) collectRival(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := repository(ctx, dir); err != nil {
		return err
	}
	text := strings.Replace(studyBenchmarks, "WORK", fmt.Sprint(studyWork), 1)
	if err := os.WriteFile(filepath.Join(dir, "study_test.go"), []byte(text), 0o600); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", "study.test")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c: %w\n%s", err, text)
	}
	stamp := time.Now().UTC().Format("20060102T150405")
	for i := range s.rival {
		for _, side := range []string{"old", "new"} {
			cmd := exec.CommandContext(ctx, "./study.test", "-test.run=^$", "-test.bench=.", "-test.count=10", "-test.benchtime=100ms", "-test.benchmem")
			cmd.Dir = dir
			lines, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("run the benchmarks: %w", err)
			}
			if err := os.WriteFile(filepath.Join(s.data, fmt.Sprintf("rival-%s-%02d-%s.txt", stamp, i, side)), lines, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
