package ruletest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
)

// Updating reports whether the test is to record again.
func Updating() bool { return *update }

var update = flag.Bool("update", false, "build and run the programs, and keep what was recorded of them; needs -tags live")

// run is what was recorded of a program: all that a rule gets, except the source. It is kept next
// to the program as NAME.run, a txtar archive whose files are text.
type run struct {
	figures   figures
	buildInfo string
	profiles  map[string]*profile.Profile // by the names below
	facts     string                      // as gocode writes them
	counts    string                      // as count writes them; "" without
	inputs    *inputs.Counts              // nil without
	traced    *traceFacts                 // nil without a trace
}

// extras are what only some rules need of a run.
type extras struct{ trace, counts, inputs bool }

func extrasOf(r rule.Rule) extras {
	needs := func(n rule.Need) bool { return slices.Contains(r.Needs, n) || slices.Contains(r.Uses, n) }
	return extras{trace: needs(rule.NeedTrace), counts: needs(rule.NeedCounts), inputs: needs(rule.NeedInputs)}
}

// The profiles of a run.
const (
	cpuProfile    = "cpu"
	allocsProfile = "allocs" // made in the run
	heapProfile   = "heap"   // of the last run's end
	mutexProfile  = "mutex"
	blockProfile  = "block"
)

func profileNames() []string {
	return []string{cpuProfile, allocsProfile, heapProfile, mutexProfile, blockProfile}
}

// figures are of all runs together.
type figures struct {
	Runs       int      `json:"runs"`
	Seconds    float64  `json:"seconds"`
	CPUSeconds float64  `json:"cpu_seconds"`
	RSSBytes   int64    `json:"rss_bytes"`
	Packages   []string `json:"packages"` // those whose syntax and facts rules see
}

// traceFacts is what the analyses said of a trace.
type traceFacts struct {
	*analysis.Results
	SerialStacks []parallelism.SerialStack `json:"serial_stacks"` // which the results leave out of their JSON
}

// parseRun reads what print wrote.
func parseRun(data []byte) (*run, error) {
	r := &run{profiles: map[string]*profile.Profile{}}
	for _, f := range txtar.Parse(data).Files {
		var err error
		switch {
		case f.Name == "figures.json":
			err = json.Unmarshal(f.Data, &r.figures)
		case f.Name == "build":
			r.buildInfo = string(f.Data)
		case f.Name == "facts":
			r.facts = string(f.Data)
		case f.Name == "counts":
			r.counts = string(f.Data)
		case f.Name == "inputs.json":
			r.inputs, err = inputs.Read(f.Data)
		case f.Name == "trace.json":
			r.traced = &traceFacts{}
			if err = json.Unmarshal(f.Data, r.traced); err == nil && r.traced.Parallelism != nil {
				r.traced.Parallelism.Serial.Stacks = r.traced.SerialStacks
			}
		case slices.Contains(profileNames(), f.Name):
			r.profiles[f.Name], err = parseTree(string(f.Data))
		default:
			err = fmt.Errorf("not a part of a run")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return r, nil
}

// readRun reads what was recorded of the program in an archive; with -update, records it first.
func readRun(t *testing.T, archive string, with extras) *run {
	t.Helper()
	name := strings.TrimSuffix(archive, ".txtar") + ".run"
	if *update {
		if err := os.WriteFile(name, record(t, archive, with), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v: record it with -tags live -update", err)
	}
	r, err := parseRun(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := (extras{r.traced != nil, r.counts != "", r.inputs != nil}); got != with {
		t.Fatalf("%s: recorded with %+v, want %+v: record it with -tags live -update", name, got, with)
	}
	return r
}

// pass joins a run with the program's code, whose syntax is loaded again.
func (r *run) pass(t *testing.T, archive string) *rule.Pass {
	t.Helper()
	ctx := t.Context()
	dir := unpack(t, archive)
	code := openCode(t, dir, modulePath(archive), r.buildInfo)
	pass := &rule.Pass{Code: code, RecordingPath: "rec.hone", Manifest: r.manifest()}
	var err error
	if pass.Table, err = site.Join(ctx, r.input(code)); err != nil {
		t.Fatal(err)
	}
	if pass.Growth, err = site.Growth(ctx, code, r.profiles[allocsProfile]); err != nil {
		t.Fatal(err)
	}
	if r.traced != nil {
		pass.Trace = r.traced.Results
	}
	if pass.Counts, err = parseCounts(r.counts); err != nil {
		t.Fatal(err)
	}
	pass.Inputs = r.inputs
	pass.Syntax = syntaxOf(t, code, dir, r.figures.Packages)
	if pass.Facts, err = code.ReadFacts(strings.NewReader(r.facts)); err != nil {
		t.Fatal(err)
	}
	return pass
}

func (r *run) input(code *gocode.Index) site.Input {
	p := r.profiles
	return site.Input{
		CPU: p[cpuProfile], Heap: p[heapProfile], Mutex: p[mutexProfile], Block: p[blockProfile], Allocs: p[allocsProfile],
		ContentionSeconds: r.figures.Seconds, Code: code,
	}
}

// manifest says what a recording of the runs would say.
func (r *run) manifest() *recording.Manifest {
	m := &recording.Manifest{ID: "test"}
	m.Target.Kind = "program"
	m.Runtime.GOGC = 100
	m.Phases = []recording.Phase{{
		Name:       recording.PhaseCPU,
		Seconds:    r.figures.Seconds,
		CPUSeconds: r.figures.CPUSeconds,
		RSSBytes:   r.figures.RSSBytes,
		Runs:       r.figures.Runs,
	}}
	if r.counts != "" {
		m.Phases = append(m.Phases, recording.Phase{Name: recording.PhaseCounts, Runs: 1})
	}
	return m
}

// unpack writes the program of an archive into a directory of its own, as module modulePath.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unpackInto(dir, archive); err != nil {
		t.Fatal(err)
	}
	return dir
}

func unpackInto(dir, archive string) error {
	a, err := txtar.ParseFile(archive)
	if err != nil {
		return err
	}
	old := ""
	for _, f := range a.Files {
		if f.Name == "go.mod" {
			old = modfile.ModulePath(f.Data)
		}
	}
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(f.Data, []byte(old), []byte(modulePath(archive))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// modulePath is the path that the module in an archive gets, which is unique: of
// rules/RULE/testdata/NAME.txtar example.com/RULE/NAME.
func modulePath(archive string) string {
	path, err := filepath.Abs(archive)
	if err != nil {
		panic(err) // there is no working directory
	}
	id := filepath.Base(filepath.Dir(filepath.Dir(path)))
	return "example.com/" + id + "/" + strings.TrimSuffix(filepath.Base(archive), ".txtar")
}
