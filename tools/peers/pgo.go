package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/profile"
)

// pgoArea records the profile that hone is built with: hone run on hone's own longest commands.
func pgoArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers pgo", flag.ContinueOnError)
	file := fs.String("o", releaseProfile, "`FILE` to write")
	duration := fs.Duration("duration", 0, "length of each recording; 0 is that of hone run")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return errors.New("pgo takes only flags")
	}
	dir, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := profileBench{dir: dir, out: out, stacks: 100_000}
	if err := b.findTools(ctx); err != nil {
		return err
	}
	works, err := b.hardWork(ctx)
	if err != nil {
		return err
	}
	merged := filepath.Join(dir, "merged.pgo")
	merge := []string{b.hone, "proto", "-q", "-o", merged}
	for i, work := range works {
		rec := filepath.Join(dir, fmt.Sprintf("rec%d.hone", i))
		run := []string{b.hone, "run", honePackage, "-q", "-phases", "cpu", "-o", rec}
		if *duration > 0 {
			run = append(run, "-duration", duration.String())
		}
		if err := execute(ctx, out, append(append(run, "--"), work...)); err != nil {
			return err
		}
		merge = append(merge, rec+":cpu")
	}
	if err := execute(ctx, out, merge); err != nil {
		return err
	}
	return writePGO(*file, merged)
}

// hardWork returns hone's longest commands, with their inputs.
func (b *profileBench) hardWork(ctx context.Context) ([][]string, error) {
	t := traceBench{dir: b.dir, self: b.self}
	trace, err := t.file(ctx, 20)
	if err != nil {
		return nil, err
	}
	profiles, err := b.profiles(ctx, shape{b.stacks, 20_000, 37, 1, 7}, "one.pb.gz", "two.pb.gz", "three.pb.gz")
	if err != nil {
		return nil, err
	}
	return [][]string{
		{"trace", "summary", trace},
		{"trace", "requests", trace},
		{"top", profiles[0]},
		append([]string{"proto", "-q", "-o", filepath.Join(b.dir, "merged.pb.gz")}, profiles...),
		{"flame", "-q", "-o", filepath.Join(b.dir, "flame.html"), profiles[0]},
	}, nil
}

// writePGO writes only the parts of a profile that the compiler reads (cmd/internal/pgo, pprof.go):
// functions by name, first line and line. The paths of files on this machine are left out.
func writePGO(file, merged string) error {
	in, err := os.Open(merged)
	if err != nil {
		return err
	}
	defer in.Close()
	p, err := profile.Decode(in, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", merged, err)
	}
	// The profile is not shared, so it can be changed.
	for i := range p.Functions {
		p.Functions[i].Filename = ""
	}
	for i := range p.Mappings {
		p.Mappings[i].File, p.Mappings[i].BuildID = "", ""
	}
	p.Comments = nil
	o, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(p.Encode(o), o.Close())
}

// execute prints a command, runs it and shows its errors.
func execute(ctx context.Context, out io.Writer, args []string) error {
	fmt.Fprintln(out, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %q: %w", args, err)
	}
	return nil
}
