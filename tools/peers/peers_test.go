package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/profile"
)

// TestGeneratedProfilesAreWhatTheyClaim generates a small series.
func TestGeneratedProfilesAreWhatTheyClaim(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	if err := worker(append([]string{"generate", "500", "300", "12", "1", "7"}, files...), nil); err != nil {
		t.Fatal(err)
	}
	one, two := decodeFile(t, files[0]), decodeFile(t, files[1])
	if one.NumSamples() != 500 || len(one.Labels(0)) != 1 {
		t.Errorf("%d samples, labels %v", one.NumSamples(), one.Labels(0))
	}
	if one.Total(1) == two.Total(1) {
		t.Errorf("two runs have one total, %d", one.Total(1))
	}
	if countInlined(one) == 0 {
		t.Error("no inlined calls")
	}
	// They are runs of one program: what both contain is the same.
	sum, err := profile.Merge(one, two)
	if err != nil {
		t.Fatal(err)
	}
	if most := len(one.Functions) + len(two.Functions); len(sum.Functions) >= most || sum.Total(1) != one.Total(1)+two.Total(1) {
		t.Errorf("%d functions of %d, total %d", len(sum.Functions), most, sum.Total(1))
	}
}

func decodeFile(t *testing.T, file string) *profile.Profile {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Decode(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func countInlined(p *profile.Profile) (n int) {
	for _, l := range p.Locations {
		n += max(0, len(l.Lines)-1)
	}
	return n
}

func TestServerSaysWhereItIs(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ui/flamegraph" {
			w.Write(make([]byte, 3000))
		}
	}))
	defer page.Close()
	n, err := fetchFlameGraph(t.Context(), strings.NewReader("Reading\nServing web UI on "+page.URL+"\n"))
	if n != 3000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := fetchFlameGraph(t.Context(), strings.NewReader("no such file\n")); err == nil {
		t.Error("no error when it does not serve")
	}
}

func TestTableShowsRatios(t *testing.T) {
	var out bytes.Buffer
	err := printTable(&out, []row{
		{what: "top", names: [2]string{"peer", "hone"}, usages: [2]usage{{cpu: 4, peak: 300}, {cpu: 0.1, peak: 50}}, target: target{ratio: 40, peak: 40}},
		{what: "page", names: [2]string{"peer", "hone"}, usages: [2]usage{{cpu: 4, page: 2000}, {cpu: 0.1, page: 20}}, target: target{cpu: 0.4, page: 300}},
		{what: "huge", skip: "too long"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"40.0×", "6.0×", "≥ 40×, ≤ 40 MiB", "not reached: ≤ 40 MiB\n", "≤ 300 kB, ≤ 0.4 s", "reached\n", "not measured", "huge: too long"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestUnknownJobsAreErrors(t *testing.T) {
	if err := worker([]string{"fly", "x"}, nil); err == nil {
		t.Error("no error")
	}
	if err := worker([]string{"generate", "1", "2"}, nil); err == nil {
		t.Error("no error for missing numbers")
	}
}

// TestGeneratedTracesAreWhatTheyClaim generates a small trace and reads it with both readers.
func TestGeneratedTracesAreWhatTheyClaim(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("go test -trace has the tracer")
	}
	file := filepath.Join(t.TempDir(), "one.trace")
	if err := worker([]string{"trace", "1", file}, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() < 1e6 {
		t.Fatalf("%v, %v; want 1 MB or more", info, err)
	}
	if err := worker([]string{"readtrace", file}, nil); err != nil {
		t.Error(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := analysis.New(requests.Options{})
	read, err := exectrace.Read(t.Context(), f, exectrace.Options{}, set.Folds()...)
	if err != nil {
		t.Fatal(err)
	}
	set.Done(read)
	if s := set.Summary(); s.Requests == nil || s.Requests.Count == 0 || s.Goroutines < 500 {
		t.Errorf("requests %+v, %d goroutines", s.Requests, s.Goroutines)
	}
}

func TestTraceGoals(t *testing.T) {
	goals := traceGoals([]traced{
		{"t50", 50, make([]string, 3), []usage{{cpu: 7.6}, {cpu: 1}, {cpu: 0.25, peak: 60}}},
		{"t220", 220, make([]string, 2), []usage{{cpu: 4}, {cpu: 1.2, peak: 80}}},
	})
	var reached []bool
	for _, g := range goals {
		reached = append(reached, g.reached)
	}
	if want := []bool{true, true, true, false, true, false}; !slices.Equal(reached, want) {
		t.Errorf("%+v, want %v", goals, want)
	}
}
