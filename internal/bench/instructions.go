package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/trial"
	"github.com/hone-go/hone/stats"
)

// instructionUnit is the unit of the instructions that an operation executes in user mode.
const instructionUnit = "instrs/op"

const (
	// instructionTime is how long the counted iterations take without the counter, which can be 30
	// times slower.
	instructionTime = 20 * time.Millisecond
	// instructionRuns is the number of counts per side: the fewest with which the Mann-Whitney test
	// can find a change at the false discovery rate.
	instructionRuns = 6
	// instructionFloor is the smallest relative change that is reported. Counts of a program with
	// one goroutine vary by 0.04 to 0.4 %.
	instructionFloor = 0.005
)

// counter is a program that runs another and counts its instructions.
type counter struct {
	name    string
	command func(out string) []string // arguments before the program's
	parse   func(text []byte) (float64, error)
}

func counters() []counter {
	return []counter{
		{"perf", func(out string) []string {
			return []string{"perf", "stat", "-x", ",", "-e", "instructions:u", "-o", out, "--"}
		}, parsePerf},
		{"valgrind", func(out string) []string {
			return []string{"valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + out, "--"}
		}, parseCachegrind},
	}
}

// parsePerf parses the output of perf stat -x , -e instructions:u.
func parsePerf(text []byte) (float64, error) {
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, ",")
		if len(cells) > 2 && strings.HasPrefix(cells[2], "instructions") {
			n, err := strconv.ParseFloat(cells[0], 64)
			if err != nil {
				return 0, fmt.Errorf("perf counts no instructions here: %s", cells[0])
			}
			return n, nil
		}
	}
	return 0, errors.New("perf wrote no count of instructions")
}

// parseCachegrind reads the total from a file of cachegrind, which runs without cache simulation.
func parseCachegrind(text []byte) (float64, error) {
	if !bytes.Contains(text, []byte("\nevents: Ir\n")) {
		return 0, errors.New("cachegrind's file counts events other than instructions")
	}
	for line := range strings.Lines(string(text)) {
		if sum, ok := strings.CutPrefix(line, "summary: "); ok {
			return strconv.ParseFloat(strings.TrimSpace(sum), 64)
		}
	}
	return 0, errors.New("cachegrind's file has no summary: the run did not finish")
}

// chooseCounter finds the first counter that works on this machine.
func (r *runner) chooseCounter(ctx context.Context) error {
	var why []error
	for _, c := range counters() {
		if _, err := exec.LookPath(c.command("")[0]); err != nil {
			why = append(why, err)
			continue
		}
		r.counter = &c
		x := r.subjects[0]
		if _, err := r.counted(ctx, x, newSide, 1); err == nil || ctx.Err() != nil {
			return ctx.Err()
		} else {
			why = append(why, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	r.counter = nil
	return fmt.Errorf("count instructions: %w; install valgrind, or use a machine on which perf can read the processor's counters", errors.Join(why...))
}

// counted runs n iterations of a benchmark and returns the number of instructions of the whole
// process.
func (r *runner) counted(ctx context.Context, x *subject, side int, n int64) (float64, error) {
	out := filepath.Join(r.work, "instructions")
	defer os.Remove(out)
	args := append(r.counter.command(out), x.pkgs[side].layouts[0].binary.Path)
	args = append(append(args, "-test.run=^$", "-test.count=1"), x.arguments(n)[0], fmt.Sprintf("-test.benchtime=%dx", n), "-test.cpu=1")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.WaitDelay = x.pkgs[side].dir, time.Second
	// Parallel threads and garbage collections would differ between runs.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off")
	text, err := cmd.CombinedOutput()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, lastLines(text))
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	return r.counter.parse(data)
}

// instructionSample divides the difference between two runs by the difference of their iterations,
// so that what the process does before and after the iterations cancels out.
func (r *runner) instructionSample(ctx context.Context, x *subject, side int) (Sample, error) {
	began := time.Now()
	n := int64(max(4, math.Ceil(instructionTime.Seconds()*1e9/max(x.nanoseconds(), 0.1))))
	few, err := r.counted(ctx, x, side, n/4)
	if err != nil {
		return Sample{}, err
	}
	many, err := r.counted(ctx, x, side, n/4+n)
	if err != nil {
		return Sample{}, err
	}
	per := max(0, many-few) / float64(n)
	return Sample{Layout: 1, Seconds: time.Since(began).Seconds(), Values: map[string]float64{instructionUnit: per}}, nil
}

// nanoseconds returns about how long an operation takes.
func (x *subject) nanoseconds() float64 { return stats.Median(values(x.New, "ns/op")) }

// instructions counts the instructions of a benchmark on all sides, interleaved.
func (r *runner) instructions(ctx context.Context, x *subject, take func(side int, s Sample)) error {
	variants := 1
	if r.Against != "" {
		variants = 2
	}
	t := trial.New(variants, r.Seed^hash("instructions "+x.Name), trial.Limits{Least: instructionRuns, Most: instructionRuns})
	return t.Run(ctx, func(ctx context.Context, side int) error {
		if r.Against == "" {
			side = newSide
		}
		s, err := r.instructionSample(ctx, x, side)
		if err != nil {
			return fmt.Errorf("%s %s under %s: %w", x.Package, x.Name, r.counter.name, err)
		}
		take(side, s)
		return nil
	}, nil)
}

// countAll counts the instructions of all benchmarks.
func (r *runner) countAll(ctx context.Context) error {
	if !r.Instructions || len(r.subjects) == 0 {
		return nil
	}
	if err := r.chooseCounter(ctx); err != nil {
		return err
	}
	for i, x := range r.subjects {
		r.Progress(Progress{Text: "counting instructions of " + x.Name, Done: (float64(i) + 0.5) / float64(len(r.subjects))})
		err := r.instructions(ctx, x, func(side int, s Sample) {
			if side == oldSide {
				x.Old = append(x.Old, s)
			} else {
				x.New = append(x.New, s)
			}
		})
		if err != nil {
			return err
		}
	}
	r.result.Notes = append(r.result.Notes, "instructions are counted in user mode, with "+r.counter.name+" under GOMAXPROCS=1 and GOGC=off; they miss system calls, "+
		"cache misses and the garbage collector, and vary by several percent where goroutines wait for each other")
	return nil
}
