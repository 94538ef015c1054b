package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// rival is one command of a comparison.
type rival struct {
	name string
	args []string // the program and its arguments
}

// usage is what a run of a rival took.
type usage struct {
	cpu  float64 // seconds, user and system
	peak float64 // MiB of memory; 0 where the system does not tell
}

// measure runs a command to its end. Its output is thrown away, its errors are not.
func measure(ctx context.Context, args []string) (usage, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("run %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	s := cmd.ProcessState
	return usage{cpu: (s.UserTime() + s.SystemTime()).Seconds(), peak: peakMiB(s)}, nil
}

// compare runs the rivals in turn, so that a change of the machine's mood
// meets all of them, and returns the median usage of each.
func compare(ctx context.Context, runs int, rivals []rival) ([]usage, error) {
	cpu, peak := make([][]float64, len(rivals)), make([][]float64, len(rivals))
	for range runs {
		for i, r := range rivals {
			u, err := measure(ctx, r.args)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			cpu[i], peak[i] = append(cpu[i], u.cpu), append(peak[i], u.peak)
		}
	}
	out := make([]usage, len(rivals))
	for i := range rivals {
		out[i] = usage{median(cpu[i]), median(peak[i])}
	}
	return out, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// row is one line of an area's table.
type row struct {
	what   string
	names  [2]string // the peer's and hone's
	usages [2]usage
	target string
}

func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\ttool\tCPU s\tpeak MiB\tCPU ratio\tmemory ratio\ttarget")
	for _, r := range rows {
		peer, ours := r.usages[0], r.usages[1]
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.0f\t\t\t\n", r.what, r.names[0], peer.cpu, peer.peak)
		fmt.Fprintf(w, "\t%s\t%.3f\t%.0f\t%.1f×\t%.1f×\t%s\n", r.names[1], ours.cpu, ours.peak, peer.cpu/ours.cpu, peer.peak/ours.peak, r.target)
	}
	return w.Flush()
}
