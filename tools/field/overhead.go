package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// overheads writes the cost of the instruments in the recordings of a directory: the CPU per unit
// of work with counters of executions, and of inputs, relative to the clean phase of the same
// recording; how long the recording took; and its size.
func overheads(work string, w io.Writer) error {
	paths, err := filepath.Glob(filepath.Join(work, "*.hone"))
	if err != nil {
		return err
	}
	fmt.Fprint(w, overheadHead)
	var counts, inputs []float64
	for _, path := range paths {
		m, size, err := manifestOf(path)
		if err != nil {
			return err
		}
		clean, ok := m.Phase(recording.PhaseClean)
		n := max(clean.Requests, int64(clean.Runs))
		if !ok || n == 0 {
			continue
		}
		cell := func(name string, all *[]float64) string {
			p, ok := m.Phase(name)
			f := m.CPUFactor(&p)
			if !ok || f == 0 {
				return "–"
			}
			*all = append(*all, f)
			return fmt.Sprintf("%.2f", f)
		}
		name := filepath.Base(path)
		fmt.Fprintf(w, "| %s | %s per %s | %s | %s | %.0f s | %.1f MB |\n", name[:len(name)-len(".hone")],
			time.Duration(1e9*clean.CPUSeconds/float64(n)).Round(time.Microsecond), m.Unit(),
			cell(recording.PhaseCounts, &counts), cell(recording.PhaseInputs, &inputs), length(m).Seconds(), float64(size)/1e6)
	}
	fmt.Fprintf(w, "\nCounts: %s. Inputs: %s.\n", spread(counts), spread(inputs))
	return nil
}

const overheadHead = `# What counting executions and inputs costs

Made by ` + "`go run ./tools/field -work DIR -overheads -w tools/field/testdata/own`" + `; do not edit. Each row is one recording of
a field case: the CPU per unit of work in the clean phase, the factors by which counters of executions and counters of inputs
increase it, how long the recording took with all builds and phases, and its size. Both instruments run in processes of their own,
so their cost does not affect the figures that hone reports.

| program | clean CPU | counts, times | inputs, times | recording took | size |
|---|---|---|---|---|---|
`

func manifestOf(path string) (*recording.Manifest, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	r, err := recording.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	m := r.Manifest
	return &m, info.Size(), nil
}

// length returns the time from the start of the first phase to the end of the last one.
func length(m *recording.Manifest) time.Duration {
	first, last := m.Phases[0].Start, m.Phases[0].Start
	for _, p := range m.Phases {
		if end := p.Start.Add(time.Duration(p.Seconds * float64(time.Second))); end.After(last) {
			last = end
		}
	}
	return last.Sub(first)
}

// spread summarizes the distribution of factors.
func spread(f []float64) string {
	if len(f) == 0 {
		return "none"
	}
	slices.SortFunc(f, cmp.Compare)
	return fmt.Sprintf("median %.2f times the CPU, nine tenths below %.2f, at most %.2f (%d programs)", f[len(f)/2], f[len(f)*9/10], f[len(f)-1], len(f))
}
