package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// profileArea compares with go tool pprof: top, diff and merge.
func profileArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers profile", flag.ContinueOnError)
	runs := fs.Int("runs", 5, "runs of each tool")
	stacks := fs.Int("stacks", 200_000, "stacks of the profile for top and diff")
	files := fs.Int("files", 100, "profiles to merge")
	large := fs.Bool("large", false, "also top of 1,000,000 stacks with two labels each: minutes and gigabytes for pprof")
	if err := fs.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bench, err := newProfileBench(ctx, dir, *runs, out)
	if err != nil {
		return err
	}
	rows, err := bench.compareAll(ctx, *stacks, *files, *large)
	if err != nil {
		return err
	}
	return printTable(out, rows)
}

// profileBench knows the programs that compete.
type profileBench struct {
	dir   string
	runs  int
	self  string
	pprof string
	hone  string // "" when there is no hone with a top command
	out   io.Writer
}

func newProfileBench(ctx context.Context, dir string, runs int, out io.Writer) (*profileBench, error) {
	b := &profileBench{dir: dir, runs: runs, out: out}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	// -n prints where the tool is and builds it first: go itself is not measured.
	path, err := exec.CommandContext(ctx, "go", "tool", "-n", "pprof").Output()
	if err != nil {
		return nil, fmt.Errorf("find go tool pprof: %w", err)
	}
	b.pprof = strings.TrimSpace(string(path))
	return b, nil
}

// findHone builds hone and tries its top command on a profile.
func (b *profileBench) findHone(ctx context.Context, sample string) {
	path := filepath.Join(b.dir, "hone")
	if err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/hone-go/hone/cmd/hone").Run(); err != nil {
		fmt.Fprintln(b.out, "cmd/hone does not build: the engine runs by itself")
		return
	}
	if _, err := measure(ctx, []string{path, "top", sample}); err != nil {
		fmt.Fprintln(b.out, "this hone has no top command: the engine runs by itself")
		return
	}
	b.hone = path
}

func (b *profileBench) generate(ctx context.Context, stacks, functions, depth, labels, seed int, files ...string) error {
	args := []string{workerArg, "generate"}
	for _, n := range []int{stacks, functions, depth, labels, seed} {
		args = append(args, strconv.Itoa(n))
	}
	if _, err := measure(ctx, append(append([]string{b.self}, args...), files...)); err != nil {
		return fmt.Errorf("make test data: %w", err)
	}
	for _, f := range files[:1] {
		if st, err := os.Stat(f); err == nil {
			fmt.Fprintf(b.out, "%d × %s: %d stacks, %.1f MB gzip'd\n", len(files), filepath.Base(f), stacks, float64(st.Size())/1e6)
		}
	}
	return nil
}

func (b *profileBench) compareAll(ctx context.Context, stacks, files int, large bool) ([]row, error) {
	one, two := filepath.Join(b.dir, "one.pb.gz"), filepath.Join(b.dir, "two.pb.gz")
	if err := b.generate(ctx, stacks, 20_000, 30, 1, 1, one, two); err != nil {
		return nil, err
	}
	b.findHone(ctx, one)
	var parts []string
	for i := range files {
		parts = append(parts, filepath.Join(b.dir, fmt.Sprintf("part%03d.pb.gz", i)))
	}
	if err := b.generate(ctx, max(1, stacks/40), 2_500, 22, 1, 100, parts...); err != nil {
		return nil, err
	}
	rows := []row{}
	add := func(what, target string, runs int, peer, ours []string) error {
		name := "hone"
		if b.hone == "" || ours[0] == b.self {
			name = "hone's engine"
		}
		r := row{what: what, names: [2]string{"go tool pprof", name}, target: target}
		u, err := compare(ctx, runs, []rival{{r.names[0], peer}, {r.names[1], ours}})
		if err != nil {
			return err
		}
		r.usages = [2]usage(u)
		rows = append(rows, r)
		return nil
	}
	if err := add(fmt.Sprintf("top of %d stacks", stacks), "≥ 40×, ≤ 80 MiB", b.runs, []string{b.pprof, "-top", one}, b.top(one)); err != nil {
		return rows, err
	}
	if err := add("diff of two of them", "≥ 40×, ≤ 160 MiB", b.runs, []string{b.pprof, "-top", "-diff_base", one, two}, b.job("diff", one, two)); err != nil {
		return rows, err
	}
	merged := filepath.Join(b.dir, "merged.pb.gz")
	if err := add(fmt.Sprintf("merge of %d profiles", files), "≥ 4×, ≤ 150 MiB", b.runs,
		append([]string{b.pprof, "-proto", "-output=" + merged}, parts...), b.job("merge", append([]string{merged}, parts...)...)); err != nil {
		return rows, err
	}
	if large {
		huge := filepath.Join(b.dir, "large.pb.gz")
		if err := b.generate(ctx, 1_000_000, 40_000, 38, 2, 1, huge); err != nil {
			return rows, err
		}
		return rows, add("top of 1000000 stacks", "≥ 75×, ≤ 400 MiB", 1, []string{b.pprof, "-top", huge}, b.top(huge))
	}
	return rows, nil
}

func (b *profileBench) top(file string) []string {
	if b.hone != "" {
		return []string{b.hone, "top", file}
	}
	return b.job("top", file)
}

func (b *profileBench) job(name string, args ...string) []string {
	return append([]string{b.self, workerArg, name}, args...)
}
