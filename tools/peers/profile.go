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

	"github.com/hone-go/hone/profile"
)

// profileArea compares with go tool pprof: top, diff, merge and the flame graph.
func profileArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers profile", flag.ContinueOnError)
	b := &profileBench{out: out}
	fs.IntVar(&b.runs, "runs", 5, "runs of each tool")
	fs.IntVar(&b.stacks, "stacks", 200_000, "stacks of the profile for top, diff and the flame graph")
	fs.IntVar(&b.files, "files", 100, "profiles to merge")
	fs.BoolVar(&b.large, "large", false, "also top of 1,000,000 stacks with two labels each: minutes and gigabytes for pprof")
	fs.StringVar(&b.data, "data", "", "`FOLDER` with profiles to take instead of making them: one.pb.gz, two.pb.gz, part*.pb.gz, large.pb.gz; those missing are made")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "hone-peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.findTools(ctx); err != nil {
		return err
	}
	rows, err := b.compareAll(ctx)
	if err != nil {
		return err
	}
	return printTable(out, rows)
}

// profileBench holds the tools and inputs of the comparison.
type profileBench struct {
	runs, stacks, files int
	large               bool
	data                string
	out                 io.Writer

	dir               string // directory for created files
	self, pprof, hone string // programs
}

// honePackage is hone itself.
const honePackage = "github.com/hone-go/hone/cmd/hone"

// releaseProfile is the profile that releases are compiled with, below the repository's root.
const releaseProfile = "cmd/hone/release.pgo"

func (b *profileBench) findTools(ctx context.Context) error {
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	// -n prints the tool's path and builds it first, so that the go command is not measured.
	path, err := exec.CommandContext(ctx, "go", "tool", "-n", "pprof").Output()
	if err != nil {
		return fmt.Errorf("find go tool pprof: %w", err)
	}
	b.pprof = strings.TrimSpace(string(path))
	b.hone = filepath.Join(b.dir, "hone")
	if said, err := exec.CommandContext(ctx, "go", "build", "-pgo="+releaseProfile, "-o", b.hone, honePackage).CombinedOutput(); err != nil {
		return fmt.Errorf("build hone: %w\n%s", err, said)
	}
	return nil
}

// shape describes a generated profile.
type shape struct{ stacks, functions, depth, labels, seed int }

// profiles returns the profiles with these names: those in the data directory, or new ones.
func (b *profileBench) profiles(ctx context.Context, s shape, names ...string) ([]string, error) {
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = filepath.Join(b.data, name)
		if _, err := os.Stat(files[i]); b.data == "" || err != nil {
			files[i] = ""
		}
	}
	if !allSet(files) {
		args := []string{b.self, workerArg, "generate"}
		for _, n := range []int{s.stacks, s.functions, s.depth, s.labels, s.seed} {
			args = append(args, strconv.Itoa(n))
		}
		for i, name := range names {
			files[i] = filepath.Join(b.dir, name)
		}
		if _, err := measure(ctx, append(args, files...)); err != nil {
			return nil, fmt.Errorf("make test data: %w", err)
		}
	}
	info, err := os.Stat(files[0])
	if err != nil {
		return nil, err
	}
	size, err := inflatedSize(files[0])
	fmt.Fprintf(b.out, "%d × %s: %.1f MB each, %.1f MB gzip'd\n", len(files), files[0], float64(size)/1e6, float64(info.Size())/1e6)
	return files, err
}

func allSet(files []string) bool {
	for _, f := range files {
		if f == "" {
			return false
		}
	}
	return true
}

// compareAll measures the rows of the table.
func (b *profileBench) compareAll(ctx context.Context) ([]row, error) {
	pair, err := b.profiles(ctx, shape{b.stacks, 20_000, 37, 1, 1}, "one.pb.gz", "two.pb.gz")
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range b.files {
		names = append(names, fmt.Sprintf("part%03d.pb.gz", i))
	}
	parts, err := b.profiles(ctx, shape{max(1, b.stacks/40), 2_500, 22, 1, 100}, names...)
	if err != nil {
		return nil, err
	}
	one, two := pair[0], pair[1]
	merged := filepath.Join(b.dir, "merged.pb.gz")
	rows := []row{
		{what: "top of one profile", target: target{ratio: 40, peak: 80}},
		{what: "top of a large profile", target: target{ratio: 75, peak: 400}},
		{what: "diff of the two", target: target{ratio: 40, peak: 160}},
		{what: fmt.Sprintf("merge of %d profiles", b.files), target: target{ratio: 4, peak: 150}},
		{what: "first flame graph of one", target: target{page: 300, cpu: 0.4}},
	}
	if err := b.fill(ctx, &rows[0], b.runs, command(b.pprof, "-top", one), command(b.hone, "top", one)); err != nil {
		return nil, err
	}
	if err := b.fillLarge(ctx, &rows[1]); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, &rows[2], b.runs, command(b.pprof, "-top", "-diff_base", one, two), command(b.hone, "top", "-diff_base", one, two)); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, &rows[3], b.runs, command(append([]string{b.pprof, "-proto", "-output=" + merged}, parts...)...),
		command(append([]string{b.hone, "proto", "-q", "-o", merged}, parts...)...)); err != nil {
		return nil, err
	}
	return rows, b.fill(ctx, &rows[4], min(b.runs, 3), pprofPage(b.pprof, one), honePage(b.hone, one, filepath.Join(b.dir, "flame.html")))
}

// fillLarge measures the row that takes pprof minutes, if -large is set.
func (b *profileBench) fillLarge(ctx context.Context, r *row) error {
	if !b.large {
		r.skip = "add -large; it takes pprof more than a minute of CPU and 5 GiB of memory"
		return nil
	}
	huge, err := b.profiles(ctx, shape{1_000_000, 40_000, 42, 2, 1}, "large.pb.gz")
	if err != nil {
		return err
	}
	return b.fill(ctx, r, 1, command(b.pprof, "-top", huge[0]), command(b.hone, "top", huge[0]))
}

func (b *profileBench) fill(ctx context.Context, r *row, runs int, peer, ours func(context.Context) (usage, error)) error {
	r.names = [2]string{"go tool pprof", "hone"}
	u, err := compare(ctx, runs, []rival{{r.names[0], peer}, {r.names[1], ours}})
	if err != nil {
		return fmt.Errorf("%s: %w", r.what, err)
	}
	r.usages = [2]usage(u)
	return nil
}

// inflatedSize returns the uncompressed size of a profile.
func inflatedSize(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := profile.Inflate(f, 0)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(io.Discard, r)
}
