package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/hone-go/hone/profile"
)

// workerArg makes this program do one job in a process of its own, so that the
// job's CPU and memory can be measured, or do not weigh on the measurement.
const workerArg = "worker"

// worker does a job: generate, top, diff or merge.
func worker(args []string, out io.Writer) error {
	if len(args) < 2 {
		return fmt.Errorf("worker: no job in %q", args)
	}
	switch job, args := args[0], args[1:]; job {
	case "generate": // STACKS FUNCTIONS DEPTH LABELS SEED FILE...
		return generateJob(args)
	case "top": // FILE
		p, err := decodeFile(args[0])
		if err != nil {
			return err
		}
		return printTop(out, p, nil)
	case "diff": // BASE FILE
		base, err := decodeFile(args[0])
		if err != nil {
			return err
		}
		p, err := decodeFile(args[1])
		if err != nil {
			return err
		}
		return printTop(out, p, base)
	case "merge": // OUT FILE...
		return mergeJob(args[0], args[1:])
	case "load": // URL CONNECTIONS RATE SECONDS
		return loadJob(out, args)
	default:
		return fmt.Errorf("worker: no job named %q", job)
	}
}

func generateJob(args []string) error {
	if len(args) < 6 {
		return fmt.Errorf("worker: generate needs five numbers and files")
	}
	var n [5]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[i]); err != nil {
			return fmt.Errorf("worker: generate: %w", err)
		}
	}
	p := newProgram(n[1])
	for i, file := range args[5:] {
		if err := p.generate(file, n[0], n[2], n[3], uint64(n[4]+i)); err != nil {
			return err
		}
	}
	return nil
}

func decodeFile(path string) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Decode(f, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// printTop prints what pprof -top prints of its table; with a base what
// -diff_base adds.
func printTop(out io.Writer, p, base *profile.Profile) error {
	index, err := p.SampleIndex("")
	if err != nil {
		return err
	}
	o := profile.TopOptions{SampleIndex: index, MinShare: 0.005}
	top, err := p.Top(o)
	if base != nil {
		top, err = profile.TopDiff(p, base, o)
	}
	if err != nil {
		return err
	}
	unit := top.Unit()
	value := func(v int64) string { return profile.FormatValue(v, top.SampleType.Unit, unit) }
	for _, r := range top.Rows {
		fmt.Fprintf(out, "%10s %s %10s %s  %s\n", value(r.Flat), profile.FormatPercent(r.Flat, top.Total),
			value(r.Cum), profile.FormatPercent(r.Cum, top.Total), r.Name)
	}
	return nil
}

func mergeJob(path string, files []string) error {
	m := profile.NewMerger()
	for _, file := range files {
		p, err := decodeFile(file)
		if err != nil {
			return err
		}
		if err := m.Add(p); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	p, err := m.Profile()
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := p.Encode(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}
