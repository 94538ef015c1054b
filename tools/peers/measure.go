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

// rival is one of the tools that are compared.
type rival struct {
	name string
	run  func(context.Context) (usage, error)
}

// usage is the cost of a run, and the size of its output.
type usage struct {
	cpu  float64 // seconds, user and system
	peak float64 // MiB of memory; 0 if the system does not report it
	page float64 // kB of the page written; 0 if there is none
}

// command returns a function that runs a command and measures it.
func command(args ...string) func(context.Context) (usage, error) {
	return func(ctx context.Context) (usage, error) { return measure(ctx, args) }
}

// measure runs a command until it exits. Its output is discarded, its errors are not.
func measure(ctx context.Context, args []string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("run %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return used(cmd.ProcessState), nil
}

// used returns the cost of a finished process.
func used(s *os.ProcessState) usage {
	return usage{cpu: (s.UserTime() + s.SystemTime()).Seconds(), peak: peakMiB(s)}
}

// compare runs the tools alternately, so that changes of the machine's speed affect all of them,
// and returns the median usage of each.
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
