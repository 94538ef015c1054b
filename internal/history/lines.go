package history

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// Measured is a run that was read from a file of benchmark lines. Fields that the file does not
// give are empty.
type Measured struct {
	Run     Run
	Samples []Sample
}

// ReadLines reads the output of go test -bench or hone bench -lines. As in perf.golang.org's files,
// lines such as "commit:", "commit-time:" (RFC 3339), "branch:", "go:" and "machine:" describe the
// results after them; a different commit starts a new run. name is the file's name, for errors.
func ReadLines(r io.Reader, name string) ([]Measured, error) {
	var out []Measured
	index := map[string]*runOfLines{}
	var order []*runOfLines
	br := benchfmt.NewReader(r, name)
	for br.Scan() {
		res, ok := br.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		commit := res.GetConfig("commit")
		l := index[commit]
		if l == nil {
			l = &runOfLines{series: map[Series]int{}, run: Run{
				Kind: "file", Commit: commit, Branch: res.GetConfig("branch"), Go: res.GetConfig("go"), Machine: machineOfLines(res),
			}}
			if text := res.GetConfig("commit-time"); text != "" {
				at, err := time.Parse(time.RFC3339, text)
				if err != nil {
					return nil, fmt.Errorf("%s: commit-time: %w", name, err)
				}
				l.run.CommitTime = at
			}
			index[commit] = l
			order = append(order, l)
		}
		l.add(res)
	}
	if err := br.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("%s has no benchmark lines (BenchmarkName-8 100 123 ns/op): create them with go test -bench or hone bench -lines", name)
	}
	for _, l := range order {
		out = append(out, Measured{l.run, l.samples})
	}
	return out, nil
}

// runOfLines collects the lines of a run.
type runOfLines struct {
	run     Run
	series  map[Series]int // in samples
	samples []Sample
}

func (l *runOfLines) add(res *benchfmt.Result) {
	name := res.Name.String()
	if !strings.HasPrefix(name, "Benchmark") {
		name = "Benchmark" + name
	}
	if side := res.GetConfig("side"); side == "old" {
		return // the side that the run was compared with
	}
	for _, v := range res.Values {
		unit, value := v.Unit, v.Value
		if v.OrigUnit != "" {
			unit, value = v.OrigUnit, v.OrigValue
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		c := Series{res.GetConfig("pkg"), name, unit}
		i, ok := l.series[c]
		if !ok {
			i = len(l.samples)
			l.series[c] = i
			l.samples = append(l.samples, Sample{Series: c})
		}
		if len(l.samples[i].Values) < mostValues {
			l.samples[i].Values = append(l.samples[i].Values, value)
		}
	}
}

// machineOfLines returns the machine as package testing describes it.
func machineOfLines(res *benchfmt.Result) string {
	if m := res.GetConfig("machine"); m != "" {
		return m
	}
	var parts []string
	for _, key := range []string{"cpu", "goos", "goarch"} {
		if v := res.GetConfig(key); v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, ", ")
}

// MachineName describes the machine of a run that hone itself measured: processor, cores, operating
// system and architecture.
func MachineName(cpu string, cores int) string {
	name := fmt.Sprintf("%d cores, %s, %s", cores, runtime.GOOS, runtime.GOARCH)
	if cpu != "" {
		name = cpu + ", " + name
	}
	return name
}
