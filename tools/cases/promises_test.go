package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/stats"
)

// The table's repairs are those of the module: each has its pair of files, each pair is a repair,
// and the pair contains the function that the finding must name.
func TestFixablesFitTheModule(t *testing.T) {
	root := filepath.Join(examples, "promises")
	files, err := filepath.Glob(filepath.Join(root, "*", "*_before.go"))
	if err != nil {
		t.Fatal(err)
	}
	var pairs, fixes []string
	for _, f := range files {
		rel, _ := filepath.Rel(root, f)
		pairs = append(pairs, filepath.ToSlash(strings.TrimSuffix(rel, "_before.go")))
	}
	for _, f := range fixables() {
		if f.program.isService() {
			if list, err := f.program.load(filepath.Join(examples, f.program.dir), "127.0.0.1:1"); err != nil || len(list) == 0 {
				t.Errorf("%s: targets %v, %v", f.name, list, err)
			}
		}
		for _, x := range f.fixes {
			fixes = append(fixes, f.name+"/"+x.name)
			text, err := os.ReadFile(filepath.Join(root, f.name, x.name+"_before.go"))
			function := x.culprit.function[strings.LastIndexAny(x.culprit.function, ".)")+1:]
			if err != nil || !strings.Contains(string(text), " "+function+"(") {
				t.Errorf("%s has no function %s in the pair %s, %v", f.name, function, x.name, err)
			}
		}
	}
	slices.Sort(fixes)
	slices.Sort(pairs)
	if !slices.Equal(fixes, pairs) || len(fixes) != 20 || len(fixables()) != 10 {
		t.Errorf("%d programs with repairs\n%v\nthe module has\n%v", len(fixables()), fixes, pairs)
	}
}

func TestVariants(t *testing.T) {
	one := fixable{"x", program{dir: "x"}, []fix{{name: "a"}}}
	two := fixable{"x", program{dir: "x"}, []fix{{name: "a"}, {name: "b"}}}
	for _, tc := range []struct {
		f    fixable
		want string
	}{{one, "; -tags=fix_a"}, {two, "; -tags=fix_a; -tags=fix_b; -tags=fix_a,fix_b"}} {
		var got []string
		for _, p := range tc.f.variants() {
			got = append(got, strings.Join(p.buildFlags(), " "))
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("built by %q, want %q", got, tc.want)
		}
	}
}

func span(low, value, high float64) stats.Interval {
	return stats.Interval{Value: value, Low: low, High: high}
}

func TestOutcome(t *testing.T) {
	found := verdict{finding: &diagnose.Finding{}}
	some := func(low, high float64) *stats.Interval { return &stats.Interval{Value: low, Low: low, High: high} }
	for _, tc := range []struct {
		verdict  verdict
		promised *stats.Interval
		fact     stats.Interval
		want     string
	}{
		{found, some(0.2, 0.3), span(0.25, 0.26, 0.27), kept},
		{found, some(0.2, 0.3), span(0.3, 0.32, 0.35), kept},
		{found, some(0.2, 0.3), span(0.31, 0.32, 0.35), tooLow},
		{found, some(0.2, 0.3), span(0.1, 0.15, 0.2), kept},
		{found, some(0.2, 0.3), span(0.1, 0.15, 0.19), tooHigh},
		{found, some(0.2, 0.3), span(-0.1, 0, 0.19), tooHigh}, // however wide its interval
		{found, some(0.2, 0.3), span(0.2, 0.25, 0.31), factUnknown},
		{found, some(0.2, 0.3), stats.Unknown(), factUnknown},
		{found, nil, span(0.25, 0.26, 0.27), unpromised},
		{verdict{}, some(0.2, 0.3), span(0.25, 0.26, 0.27), notFound},
	} {
		p := pledge{verdict: tc.verdict, promised: tc.promised, fact: tc.fact}
		if got := p.outcome(); got != tc.want {
			t.Errorf("promised %v, measured %v: %q, want %q", tc.promised, tc.fact, got, tc.want)
		}
	}
}

// phasesOf returns the phases of processes that spent that much CPU on ten requests, in ten seconds
// each.
func phasesOf(cpu ...float64) (list []recording.Phase) {
	for _, x := range cpu {
		list = append(list, recording.Phase{CPUSeconds: x, Requests: 10, Seconds: 10 * x, Service: &recording.Quantiles{P50: x / 2}})
	}
	return list
}

// A program with two CPU problems, one listed under the other, and a program with a lock.
func TestPledgesOf(t *testing.T) {
	small := finding(0, rule.Alloc, "concat", "main.f", "", 0.04)
	host := finding(1, rule.Alloc, "sprintf", "main.f", "", 0.3)
	host.Also = []diagnose.Finding{small}
	report := &diagnose.Report{Findings: []diagnose.Finding{host}}
	f := fixable{"x", program{}, []fix{cpuFix("print", "main.f", "sprintf"), cpuFix("plus", "main.f", "concat")}}
	phases := [][]recording.Phase{phasesOf(10, 10), phasesOf(7, 7), phasesOf(9.5, 9.5), phasesOf(6, 6)}

	singles, together, err := pledgesOf(f, report, phases)
	if err != nil || len(singles) != 2 || together == nil {
		t.Fatalf("%v, %v, %v", singles, together, err)
	}
	for i, want := range []struct{ promised, fact string }{{"30 % (15 to 60)", "30 %"}, {"4 % (2 to 8)", "5 %"}} {
		if p := singles[i]; percent(*p.promised) != want.promised || percent(p.fact) != want.fact || p.median != nil {
			t.Errorf("%s: promised %s, measured %s, median %v", p.repair, percent(*p.promised), percent(p.fact), p.median)
		}
	}
	if sum := together.promised.Value; sum < 0.3399 || sum > 0.3401 || percent(together.fact) != "40 %" {
		t.Errorf("together promised %v, measured %v", together.promised, together.fact)
	}

	f.fixes[1].culprit.rules = []string{"another"}
	if _, together, err = pledgesOf(f, report, phases); err != nil || together.outcome() != notFound {
		t.Errorf("of a repair that was not found: %v, %v", together, err)
	}
	if _, _, err := pledgesOf(f, report, phases[:3]); err == nil {
		t.Error("a variant that was not measured passed")
	}

	lock := fixable{"y", program{}, []fix{lockFix("section", "main.f")}}
	report.Findings = []diagnose.Finding{finding(1, rule.Lock, "hot-mutex", "main.f", "", 0.3)}
	singles, together, err = pledgesOf(lock, report, phases[:2])
	if err != nil || together != nil || singles[0].outcome() != unpromised {
		t.Errorf("CPU promised of a lock: %v, %v, %v", singles, together, err)
	}
	report.Findings[0].Saving.Resource = "latency"
	singles, _, err = pledgesOf(lock, report, phases[:2])
	if err != nil || singles[0].outcome() != kept || percent(singles[0].fact) != "30 %" || *singles[0].median < 0.299 || *singles[0].median > 0.301 {
		t.Errorf("latency promised of a lock: %v, %v", singles, err)
	}
}

// TestPledgeSection renders a small table as a whole.
func TestPledgeSection(t *testing.T) {
	f := finding(2, rule.Alloc, "sprintf", "main.f", "", 0.3)
	small := finding(0, rule.Alloc, "concat", "main.f", "", 0.04)
	promised, low := span(0.25, 0.3, 0.33), span(0.01, 0.02, 0.03)
	median := 0.8
	table := pledgeTable{
		condition: conditionOf(true),
		machine: recording.Manifest{
			Runtime: recording.Runtime{Go: "go1.26"}, Machine: recording.Machine{CPU: "a CPU", Cores: 2},
		},
		duration: 12 * time.Second, processes: [2]int{6, 40}, others: 1.96,
		singles: []pledge{
			{program: "x", repair: "print", verdict: verdict{rank: 2, finding: &f}, promised: &promised, metric: "cpu", fact: span(0.28, 0.29, 0.3)},
			{program: "x", repair: "plus", verdict: verdict{finding: &f, also: &small}, promised: &low, metric: "cpu", fact: span(0.04, 0.05, 0.06)},
			{program: "y", repair: "section", verdict: verdict{culprit: lockFix("", "").culprit, near: "costly-line"}, metric: "wall", fact: span(0.7, 0.75, 0.8), median: &median},
		},
		together: []pledge{{program: "x", repair: "all", verdict: verdict{finding: &f}, promised: &promised, metric: "cpu", fact: span(0.1, 0.12, 0.14)}},
		failed:   []string{"z: it did not start"},
	}
	const heading = "| program | repair | found as | of | promised | measured | kept |\n|---|---|---|---|---|---|---|\n"
	want := "## Beside two busy loops\n\n" +
		"go1.26, 2 cores (a CPU), 12s per recording, 6 to 40 processes of each build measured. Other processes kept 2.0 cores busy on average.\n\n" +
		"**Kept: 1 of 3 (33 %), 1 promised too little, 1 not found. Half of the promises are at most 5 points wide, half of the measurements 2.**\n\n" + heading +
		"| x | print | 2. `sprintf` | cpu | 30 % (25 to 33) | 29 % (28 to 30) | yes |\n" +
		"| x | plus | `concat`, listed with `sprintf` | cpu | 2 % (1 to 3) | 5 % (4 to 6) | no, promised too little |\n" +
		"| y | section | expected `lock-convoy` or `hot-mutex`; the function has costly-line | mean latency | – | 75 % (70 to 80); median 80 % | not found |\n\n" +
		"All repairs of a program together. Kept: 0 of 1 (0 %), 1 promised too much. Half of the promises are at most 8 points wide, half of the measurements 4.\n\n" + heading +
		"| x | all | – | cpu | 30 % (25 to 33) | 12 % (10 to 14) | no, promised too much |\n" +
		"\nNot measured: z: it did not start\n\n"
	var got strings.Builder
	table.section(&got)
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", &got, want)
	}
}

// A part of the page replaces the previous version of that part, and leaves the other parts
// unchanged.
func TestWithSection(t *testing.T) {
	quiet, busy := conditionOf(false), conditionOf(true)
	second := "## Beside two busy loops\n\nslow\n"
	page := withSection("", busy, second)
	if page != pledgeIntro+second {
		t.Errorf("a first part made\n%s", page)
	}
	page = withSection(page, quiet, "## On a quiet machine\n\nfast\n\n")
	if want := pledgeIntro + "## On a quiet machine\n\nfast\n\n" + second; page != want {
		t.Errorf("both parts made\n%s", page)
	}
	page = withSection(page, quiet, "## On a quiet machine\n\nfaster\n")
	if want := pledgeIntro + "## On a quiet machine\n\nfaster\n\n" + second; page != want {
		t.Errorf("the first again made\n%s", page)
	}
}

func TestChooseFixables(t *testing.T) {
	chosen, err := chooseFixables(fixables(), []string{"quotes", "codec"})
	if err != nil || len(chosen) != 2 || chosen[0].name != "quotes" || chosen[1].name != "codec" {
		t.Errorf("%v, %v", chosen, err)
	}
	if all, err := chooseFixables(fixables(), nil); err != nil || len(all) != 10 {
		t.Errorf("%d programs, %v", len(all), err)
	}
	if _, err := chooseFixables(fixables(), []string{"quote"}); err == nil {
		t.Error("a program that is not there was chosen")
	}
}

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "20s 10",
		"-promises":                    "12s 6",
		"-promises -busy -w":           "12s 6",
		"-promises -duration 20s":      "20s 6",
		"-promises -again -keep x":     "12s 6",
		"-promises -again":             "-again needs",
		"-busy":                        "need -promises",
		"-again -keep x":               "need -promises",
		"-promises -only codec -w":     "leave out -only",
		"-duration 3s":                 "at least 4s",
		"-promises -processes 3 codec": "no arguments",
	} {
		f, err := parse(strings.Fields(args))
		got := f.duration.String() + " " + string(rune('0'+f.processes%10))
		if f.processes == 10 {
			got = f.duration.String() + " 10"
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
}

// A program and a benchmark, each with a repair by a build tag, are built separately and run until
// they exit; one that fails is not a measurement.
func TestMeasureVariants(t *testing.T) {
	live.Only(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":        "module example.com/work\n\ngo 1.25\n",
		"main.go":       "package main\n\nimport \"os\"\n\nfunc work(n int) (sum int) {\n\tfor i := range n {\n\t\tsum = sum*31 + i\n\t}\n\treturn sum\n}\n\nfunc main() {\n\tif work(size) == 1 || size == 0 {\n\t\tos.Exit(3)\n\t}\n}\n",
		"a_before.go":   "//go:build !fix_a && !fix_b\n\npackage main\n\nconst size = 150_000_000\n",
		"a_after.go":    "//go:build fix_a\n\npackage main\n\nconst size = 1000\n",
		"b_after.go":    "//go:build fix_b\n\npackage main\n\nconst size = 0\n",
		"work_test.go":  "package main\n\nimport \"testing\"\n\nfunc BenchmarkWork(b *testing.B) {\n\tfor b.Loop() {\n\t\twork(size / 100)\n\t}\n}\n",
		"other_test.go": "package main\n\nimport \"testing\"\n\nfunc BenchmarkOther(b *testing.B) { b.Fatal(\"chosen by nobody\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{session: session.Config{CacheDir: t.TempDir()}, examples: filepath.Dir(dir), processes: 2}
	base := program{name: "work", dir: filepath.Base(dir)}
	benchmark := base
	benchmark.bench, benchmark.iterations = "Work", 100
	for _, p := range []program{base, benchmark} {
		phases, err := r.measureVariants(t.Context(), fixable{program: p, fixes: []fix{{name: "a", metric: "cpu"}}})
		if err != nil {
			t.Fatal(err)
		}
		share, _, err := saved("cpu", phases[0], phases[1])
		if err != nil || share.Value < 0.5 || len(phases[1]) != 2 || phases[1][0].Runs != 2 {
			t.Errorf("%q: saved %v, %v, by %+v", p.bench, share, err, phases)
		}
		if p.bench != "" {
			continue // a benchmark that matches nothing succeeds
		}
		if _, err := r.measureVariants(t.Context(), fixable{program: p, fixes: []fix{{name: "b", metric: "cpu"}}}); err == nil || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("a program that fails was measured: %v", err)
		}
	}
}

// spinEnv makes a process of this test binary a busy loop.
const spinEnv = "HONE_CASES_SPIN"

func TestMain(m *testing.M) {
	if os.Getenv(spinEnv) != "" {
		spin(os.Stdin, time.Minute)
		return
	}
	os.Exit(m.Run())
}

// Busy loops run until they are stopped, or their input ends.
func TestStartLoops(t *testing.T) {
	var commands []*exec.Cmd
	stop, err := startLoops(2, func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(cmd.Environ(), spinEnv+"=1")
		commands = append(commands, cmd)
		return cmd
	})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	for _, cmd := range commands {
		if cmd.ProcessState == nil {
			t.Errorf("process %d was not waited for", cmd.Process.Pid)
		}
	}
	if len(commands) != 2 {
		t.Errorf("%d loops", len(commands))
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(cmd.Environ(), spinEnv+"=1")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(input, "go on")
	input.Close() // as the system does when the parent is killed
	if err := cmd.Wait(); err != nil {
		t.Errorf("the loop ended by %v, not with its input", err)
	}

	if _, err := startLoops(1, func() *exec.Cmd { return exec.Command(filepath.Join(t.TempDir(), "none")) }); err == nil {
		t.Error("a loop that cannot start did")
	}
}
