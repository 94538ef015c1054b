package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/stats"
)

// FilesSpec says which files of benchmark lines to compare: output of go test -bench or of `hone
// bench -lines`.
type FilesSpec struct {
	Old, New []string
	// Column, instead of New, is a key (of the files' configuration or of the name: "side",
	// "/impl") whose two values are the sides.
	Column string
	// Filter selects results, and Row says which results belong to one benchmark; both are in
	// benchstat's language. Row "" is ".fullname" without the key in Column.
	Filter, Row string
	// Table names keys; results with different values get tables of their own. Ignore names keys
	// that do not distinguish benchmarks. "" stands for none.
	Table, Ignore string
	// Pooled counts every value of a process as a sample, as benchstat does.
	Pooled bool
}

// Files says where the lines of a comparison come from.
type Files struct {
	Old    []string `json:"old"`
	New    []string `json:"new,omitempty"`
	Column string   `json:"column,omitempty"`
}

// Geomean is the geometric mean of a metric's ratios, over the benchmarks that both sides have.
type Geomean struct {
	Table      string  `json:"table,omitempty"`
	Unit       string  `json:"unit"`
	Ratio      float64 `json:"ratio"`
	Benchmarks int     `json:"benchmarks"`
}

// processKey, with the value "line", marks a file in which each line comes from a process of its
// own.
const (
	processKey  = "process"
	processLine = "line"
)

// CompareFiles compares benchmark lines. The lines that one process printed count as one sample,
// their median, because they share its heap, its addresses and the machine's state at that moment.
// Two files of one process each show by how much the medians differ, but give a verdict only on
// exact metrics.
func CompareFiles(s FilesSpec) (*Result, error) {
	l, err := newLines(s)
	if err != nil {
		return nil, err
	}
	for i, side := range [][]string{s.Old, s.New} {
		for _, name := range side {
			if err := l.read(name, i); err != nil {
				return nil, err
			}
		}
	}
	return l.result()
}

// apart is the smallest change that is reported between sides that ran at different times. Without
// interleaving, the time of an unchanged program differs by more than that in at most one
// comparison of ten; its CPU time varies far less.
const apart = 0.25

// AgainstFile compares a measurement with a file of benchmark lines. Changes of metrics that are
// not exact are reported only if they are large.
func AgainstFile(name string, measured *Result) (*Result, error) {
	l, err := newLines(FilesSpec{Old: []string{name}, New: []string{"this run"}})
	if err != nil {
		return nil, err
	}
	if err := l.read(name, oldSide); err != nil {
		return nil, err
	}
	for _, b := range measured.Benchmarks {
		for _, s := range b.New {
			l.processes++
			for unit, v := range s.Values {
				l.put(fileKey{"", b.Package, strings.TrimPrefix(b.Name, "Benchmark")}, unit, v, newSide, l.processes)
			}
		}
	}
	r, err := l.result()
	if err != nil {
		return nil, err
	}
	for i := range r.Benchmarks {
		for j := range r.Benchmarks[i].Rows {
			row := &r.Benchmarks[i].Rows[j]
			called := row.Verdict == compare.Better || row.Verdict == compare.Worse
			if called && !row.Exact && *row.Low < 1+apart && *row.High > 1-apart {
				row.Verdict, row.Why = compare.Unknown, "the sides did not run interleaved"
			}
		}
	}
	r.Go, r.CPUs, r.Layouts, r.Seconds = measured.Go, measured.CPUs, measured.Layouts, measured.Seconds
	r.Notes = append([]string{"a file is a weaker baseline than a git ref: the sides did not run interleaved, and possibly not on the same machine"}, r.Notes[:len(r.Notes)-1]...)
	return r, nil
}

// lines collects the results of files.
type lines struct {
	spec     FilesSpec
	filter   *benchproc.Filter
	row, col *benchproc.Projection
	table    *benchproc.Projection // nil for one table

	columns    []string // values of the column, in order of appearance
	benchmarks []*fileBenchmark
	known      map[fileKey]*fileBenchmark
	better     map[string]int // by unit, if a file says so: 1 if more is better, -1 if less is
	exact      map[string]bool
	processes  int // headers of test binaries so far
}

type fileKey struct{ table, pkg, row string }

// fileBenchmark is a benchmark's values, by unit, side and process.
type fileBenchmark struct {
	fileKey
	values map[string]*[2]map[int][]float64
	units  []string
}

func newLines(s FilesSpec) (*lines, error) {
	l := &lines{spec: s, known: map[fileKey]*fileBenchmark{}, better: map[string]int{}, exact: map[string]bool{}}
	var err error
	if l.filter, err = benchproc.NewFilter(cmp.Or(s.Filter, "*")); err != nil {
		return nil, fmt.Errorf("-filter %s: %w", s.Filter, err)
	}
	var p benchproc.ProjectionParser
	if s.Column != "" {
		if l.col, err = p.Parse(s.Column, l.filter); err != nil {
			return nil, fmt.Errorf("-col %s: %w", s.Column, err)
		}
	}
	if s.Table != "" {
		if l.table, err = p.Parse(s.Table, l.filter); err != nil {
			return nil, fmt.Errorf("-table %s: %w", s.Table, err)
		}
	}
	if s.Ignore != "" { // keys of other projections are not in .fullname
		if _, err = p.Parse(s.Ignore, l.filter); err != nil {
			return nil, fmt.Errorf("-ignore %s: %w", s.Ignore, err)
		}
	}
	if l.row, err = p.Parse(cmp.Or(s.Row, ".fullname"), l.filter); err != nil {
		return nil, fmt.Errorf("-row %s: %w", s.Row, err)
	}
	return l, nil
}

// mostBytes limits the size of a file.
const mostBytes = 1 << 30

func (l *lines) read(name string, side int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > mostBytes {
		return fmt.Errorf("%s has more than %d bytes: it is not a file of benchmarks", name, mostBytes)
	}
	heads := headers(text)
	found := 0
	r := benchfmt.NewReader(bytes.NewReader(text), name)
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue // not a result: it only looks like one, or describes a unit
		}
		if ok, _ := l.filter.Apply(res); !ok {
			continue
		}
		found++
		_, line := res.Pos()
		process := l.processes + max(0, 1+lastBefore(heads, line))
		if res.GetConfig(processKey) == processLine || l.spec.Pooled {
			process = -1 - l.processes - line // each line is a process of its own
		}
		if err := l.add(res, side, process); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for key, m := range r.Units() {
		switch unit := m.OrigUnit; {
		case key.Key == "better":
			l.better[unit] = map[string]int{"higher": 1, "lower": -1}[m.Value]
		case key.Key == "assume" && m.Value == "exact":
			l.exact[unit] = true
		}
	}
	if found == 0 && l.spec.Filter == "" {
		return fmt.Errorf("%s has no benchmark lines (BenchmarkName-8 100 123 ns/op): create them with go test -bench or hone bench -lines", name)
	}
	// Processes of the next file must have other numbers, whether they are numbered by header or by
	// line (from 1).
	l.processes += bytes.Count(text, []byte("\n")) + 2
	return nil
}

// headers returns the lines at which the output of a test binary starts (those that name its
// package).
func headers(text []byte) []int {
	var heads []int
	n := 0
	for line := range bytes.Lines(text) {
		if n++; bytes.HasPrefix(line, []byte("pkg: ")) {
			heads = append(heads, n)
		}
	}
	return heads
}

// lastBefore returns the index of the last header before a line, or -1.
func lastBefore(heads []int, line int) int {
	n, _ := slices.BinarySearch(heads, line)
	return n - 1
}

func (l *lines) add(res *benchfmt.Result, side, process int) error {
	if l.col != nil {
		value := l.col.Project(res).StringValues()
		if side = slices.Index(l.columns, value); side < 0 {
			side = len(l.columns)
			l.columns = append(l.columns, value)
		}
		if side > newSide {
			return fmt.Errorf("-col %s has more than two values: %s; choose two with -filter", l.spec.Column, strings.Join(l.columns, ", "))
		}
	}
	key := fileKey{"", res.GetConfig("pkg"), l.row.Project(res).StringValues()}
	if l.table != nil {
		key.table = l.spec.Table + ": " + l.table.Project(res).StringValues()
	}
	for _, v := range res.Values {
		unit, value := v.Unit, v.Value
		if v.OrigUnit != "" {
			unit, value = v.OrigUnit, v.OrigValue
		}
		l.put(key, unit, value, side, process)
	}
	return nil
}

// put adds a value of a benchmark.
func (l *lines) put(key fileKey, unit string, value float64, side, process int) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	b := l.known[key]
	if b == nil {
		b = &fileBenchmark{fileKey: key, values: map[string]*[2]map[int][]float64{}}
		l.known[key] = b
		l.benchmarks = append(l.benchmarks, b)
	}
	sides := b.values[unit]
	if sides == nil {
		sides = &[2]map[int][]float64{{}, {}}
		b.values[unit] = sides
		b.units = append(b.units, unit)
	}
	sides[side][process] = append(sides[side][process], value)
}

// result judges all rows.
func (l *lines) result() (*Result, error) {
	r := &Result{Schema: Schema, Files: &Files{l.spec.Old, l.spec.New, l.spec.Column}, Benchmarks: []Benchmark{}}
	if l.col != nil {
		if len(l.columns) != 2 {
			return nil, fmt.Errorf("-col %s has one value, %s: choose a key that has two values", l.spec.Column, strings.Join(l.columns, ", "))
		}
		r.Files.Old, r.Files.New = []string{l.columns[oldSide]}, []string{l.columns[newSide]}
	}
	alone := 0
	slices.SortStableFunc(l.benchmarks, func(a, b *fileBenchmark) int { return strings.Compare(a.table, b.table) })
	for _, b := range l.benchmarks {
		out := Benchmark{Table: b.table, Package: b.pkg, Name: "Benchmark" + strings.TrimPrefix(b.row, "Benchmark"), Old: b.samples(oldSide), New: b.samples(newSide)}
		for _, unit := range orderedUnits(b.units) {
			row, ok := l.newRow(unit, b.values[unit])
			if !ok {
				continue
			}
			out.Rows = append(out.Rows, row)
			if !row.Exact && min(row.N[0], row.N[1]) == 1 {
				alone++
			}
		}
		switch old, new := b.on(oldSide), b.on(newSide); {
		case !new:
			r.OnlyOld = append(r.OnlyOld, out.Name)
		case !old:
			r.OnlyNew = append(r.OnlyNew, out.Name)
		case len(out.Rows) > 0:
			r.Benchmarks = append(r.Benchmarks, out)
		}
	}
	if len(r.Benchmarks) == 0 {
		return nil, errors.New("the two sides have no benchmark in common: their names, -cpu suffixes included, must be the same")
	}
	r.decideAll()
	r.geomeans()
	if alone > 0 {
		r.Notes = append(r.Notes, "the values that one process printed count as one sample, their median: they share its heap and its addresses, and differ far less "+
			"from each other than from those of another process. Append several runs of go test -bench to one file, old and new alternating, or use hone bench -against; -pooled treats them as independent")
	}
	r.Notes = append(r.Notes, "the sides did not run interleaved, so they also differ by what else the machine was doing; hone bench -against interleaves them")
	return r, nil
}

// samples returns one sample per process of a side, in order: the medians of its values.
func (b *fileBenchmark) samples(side int) []Sample {
	samples := []Sample{}
	at := map[int]int{} // by process
	for _, unit := range b.units {
		for process := range b.values[unit][side] {
			at[process] = 0
		}
	}
	for i, process := range slices.Sorted(maps.Keys(at)) {
		at[process] = i
		samples = append(samples, Sample{Values: map[string]float64{}})
	}
	for _, unit := range b.units {
		for process, values := range b.values[unit][side] {
			samples[at[process]].Values[unit] = stats.Median(values)
		}
	}
	return samples
}

func (b *fileBenchmark) on(side int) bool {
	for _, v := range b.values {
		if len(v[side]) > 0 {
			return true
		}
	}
	return false
}

// newRow returns the row that compares the medians of processes. Metrics whose values are all the
// same are compared exactly.
func (l *lines) newRow(unit string, sides *[2]map[int][]float64) (Row, bool) {
	var medians, raw [2][]float64
	for i, side := range sides {
		for _, vs := range side {
			medians[i] = append(medians[i], stats.Median(vs))
			raw[i] = append(raw[i], vs...)
		}
		if len(raw[i]) == 0 {
			return Row{}, false
		}
	}
	isSame := func(x []float64) bool { return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] }) }
	if (counted(unit) || l.exact[unit]) && isSame(raw[oldSide]) && isSame(raw[newSide]) {
		old, new := raw[oldSide][0], raw[newSide][0]
		row := Row{Unit: unit, Old: &old, New: new, N: [2]int{len(medians[0]), len(medians[1])}, Exact: true, Verdict: compare.Same, better: l.better[unit]}
		if old > 0 {
			ratio := new / old
			row.Ratio = &ratio
		}
		if old != new {
			row.Verdict = row.direction(new > old)
		}
		return row, true
	}
	row, ok := newRow(unit, medians[oldSide], medians[newSide])
	row.better = l.better[unit]
	return row, ok
}

// geomeans adds geometric means of each table.
func (r *Result) geomeans() {
	var tables []string
	for _, b := range r.Benchmarks {
		if !slices.Contains(tables, b.Table) {
			tables = append(tables, b.Table)
			r.geomeansOf(b.Table)
		}
	}
}

// geomeansOf adds the geometric means of metrics that two or more benchmarks of a table have on
// both sides.
func (r *Result) geomeansOf(table string) {
	logs := map[string][]float64{}
	var units []string
	for _, b := range r.Benchmarks {
		if b.Table != table {
			continue
		}
		for _, row := range b.Rows {
			if row.Ratio == nil || *row.Ratio <= 0 {
				continue
			}
			if logs[row.Unit] == nil {
				units = append(units, row.Unit)
			}
			logs[row.Unit] = append(logs[row.Unit], math.Log(*row.Ratio))
		}
	}
	for _, unit := range orderedUnits(units) {
		if n := len(logs[unit]); n > 1 {
			sum := 0.0
			for _, x := range logs[unit] {
				sum += x
			}
			r.Geomeans = append(r.Geomeans, Geomean{table, unit, math.Exp(sum / float64(n)), n})
		}
	}
}
