package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/symbol"
)

// A function is watched when at least watchedShare of the CPU time or of the allocated bytes passes
// through it. Only the mostWatched most expensive ones are.
const (
	watchedShare = 0.03
	mostWatched  = 40
)

// watcher is a program whose functions report their inputs.
type watcher interface {
	Inputs(context.Context) ([]byte, error)
	ClearInputs(context.Context) error
}

// recordInputs builds the target once more so that its expensive functions report their inputs, and
// runs it under the same load in a process of its own.
func (r *recorder) recordInputs(ctx context.Context, addrs []string) error {
	if !slices.Contains(r.o.Phases, recording.PhaseInputs) {
		return nil
	}
	return r.runPhaseAgain(ctx, recording.PhaseInputs, recording.PartInputs, func() (string, error) { return r.takeInputs(ctx, addrs) })
}

// takeInputs returns the summary for the progress line.
func (r *recorder) takeInputs(ctx context.Context, addrs []string) (string, error) {
	m := r.out.Manifest()
	funcs := hotFunctions(r.profiles, m.Target.ImportPath)
	if len(funcs) == 0 {
		return "nothing to watch: no function with parameters carries 3 % of the cost", nil
	}
	r.say(Event{Phase: r.phase, Text: fmt.Sprintf("building with %s that %s watched", count(len(funcs), "function"), isAre(len(funcs)))})
	bin, start, err := r.buildTarget(ctx, target.BuildSpec{Inputs: funcs})
	if err != nil {
		return "", err
	}
	defer bin.Remove()
	spec := r.specAgain()
	i := instrument{phase: recording.PhaseInputs, collect: target.Collect{Inputs: true}, parts: []string{target.PartInputs}, windows: 1}
	var st stretch
	var parts map[string][]byte
	switch {
	case r.o.Load != nil:
		i.clear = func(ctx context.Context, p process) error {
			w, ok := p.(watcher)
			if !ok {
				return errors.New("the program counts no inputs")
			}
			return w.ClearInputs(ctx)
		}
		i.read = func(ctx context.Context, p process) ([]byte, error) { return p.(watcher).Inputs(ctx) }
		var windows [][]byte
		if st, windows, err = r.runLoadedAgain(ctx, start, spec, addrs, i); err == nil {
			parts = map[string][]byte{target.PartInputs: windows[0]}
		}
	case m.Target.Kind == kindService:
		err = errors.New("a service without -load has no unit of work to count for")
	case r.o.Bench != "":
		st, parts, err = r.runBenchAgain(ctx, start, spec, bin, i)
	default:
		st, parts, err = r.runAgain(ctx, start, spec, i)
	}
	if err != nil {
		return "", err
	}
	return r.keepInputs(st, parts[target.PartInputs], bin.Watched)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// keepInputs writes the part.
func (r *recorder) keepInputs(st stretch, text []byte, funcs []target.Func) (string, error) {
	sources := make([]inputs.Source, len(funcs))
	for i, f := range funcs {
		sources[i] = inputs.Source{Name: f.Name, Package: f.Package, File: f.File, Line: f.Line, Params: f.Params}
	}
	c, err := inputs.Parse(text, sources)
	if err != nil {
		return "", err
	}
	m := r.out.Manifest()
	switch {
	case st.phase.Requests > 0:
		c.Units = float64(st.phase.Requests)
	case r.o.Bench == "":
		c.Units = float64(st.phase.Runs)
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", recording.PartInputs, err)
	}
	if err := r.add(recording.PartInputs, r.phase, append(data, '\n')); err != nil {
		return "", err
	}
	r.keep(st)
	calls := int64(0)
	for _, f := range c.Functions {
		calls += f.Calls
	}
	text2 := fmt.Sprintf("%s of %s", count(int(calls), "call"), count(len(c.Functions), "function"))
	if n := st.phase.Requests; n > 0 {
		text2 += " in " + count(int(n), m.Unit())
	}
	return text2, nil
}

// hotFunctions returns the functions to watch, most expensive first. program is the import path of
// package main.
func hotFunctions(profiles map[string][]byte, program string) []target.Func {
	type place struct {
		file string
		line int
	}
	shares := map[place]float64{}
	known := map[place]target.Func{}
	for part, column := range map[string]string{recording.PartCPU: "cpu", recording.PartAllocs: "alloc_space"} {
		p, err := profile.Decode(bytes.NewReader(profiles[part]), 0)
		if err != nil {
			continue
		}
		index, err := p.SampleIndex(column)
		if err != nil {
			continue
		}
		packages := directories(p, program)
		costs := functionShares(p, index)
		decoders := decoding(p, costs)
		for i, share := range costs {
			f := p.Functions[i]
			share = max(share, decoders[f.Name])
			at := place{f.Filename, int(f.StartLine)}
			if share < watchedShare || share <= shares[at] || !watchable(f) {
				continue
			}
			pkg := packages[filepath.Dir(f.Filename)]
			if pkg == "" {
				continue
			}
			shares[at] = share
			known[at] = target.Func{Name: f.Name, Package: pkg, File: f.Filename, Line: at.line}
		}
	}
	var out []place
	for at := range known {
		out = append(out, at)
	}
	slices.SortFunc(out, func(a, b place) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(known[a].Name, known[b].Name), cmp.Compare(a.line, b.line))
	})
	var funcs []target.Func
	for _, at := range out[:min(len(out), mostWatched)] {
		funcs = append(funcs, known[at])
	}
	return funcs
}

// decoding returns the shares of methods that decode what the constructor of their decoder gets, by
// the name of the constructor: it is watched with them.
func decoding(p *profile.Profile, shares []float64) map[string]float64 {
	out := map[string]float64{}
	for i, f := range p.Functions {
		if pkg, ok := strings.CutSuffix(f.Name, ".(*Decoder).Decode"); ok {
			out[pkg+".NewDecoder"] = shares[i]
		}
	}
	return out
}

// directories returns the packages of a profile's functions, by the directory of their files. A
// function literal that was compiled into the caller of the enclosing function has the caller's
// package in its name ("main.newHandler.Compress (closure 2.1)"), while its file lies elsewhere.
func directories(p *profile.Profile, program string) map[string]string {
	out := map[string]string{}
	for _, f := range p.Functions {
		pkg := symbol.Package(f.Name)
		if pkg == "" || strings.Contains(f.Name, "(closure") || strings.HasSuffix(pkg, "_test") {
			continue
		}
		if pkg == "main" {
			pkg = program
		}
		out[filepath.Dir(f.Filename)] = pkg
	}
	return out
}

// watchable reports whether a function's inputs are worth counting and its package can be
// recompiled without all others: see countable. The code at the entry of a watched function uses
// packages runtime, reflect, sync and hash/maphash.
func watchable(f profile.Function) bool {
	pkg := symbol.Package(f.Name)
	return f.StartLine > 0 && filepath.IsAbs(f.Filename) && strings.HasSuffix(f.Filename, ".go") && !strings.HasSuffix(f.Filename, "_test.go") &&
		f.Name != "main.main" && countable(pkg)
}

// functionShares is the share of a column that passes through each function.
func functionShares(p *profile.Profile, column int) []float64 {
	sums, seen := make([]int64, len(p.Functions)), make([]int, len(p.Functions))
	var total int64
	for i, v := range p.Values(column) {
		total += v
		for _, l := range p.Stack(i) {
			for _, line := range p.Locations[l].Lines {
				if f := line.Func; seen[f] != i+1 {
					seen[f] = i + 1
					sums[f] += v
				}
			}
		}
	}
	shares := make([]float64, len(sums))
	for i, v := range sums {
		if total > 0 {
			shares[i] = float64(v) / float64(total)
		}
	}
	return shares
}
