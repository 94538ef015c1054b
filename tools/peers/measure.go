package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/hone-go/hone/stats"
)

// rival is one of those that are compared.
type rival struct {
	name string
	run  func(context.Context) (usage, error)
}

// usage is what a run of a rival took, and made.
type usage struct {
	cpu  float64 // seconds, user and system
	peak float64 // MiB of memory; 0 where the system does not tell
	page float64 // kB of the page made; 0 where none is
}

// command returns what runs a command and measures it.
func command(args ...string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) { return measure(ctx, args) }
}

// measure runs a command to its end. Its output is thrown away, its errors are not.
func measure(ctx context.Context, args []string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("run %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return used(cmd.ProcessState), nil
}

// used is what a finished process took.
func used(s *os.ProcessState) usage {
	return usage{cpu: (s.UserTime() + s.SystemTime()).Seconds(), peak: peakMiB(s)}
}

// compare runs the rivals in turn, so that a change of the machine's mood
// meets all of them, and returns the median usage of each.
func compare(ctx context.Context, runs int, rivals []rival) ([]usage, error) {
	cpu, peak, page := make([][]float64, len(rivals)), make([][]float64, len(rivals)), make([][]float64, len(rivals))
	for range runs {
		for i, r := range rivals {
			u, err := r.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			cpu[i], peak[i], page[i] = append(cpu[i], u.cpu), append(peak[i], u.peak), append(page[i], u.page)
		}
	}
	out := make([]usage, len(rivals))
	for i := range rivals {
		out[i] = usage{stats.Median(cpu[i]), stats.Median(peak[i]), stats.Median(page[i])}
	}
	return out, nil
}
