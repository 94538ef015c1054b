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

// Measured is a run as a file of benchmark lines tells it. What the file does not say is empty.
type Measured struct {
	Run     Run
	Samples []Sample
}

// ReadLines reads the output of go test -bench, or of hone bench -lines. Lines "commit:", "commit-time:" (RFC 3339),
// "branch:", "go:" and "machine:" say what follows was measured of, as perf.golang.org's files do; each other commit begins
// another run. name is the file's, for errors.
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
		return nil, fmt.Errorf("%s has no benchmark lines (BenchmarkName-8 100 123 ns/op): make them with go test -bench or hone bench -lines", name)
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
		return // what the run was compared with
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

// machineOfLines is the machine as package testing prints it.
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

// MachineName is the machine of a run that hone made itself: processor, cores, operating system and architecture.
func MachineName(cpu string, cores int) string {
	name := fmt.Sprintf("%d cores, %s, %s", cores, runtime.GOOS, runtime.GOARCH)
	if cpu != "" {
		name = cpu + ", " + name
	}
	return name
}
