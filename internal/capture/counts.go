package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/symbol"
)

// A package is counted when at least countedShare of the CPU time or of the allocated bytes passes
// through it, or countedLive of the memory that is live: the arrays of a queue are small beside
// what they keep. The packages of the program's own module are counted whatever they cost: requests
// may wait there. Only the mostCounted most expensive ones are: each has to be compiled once more.
const (
	countedShare = 0.02
	countedLive  = 0.005
	mostCounted  = 32
)

// countWindows is the number of windows in which a service's executions are counted, so that growth
// shows.
const countWindows = 3

// counter is a program with counters of executions.
type counter interface {
	CountersMeta(context.Context) ([]byte, error)
	Counters(context.Context) ([]byte, error)
	ClearCounters(context.Context) error
}

// recordCounts builds the target once more with execution counters, and runs it under the same load
// in a separate process. It comes last and is never mixed with a phase that measures time: an
// instrumented program takes 1.0 to 1.2 times the CPU time, and six times in tight loops. If a run
// with all counters would take too long, only the packages of the program's module have counters. A
// failure loses the counts, not the recording; only the end of ctx is returned as an error.
func (r *recorder) recordCounts(ctx context.Context, addrs []string) error {
	if !slices.Contains(r.o.Phases, recording.PhaseCounts) {
		return nil
	}
	return r.runPhaseAgain(ctx, recording.PhaseCounts, recording.PartCounts, func() (string, error) { return r.takeCounts(ctx, addrs) })
}

// takeCounts returns the summary for the progress line.
func (r *recorder) takeCounts(ctx context.Context, addrs []string) (string, error) {
	m := r.out.Manifest()
	packages := hotPackages(r.profiles, m.Target.ImportPath, m.Runtime.Module)
	if len(packages) == 0 {
		return "", errors.New("no profile says which packages to count")
	}
	text, err := r.countIn(ctx, addrs, packages)
	var slow *slowError
	if own := ownPackages(packages, m.Target.ImportPath, m.Runtime.Module); errors.As(err, &slow) && len(own) > 0 && len(own) < len(packages) {
		r.note("%s. It ran again with counters in the program's own module only", err)
		all := slow
		if text, err = r.countIn(ctx, addrs, own); err != nil && !errors.As(err, &slow) && ctx.Err() == nil {
			err = all // benchmarks in a package of tests alone have nothing else to count
		}
	}
	if errors.As(err, &slow) && slow.cut != nil {
		r.note("%s. The counts are of the part until then: figures per run are lower limits, those per call hold", err)
		return r.keepCounts(slow.cut.stretch, slow.cut.meta, [][]byte{slow.cut.counters})
	}
	return text, err
}

// ownPackages are those of the packages that belong to the program's module; module "" is a program
// outside of modules, which owns its main package alone.
func ownPackages(packages []string, program, module string) []string {
	var own []string
	for _, p := range packages {
		if p == program || module != "" && (p == module || strings.HasPrefix(p, module+"/")) {
			own = append(own, p)
		}
	}
	return own
}

// countIn counts with counters in some packages.
func (r *recorder) countIn(ctx context.Context, addrs, packages []string) (string, error) {
	m := r.out.Manifest()
	r.say(Event{Phase: r.phase, Text: fmt.Sprintf("building with counters in %s", count(len(packages), "package"))})
	bin, start, err := r.buildTarget(ctx, target.BuildSpec{Counted: packages})
	if err != nil {
		return "", err
	}
	defer bin.Remove()
	spec := r.specAgain()
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

// countLoaded counts the executions of a service under the recording's load.
func (r *recorder) countLoaded(ctx context.Context, start startFunc, spec target.RunSpec, addrs []string) (string, error) {
	var meta []byte
	i := instrument{phase: recording.PhaseCounts, windows: countWindows}
	i.clear = func(ctx context.Context, p process) error {
		c, ok := p.(counter)
		if !ok {
			return errors.New("the program has no counters")
		}
		if meta == nil {
			var err error
			if meta, err = c.CountersMeta(ctx); err != nil {
				return err
			}
		}
		return c.ClearCounters(ctx)
	}
	i.read = func(ctx context.Context, p process) ([]byte, error) { return p.(counter).Counters(ctx) }
	st, windows, err := r.runLoadedAgain(ctx, start, spec, addrs, i)
	if err != nil {
		return "", err
	}
	return r.keepCounts(st, meta, windows)
}

// executions requests the execution counters at a program's exit.
func executions() instrument {
	return instrument{
		phase:   recording.PhaseCounts,
		collect: target.Collect{Counters: true},
		parts:   []string{target.PartCountersMeta, target.PartCounters},
	}
}

// countRun counts one run of a program that exits.
func (r *recorder) countRun(ctx context.Context, start startFunc, spec target.RunSpec) (string, error) {
	st, parts, err := r.runAgain(ctx, start, spec, executions())
	if err != nil {
		return "", err
	}
	return r.keepCounts(st, parts[target.PartCountersMeta], [][]byte{parts[target.PartCounters]})
}

// countBench counts a fixed number of each benchmark's operations.
func (r *recorder) countBench(ctx context.Context, start startFunc, spec target.RunSpec, bin *target.Binary) (string, error) {
	st, parts, err := r.runBenchAgain(ctx, start, spec, bin, executions())
	if err != nil {
		return "", err
	}
	return r.keepCounts(st, parts[target.PartCountersMeta], [][]byte{parts[target.PartCounters]})
}

// keepCounts writes the files under Go's own names, so that `go tool covdata` reads the folder.
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

// hotPackages returns the packages to count, by import path, from profiles by the name of their
// part. program is the import path of package main, module that of its module ("" for none).
func hotPackages(profiles map[string][]byte, program, module string) []string {
	shares := map[string]float64{}
	columns := map[string]string{recording.PartCPU: "cpu", recording.PartAllocs: "alloc_space", recording.PartHeap: "inuse_space"}
	for part, column := range columns {
		p, err := profile.Decode(bytes.NewReader(profiles[part]), 0)
		if err != nil {
			continue
		}
		index, err := p.SampleIndex(column)
		if err != nil {
			continue
		}
		for pkg, share := range packageShares(p, index) {
			if part == recording.PartHeap {
				share *= countedShare / countedLive
			}
			shares[pkg] = max(shares[pkg], share)
		}
	}
	var out []string
	best := map[string]float64{}
	for pkg, share := range shares {
		if inside := internalOf(pkg); inside != "" && shares[inside] >= countedShare {
			share = max(share, countedShare) // its queues and caches, which take little CPU themselves
		}
		switch {
		case pkg == "main":
			pkg = program
		case strings.HasSuffix(pkg, "_test"):
			pkg = strings.TrimSuffix(pkg, "_test") // the files of the external test package are not instrumented
		}
		if !countable(pkg) || share < countedShare && !slices.Contains(ownPackages([]string{pkg}, program, module), pkg) {
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

// countable reports whether a package is worth building with counters. Of the standard library
// these are the packages that few others import: counters in package strings would recompile nearly
// all of it, which takes minutes.
func countable(pkg string) bool {
	if pkg == "" || strings.ContainsAny(pkg, " ,\"'\\") {
		return false
	}
	if !symbol.Standard(pkg) {
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

// internalOf returns the package that an internal package belongs to: "" for others.
func internalOf(pkg string) string {
	of, _, found := strings.Cut(pkg, "/internal/")
	if !found {
		return ""
	}
	return of
}

// packageShares is the share of a column that passes through each package.
func packageShares(p *profile.Profile, column int) map[string]float64 {
	sums, seen := map[string]int64{}, map[string]int{}
	var total int64
	for i, v := range p.Values(column) {
		total += v
		for _, l := range p.Stack(i) {
			for _, line := range p.Locations[l].Lines {
				pkg := symbol.Package(p.Functions[line.Func].Name)
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
