package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
)

// workerArg makes this program do one job in its own process, so that the job's CPU and memory can
// be measured, or do not affect the measurement.
const workerArg = "worker"

// worker does a job: generate, load, spin, trace or readtrace.
func worker(args []string, out io.Writer) error {
	if len(args) < 2 {
		return fmt.Errorf("worker: no job in %q", args)
	}
	switch job, args := args[0], args[1:]; job {
	case "generate": // STACKS FUNCTIONS DEPTH LABELS SEED FILE...
		return generateJob(args)
	case "load": // URL CONNECTIONS RATE SECONDS
		return loadJob(out, args)
	case "spin": // WHAT, for people who look at the processes
		return spin(os.Stdin)
	case "trace": // MB FILE
		return traceJob(args)
	case "readtrace": // FILE
		return readTraceJob(args)
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
