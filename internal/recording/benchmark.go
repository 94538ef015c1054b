package recording

import "slices"

// Benchmark holds what the runs of a phase measured of one benchmark.
type Benchmark struct {
	Name    string        `json:"name"` // as testing prints it, without "Benchmark": "Sum/small-2"
	Samples []BenchSample `json:"samples"`
	// PeakRSSBytes is the largest size of a process that ran PeakOperations operations of this
	// benchmark and nothing else. Absent if that was not requested.
	PeakRSSBytes   int64 `json:"peak_rss_bytes,omitempty"`
	PeakOperations int64 `json:"peak_operations,omitempty"`
}

// BenchSample is one result line of a benchmark. Absent figures were not printed.
type BenchSample struct {
	// Run is the number of the process that printed it, from 1. Lines of one process share its
	// memory layout and its moment: they are not independent samples.
	Run          int      `json:"run"`
	Iterations   int64    `json:"iterations"`
	SecondsPerOp float64  `json:"seconds_per_op"` // wall time
	BytesPerOp   *float64 `json:"bytes_per_op,omitempty"`
	AllocsPerOp  *float64 `json:"allocs_per_op,omitempty"`
	// Metrics are the remaining figures by unit, of b.SetBytes and b.ReportMetric.
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// AddSample adds a line to the samples of the benchmark of that name, at the end when it is new.
func AddSample(list []Benchmark, name string, s BenchSample) []Benchmark {
	at := slices.IndexFunc(list, func(b Benchmark) bool { return b.Name == name })
	if at < 0 {
		return append(list, Benchmark{Name: name, Samples: []BenchSample{s}})
	}
	list[at].Samples = append(list[at].Samples, s)
	return list
}

// PerRun returns the figure that read finds in the samples, one value per process: the mean of its
// lines. Lines without the figure are left out.
func (b *Benchmark) PerRun(read func(BenchSample) (float64, bool)) []float64 {
	var means, counts []float64
	last := 0
	for _, s := range b.Samples {
		x, ok := read(s)
		if !ok {
			continue
		}
		if len(means) == 0 || s.Run != last {
			means, counts, last = append(means, 0), append(counts, 0), s.Run
		}
		n := len(means) - 1
		counts[n]++
		means[n] += (x - means[n]) / counts[n]
	}
	return means
}

// Seconds reads the wall time of an operation.
func (s BenchSample) Seconds() (float64, bool) { return s.SecondsPerOp, s.SecondsPerOp > 0 }

// Bytes reads the bytes that an operation allocated.
func (s BenchSample) Bytes() (float64, bool) { return known(s.BytesPerOp) }

// Allocs reads the objects that an operation allocated.
func (s BenchSample) Allocs() (float64, bool) { return known(s.AllocsPerOp) }

func known(x *float64) (float64, bool) {
	if x == nil {
		return 0, false
	}
	return *x, true
}

// BenchCPU returns the CPU seconds per operation, one value per run, where the phase is of one
// benchmark. CPU time is counted per process, so that of several benchmarks in one process cannot
// be divided. It includes the search for the number of iterations, in proportion.
func (p *Phase) BenchCPU() []float64 {
	if len(p.Benchmarks) != 1 {
		return nil
	}
	b := &p.Benchmarks[0]
	var out []float64
	for i, w := range p.Windows {
		own := Benchmark{}
		for _, s := range b.Samples {
			if s.Run == i+1 {
				own.Samples = append(own.Samples, s)
			}
		}
		if op := own.PerRun(BenchSample.Seconds); len(op) == 1 && w.Seconds > 0 && w.CPUSeconds > 0 {
			out = append(out, w.CPUSeconds/w.Seconds*op[0])
		}
	}
	return out
}
