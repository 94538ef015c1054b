package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/hone-go/hone/internal/compare"
)

// file writes benchmark lines: each element is the output of one process.
func file(t *testing.T, processes ...string) string {
	t.Helper()
	var b strings.Builder
	for _, p := range processes {
		fmt.Fprintf(&b, "goos: linux\ngoarch: amd64\npkg: example.com/a\ncpu: some\n%sPASS\nok  \texample.com/a\t1.2s\n", p)
	}
	name := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// run returns what go test -count=n prints for one benchmark, with times around ns.
func run(name string, n int, r *rand.Rand, ns, bytes float64) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "Benchmark%s-2 \t 1000\t %.9g ns/op\t %v B/op\t 3 allocs/op\n", name, ns*(1+0.02*r.NormFloat64()), bytes)
	}
	return b.String()
}

func rowOf(t *testing.T, r *Result, name, unit string) Row {
	t.Helper()
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			if b.Name == name && row.Unit == unit {
				return row
			}
		}
	}
	t.Fatalf("no row %s %s in %+v", name, unit, r.Benchmarks)
	return Row{}
}

func TestCompareFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	side := func(slower float64) []string {
		var out []string
		for range 8 {
			out = append(out, run("Parse", 1, r, 1000*slower, 64)+run("Print/size=8", 1, r, 500, 32*slower)+run("Same", 1, r, 80, 0))
		}
		return out
	}
	old, new := file(t, append(side(1), run("Gone", 1, r, 1, 1))...), file(t, append(side(1.5), run("New", 1, r, 1, 1))...)
	res, err := CompareFiles(FilesSpec{Old: []string{old}, New: []string{new}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name, unit string
		verdict    compare.Verdict
		exact      bool
		n          int
	}{
		{"BenchmarkParse-2", "ns/op", compare.Worse, false, 8},
		{"BenchmarkParse-2", "B/op", compare.Same, true, 8},
		{"BenchmarkPrint/size=8-2", "B/op", compare.Worse, true, 8},
		{"BenchmarkSame-2", "allocs/op", compare.Same, true, 8},
	} {
		row := rowOf(t, res, want.name, want.unit)
		if row.Verdict != want.verdict || row.Exact != want.exact || row.N != [2]int{want.n, want.n} {
			t.Errorf("%s %s: %+v", want.name, want.unit, row)
		}
	}
	if row := rowOf(t, res, "BenchmarkParse-2", "ns/op"); math.Abs(*row.Ratio-1.5) > 0.05 || *row.Low > 1.5 || *row.High < 1.45 {
		t.Errorf("ratio %v, %v to %v", *row.Ratio, *row.Low, *row.High)
	}
	if v := rowOf(t, res, "BenchmarkSame-2", "ns/op").Verdict; v == compare.Worse || v == compare.Better {
		t.Errorf("what is the same is %s", v)
	}
	if len(res.OnlyOld) != 1 || len(res.OnlyNew) != 1 || res.OnlyOld[0] != "BenchmarkGone-2" {
		t.Errorf("only: %v, %v", res.OnlyOld, res.OnlyNew)
	}
	if len(res.Geomeans) != 3 || res.Geomeans[0].Benchmarks != 3 || math.Abs(res.Geomeans[0].Ratio-math.Cbrt(1.5)) > 0.03 {
		t.Errorf("geometric means %+v", res.Geomeans)
	}
}

// TestOneProcessIsOneSample: ten values of one process per side do not prove a change, except of
// allocations.
func TestOneProcessIsOneSample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	old, new := file(t, run("Parse", 10, r, 1000, 64)), file(t, run("Parse", 10, r, 1300, 65))
	res, err := CompareFiles(FilesSpec{Old: []string{old}, New: []string{new}})
	if err != nil {
		t.Fatal(err)
	}
	if row := rowOf(t, res, "BenchmarkParse-2", "ns/op"); row.Verdict != compare.Unknown || row.N != [2]int{1, 1} {
		t.Errorf("time: %+v", row)
	}
	if row := rowOf(t, res, "BenchmarkParse-2", "B/op"); row.Verdict != compare.Worse || !row.Exact {
		t.Errorf("bytes: %+v", row)
	}
	if len(res.Notes) == 0 || !strings.Contains(res.Notes[0], "one process") {
		t.Errorf("notes %q", res.Notes)
	}
	// Pooled, the values are judged as benchstat judges them.
	res, err = CompareFiles(FilesSpec{Old: []string{old}, New: []string{new}, Pooled: true})
	if err != nil {
		t.Fatal(err)
	}
	if row := rowOf(t, res, "BenchmarkParse-2", "ns/op"); row.Verdict != compare.Worse || row.N != [2]int{10, 10} {
		t.Errorf("pooled: %+v", row)
	}
}

// TestPooledAgainstBenchmath compares the test of pooled values with benchstat's.
func TestPooledAgainstBenchmath(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		n, m := 4+r.IntN(9), 4+r.IntN(9)
		old, new := file(t, run("X", n, r, 1000, 1)), file(t, run("X", m, r, 1000+40*r.Float64(), 1))
		res, err := CompareFiles(FilesSpec{Old: []string{old}, New: []string{new}, Pooled: true})
		if err != nil {
			t.Fatal(err)
		}
		row := rowOf(t, res, "BenchmarkX-2", "ns/op")
		var sides [2]*benchmath.Sample
		for i, name := range []string{old, new} {
			var values []float64
			text, _ := os.ReadFile(name)
			for line := range strings.Lines(string(text)) {
				var ns float64
				if k, _ := fmt.Sscanf(line, "BenchmarkX-2 \t 1000\t %g ns/op", &ns); k == 1 {
					values = append(values, ns)
				}
			}
			sides[i] = benchmath.NewSample(values, &benchmath.DefaultThresholds)
		}
		c := benchmath.AssumeNothing.Compare(sides[0], sides[1])
		if math.Abs(*row.P-c.P) > 1e-9 {
			t.Errorf("seed %d, %d and %d values: p %v, benchstat %v", seed, n, m, *row.P, c.P)
		}
	}
}

func TestColumnOfFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var processes []string
	for range 6 {
		processes = append(processes, run("Hash/impl=a/n=10", 1, r, 100, 16)+run("Hash/impl=b/n=10", 1, r, 50, 16)+run("Hash/impl=c/n=10", 1, r, 50, 16))
	}
	all := file(t, processes...)
	res, err := CompareFiles(FilesSpec{Old: []string{all}, Column: "/impl", Filter: "/impl:(a OR b)"})
	if err != nil {
		t.Fatal(err)
	}
	if row := rowOf(t, res, "BenchmarkHash/n=10-2", "ns/op"); row.Verdict != compare.Better || row.N != [2]int{6, 6} {
		t.Errorf("%+v", row)
	}
	for want, spec := range map[string]FilesSpec{
		"more than two":    {Old: []string{all}, Column: "/impl"},
		"has one value":    {Old: []string{all}, Column: "goos"},
		"-col a b":         {Old: []string{all}, Column: "a b"},
		"-filter":          {Old: []string{all}, New: []string{all}, Filter: "("},
		"-row":             {Old: []string{all}, New: []string{all}, Row: "(("},
		"no benchmark in":  {Old: []string{file(t, run("A", 1, r, 1, 1))}, New: []string{file(t, run("B", 1, r, 1, 1))}},
		"no benchmark lin": {Old: []string{file(t, "")}, New: []string{all}},
		"no such file":     {Old: []string{"none"}, New: []string{all}},
	} {
		if _, err := CompareFiles(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestUnitsOfFiles: the metadata of units in a file counts.
func TestUnitsOfFiles(t *testing.T) {
	text := "Unit hits better=higher assume=exact\nBenchmarkX-2 1 %d hits\n"
	old, new := file(t, fmt.Sprintf(text, 5)), file(t, fmt.Sprintf(text, 7))
	res, err := CompareFiles(FilesSpec{Old: []string{old}, New: []string{new}})
	if err != nil {
		t.Fatal(err)
	}
	if row := rowOf(t, res, "BenchmarkX-2", "hits"); !row.Exact || row.Verdict != compare.Better {
		t.Errorf("%+v", row)
	}
}

func FuzzCompareFiles(f *testing.F) {
	f.Add([]byte("pkg: a\nBenchmarkX-2 10 5 ns/op 3 B/op\n"), ".fullname")
	f.Add([]byte("process: line\nUnit ns/op better=lower\nBenchmarkX/a=1 10 NaN ns/op\n"), "/a")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, row string) {
		name := filepath.Join(dir, "f.txt")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := CompareFiles(FilesSpec{Old: []string{name}, New: []string{name}, Row: row}); err == nil {
			for _, b := range r.Benchmarks {
				for _, x := range b.Rows {
					if x.Verdict == compare.Worse || x.Verdict == compare.Better {
						t.Errorf("a file differs from itself: %+v", x)
					}
				}
			}
		}
	})
}

// TestAgainstFile: new measurements are compared with a file; without interleaving only large
// changes get a verdict.
func TestAgainstFile(t *testing.T) {
	var text strings.Builder
	text.WriteString("process: line\npkg: p\n")
	for i := range 12 {
		fmt.Fprintf(&text, "BenchmarkX-2 100 %d ns/op 3 allocs/op\nBenchmarkGone-2 1 1 ns/op\n", 100+i)
	}
	name := filepath.Join(t.TempDir(), "old.txt")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		factor float64
		want   compare.Verdict
	}{{1, compare.Unknown}, {1.2, compare.Unknown}, {1.6, compare.Worse}, {0.5, compare.Better}} {
		b := Benchmark{Package: "p", Name: "BenchmarkX-2"}
		for i := range 12 {
			b.New = append(b.New, Sample{Values: map[string]float64{"ns/op": tt.factor * float64(100+(i+5)%12), "allocs/op": 4}})
		}
		r, err := AgainstFile(name, &Result{Go: "go1.26", CPUs: 2, Benchmarks: []Benchmark{b}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Benchmarks) != 1 || len(r.OnlyOld) != 1 || r.Go != "go1.26" {
			t.Fatalf("%+v", r)
		}
		rows := r.Benchmarks[0].Rows
		if rows[0].Verdict != tt.want || rows[1].Verdict != compare.Worse || !rows[1].Exact {
			t.Errorf("times %g: %+v", tt.factor, rows)
		}
	}
	if _, err := AgainstFile(filepath.Join(t.TempDir(), "none"), &Result{}); err == nil {
		t.Error("a file that is missing")
	}
}
