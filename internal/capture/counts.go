package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// Packages are counted that at least countedShare of the CPU time or of the allocated bytes passes
// through, the most expensive mostCounted of them: each has to be compiled once more.
const (
	countedShare = 0.02
	mostCounted  = 32
)

// countWindows is how many windows the counts of a service are taken in, so that growth shows.
const countWindows = 3

// counter is a program with counters of executions.
type counter interface {
	CountersMeta(context.Context) ([]byte, error)
	Counters(context.Context) ([]byte, error)
	ClearCounters(context.Context) error
}

// recordCounts builds the target once more with counters of executions and runs it under the same
// load in a process of its own. It comes last and is mixed with no phase that measures time: an
// instrumented program takes 1.0 to 1.2 times the CPU time, six times in tight loops. What fails
// here costs the counts, not the recording; only the end of ctx is an error.
func (r *recorder) recordCounts(ctx context.Context, addrs []string) error {
	if !slices.Contains(r.o.Phases, recording.PhaseCounts) {
		return nil
	}
	r.phase = recording.PhaseCounts
	began := time.Now()
	text, err := r.takeCounts(ctx, addrs)
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	if err != nil {
		r.missing(recording.PartCounts, err)
		text = "not available: " + firstLine(err.Error())
	}
	r.say(Event{Phase: r.phase, Text: text, At: since(began), End: true})
	return r.checkpoint()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// takeCounts returns the summary for the progress line.
func (r *recorder) takeCounts(ctx context.Context, addrs []string) (string, error) {
	m := r.out.Manifest()
	packages := hotPackages(r.profiles, m.Target.ImportPath)
	if len(packages) == 0 {
		return "", errors.New("no profile says which packages to count")
	}
	r.say(Event{Phase: r.phase, Text: fmt.Sprintf("building with counters in %s", count(len(packages), "package"))})
	bin, start, err := r.buildTarget(ctx, packages)
	if err != nil {
		return "", err
	}
	defer bin.Remove()
	spec := r.spec()
	spec.Stdout, spec.Stderr = r.again(recording.PartStdout), r.again(recording.PartStderr)
	switch {
	case r.o.Load != nil:
		return r.countLoaded(ctx, start, spec, addrs)
	case m.Target.Kind == kindService:
		return "", errors.New("a service without -load has no unit of work to count for")
	case r.o.Bench != "":
		return r.countBench(ctx, start, spec, bin)
	}
	return r.countRun(ctx, start, spec)
}

// again is the path for the output of a further run, which is not kept.
func (r *recorder) again(part string) string { return filepath.Join(r.tmp, "again-"+part) }

// countLoaded counts a service under the recording's load.
func (r *recorder) countLoaded(ctx context.Context, start startFunc, spec target.RunSpec, addrs []string) (string, error) {
	proc, err := start(ctx, spec)
	if err != nil {
		return "", err
	}
	defer r.stop(ctx, proc)
	c, ok := proc.(counter)
	if !ok {
		return "", errors.New("the program has no counters")
	}
	for _, a := range addrs {
		if err := r.ready(ctx, proc, a); err != nil {
			return "", err
		}
	}
	meta, err := c.CountersMeta(ctx)
	if err != nil {
		return "", err
	}
	s := &service{recorder: r, prog: proc, local: true}
	if err := s.beginLoad(ctx); err != nil {
		return "", err
	}
	defer s.gen.Stop()
	r.phase = recording.PhaseCounts // beginLoad names its own
	if _, err := s.measure(ctx, r.world.tick, nil); err != nil {
		return "", err // what a service does once, it does here
	}
	length := min(max(r.o.Duration/15, r.world.tick), 3*r.world.tick)
	var all stretch
	var windows [][]byte
	for range countWindows {
		if err := c.ClearCounters(ctx); err != nil {
			return "", err
		}
		st, err := s.measure(ctx, length, nil)
		if err != nil {
			return "", err
		}
		data, err := c.Counters(ctx)
		if err != nil {
			return "", err
		}
		windows = append(windows, data)
		st.phase.Windows = []recording.Window{{Seconds: st.phase.Seconds, Requests: st.phase.Requests, CPUSeconds: st.phase.CPUSeconds}}
		all.join(st)
	}
	all.phase.Name = recording.PhaseCounts
	return r.keepCounts(all, meta, windows)
}

// countRun counts one run of a program that ends.
func (r *recorder) countRun(ctx context.Context, start startFunc, spec target.RunSpec) (string, error) {
	st, parts, err := r.runCounted(ctx, start, spec)
	if err != nil {
		return "", err
	}
	return r.keepCounts(st, parts[target.PartCountersMeta], [][]byte{parts[target.PartCounters]})
}

// countedOps is how many operations of a benchmark are counted. Package testing does one more before.
const countedOps = 200

// countBench counts a fixed number of each benchmark's operations. Counts for an operation are known
// where there is one benchmark; of several, only those for a call are.
func (r *recorder) countBench(ctx context.Context, start startFunc, spec target.RunSpec, bin *target.Binary) (string, error) {
	b := &benchmark{program: program{recorder: r}}
	spec.Dir, spec.Args = bin.Dir, b.args(fmt.Sprintf("%dx", countedOps))
	st, parts, err := r.runCounted(ctx, start, spec)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(spec.Stdout)
	if err != nil {
		return "", fmt.Errorf("read what the benchmarks printed: %w", err)
	}
	if lines := parseBench(text); len(lines) == 1 {
		st.phase.Requests = lines[0].Iterations
		st.phase.Windows[0].Requests = lines[0].Iterations
	}
	return r.keepCounts(st, parts[target.PartCountersMeta], [][]byte{parts[target.PartCounters]})
}

// runCounted runs the program to its end.
func (r *recorder) runCounted(ctx context.Context, start startFunc, spec target.RunSpec) (stretch, map[string][]byte, error) {
	spec.Collect = target.Collect{Counters: true}
	began := time.Now()
	proc, err := start(ctx, spec)
	if err != nil {
		return stretch{}, nil, err
	}
	_, err = r.watch(ctx, proc, nil)
	r.stop(ctx, proc)
	if err != nil {
		return stretch{}, nil, err
	}
	one := run{began: began, exit: proc.Exit()}
	if why := one.exit.Failure(); why != "" && !one.finished() {
		return stretch{}, nil, errors.New("the program failed: " + why)
	}
	parts, missing := proc.Parts()
	for _, name := range []string{target.PartCountersMeta, target.PartCounters} {
		if len(parts[name]) == 0 {
			return stretch{}, nil, errors.New(cmp.Or(missing[name], "the program handed none over"))
		}
	}
	st := stretch{phase: recording.Phase{
		Name: recording.PhaseCounts, Runs: 1, Start: began.UTC(), Seconds: one.wall(), CPUSeconds: one.cpu(),
		Windows: []recording.Window{{Seconds: one.wall(), CPUSeconds: one.cpu()}},
	}}
	return st, parts, nil
}

// keepCounts writes the files as Go names them, so that `go tool covdata` reads the folder.
func (r *recorder) keepCounts(st stretch, meta []byte, windows [][]byte) (string, error) {
	decoded, err := covdata.ReadMeta(meta)
	if err != nil {
		return "", err
	}
	hash := fmt.Sprintf("%x", decoded.Hash)
	if err := r.add(recording.PartCounts+"/covmeta."+hash, r.phase, meta); err != nil {
		return "", err
	}
	for i, data := range windows {
		if err := r.add(fmt.Sprintf("%s/covcounters.%s.1.%d", recording.PartCounts, hash, i+1), r.phase, data); err != nil {
			return "", err
		}
	}
	r.keep(st)
	if n := st.phase.Requests; n > 0 {
		m := r.out.Manifest()
		return fmt.Sprintf("%s in %s", count(int(n), m.Unit()), count(len(windows), "window")), nil
	}
	return count(st.phase.Runs, "run"), nil
}

// hotPackages are the packages to count, by import path, from profiles by the name of their part.
// program is the import path of package main.
func hotPackages(profiles map[string][]byte, program string) []string {
	shares := map[string]float64{}
	for part, column := range map[string]string{recording.PartCPU: "cpu", recording.PartAllocs: "alloc_space"} {
		p, err := profile.Decode(bytes.NewReader(profiles[part]), 0)
		if err != nil {
			continue
		}
		index, err := p.SampleIndex(column)
		if err != nil {
			continue
		}
		for pkg, share := range packageShares(p, index) {
			shares[pkg] = max(shares[pkg], share)
		}
	}
	var out []string
	best := map[string]float64{}
	for pkg, share := range shares {
		switch {
		case pkg == "main":
			pkg = program
		case strings.HasSuffix(pkg, "_test"):
			pkg = strings.TrimSuffix(pkg, "_test") // the files of the external test package are not instrumented
		}
		if share < countedShare || !countable(pkg) {
			continue
		}
		if _, seen := best[pkg]; !seen {
			out = append(out, pkg)
		}
		best[pkg] = max(best[pkg], share)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(best[b], best[a]), strings.Compare(a, b)) })
	return out[:min(len(out), mostCounted)]
}

// countable reports whether a package is worth building with counters. Of the standard library these
// are the packages that few others import: with counters in package strings nearly all of it would be
// compiled again, which takes minutes.
func countable(pkg string) bool {
	if pkg == "" || strings.ContainsAny(pkg, " ,\"'\\") {
		return false
	}
	if !profile.StandardPackage(pkg) {
		return true
	}
	for _, p := range []string{
		"archive/tar", "archive/zip", "container/heap", "database/sql", "encoding/csv", "encoding/gob", "encoding/json", "encoding/xml",
		"go/ast", "go/format", "go/parser", "go/printer", "go/scanner", "go/token", "html", "html/template", "image", "log/slog",
		"regexp", "regexp/syntax", "text/scanner", "text/tabwriter", "text/template", "text/template/parse",
	} {
		if pkg == p || p == "image" && strings.HasPrefix(pkg, "image/") {
			return true
		}
	}
	return false
}

// packageShares is the share of a column that passes through each package.
func packageShares(p *profile.Profile, column int) map[string]float64 {
	sums, seen := map[string]int64{}, map[string]int{}
	var total int64
	var stack []int32
	for i, v := range p.Values(column) {
		total += v
		stack = p.Stack(i, stack)
		for _, l := range stack {
			for _, line := range p.Locations[l].Lines {
				pkg := profile.PackageOf(p.Functions[line.Func].Name)
				if seen[pkg] != i+1 {
					seen[pkg] = i + 1
					sums[pkg] += v
				}
			}
		}
	}
	shares := map[string]float64{}
	for pkg, v := range sums {
		if total > 0 {
			shares[pkg] = float64(v) / float64(total)
		}
	}
	return shares
}
