package main

import (
	onlylive "github.com/hone-go/hone/internal/live"

	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
	"github.com/hone-go/hone/stats"
)

const examples = "../../examples"

// inRules reports whether the source of one of the rules contains a text.
func inRules(t *testing.T, rules []string, text string) bool {
	t.Helper()
	for _, id := range rules {
		files, err := filepath.Glob(filepath.Join("..", "..", "internal", "diagnose", "rules", id, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("rule %s: no files, %v", id, err)
		}
		for _, file := range files {
			if source, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			} else if strings.Contains(string(source), text) {
				return true
			}
		}
	}
	return false
}

// What is expected can be found: the programs exist, the culprits' lines are in their files, the
// loads can be read, the repairs name programs, expected words are those of the rules.
func TestExpectationsFitTheExamples(t *testing.T) {
	letters := ""
	for _, s := range studies() {
		letters += s.id
		for _, p := range s.programs {
			dir := filepath.Join(examples, p.dir)
			if _, err := os.Stat(filepath.Join(dir, "main.go")); err != nil {
				t.Error(err)
			}
			if p.isService() {
				targets, err := p.load(dir, "127.0.0.1:1")
				if err != nil || len(targets) == 0 || !strings.HasPrefix(targets[0].URL, "http://127.0.0.1:1/") {
					t.Errorf("%s: targets %v, %v", p.dir, targets, err)
				}
			}
			for _, c := range p.culprits {
				if len(c.rules) == 0 || c.what == "" {
					t.Errorf("%s: %+v says too little", p.dir, c)
				}
				if _, err := path.Match(c.function, ""); err != nil {
					t.Errorf("%s: %s: %v", p.dir, c.function, err)
				}
				if c.says != "" && c.version == "" && !inRules(t, c.rules, c.says) {
					t.Errorf("%s: no %q in the rules %q", p.dir, c.says, c.rules)
				}
				if c.file == "" || c.version != "" {
					continue // no line, or in the module cache
				}
				text, err := os.ReadFile(filepath.Join(dir, c.file))
				if err != nil || !strings.Contains(string(text), c.source) {
					t.Errorf("%s: no %q in %s, %v", p.dir, c.source, c.file, err)
				}
			}
		}
		for _, r := range s.repairs {
			if s.index(r.before) < 0 || s.index(r.after) < 0 {
				t.Errorf("case %s has no %s and %s", s.id, r.before, r.after)
			}
		}
	}
	if letters != "ABCDE" {
		t.Errorf("cases %s", letters)
	}
}

// Before and after give the same answers, because they pass the same tests. For the service that
// uses chi, the code is the same, too.
func TestPairsHaveTheSameTests(t *testing.T) {
	for dir, files := range map[string][]string{
		"partitioner": {"answers_test.go", "batch.txt", "targets.txt", "go.mod", "ingest.go", "log.go", "murmur.go"},
		"compress":    {"answers_test.go", "evaluate.json", "targets.txt", "flags.go", "handlers.go"},
		"logparser":   {"answers_test.go", "batch.txt", "targets.txt", "go.mod", "go.sum", "rules.go", "tail.go", "service.go"},
	} {
		for _, file := range files {
			before, err := os.ReadFile(filepath.Join(examples, dir, "before", file))
			if err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(filepath.Join(examples, dir, "after", file))
			if err != nil {
				t.Fatal(err)
			}
			if string(before) != string(after) {
				t.Errorf("%s: %s differs", dir, file)
			}
		}
	}
}

// The load that the first lines of a main.go name can be sent.
func TestLoadsInCommentsAreThere(t *testing.T) {
	var names []string
	for _, side := range []string{"before", "after"} {
		list, err := filepath.Glob(filepath.Join(examples, "*", side, "targets.txt"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, list...)
	}
	if len(names) != 6 {
		t.Fatalf("targets %v", names)
	}
	for _, name := range names {
		targets, err := load.ParseTargets(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		main, err := os.ReadFile(filepath.Join(filepath.Dir(name), "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(filepath.Join(examples, ".."), name)
		if !strings.Contains(string(main), "-load "+filepath.ToSlash(rel)) {
			t.Errorf("%s/main.go does not name its load", filepath.Dir(name))
		}
		addr := strings.Split(targets[0].URL, "/")[2]
		if !strings.Contains(string(main), `"`+addr+`"`) {
			t.Errorf("%s sends to %s, which is not the default address", name, addr)
		}
	}
}

func finding(rank int, kind rule.Kind, id, function, source string, share float64) diagnose.Finding {
	return diagnose.Finding{
		Rank: rank, Rule: id, Kind: kind, Function: function, File: "send.go", Module: "example.com/x", Fix: "Look for a newer version.",
		Sites:  []diagnose.SiteRef{{Place: diagnose.Place{Line: 7}, Source: "other()"}, {Place: diagnose.Place{Line: 8}, Source: source}},
		Saving: &diagnose.Saving{Resource: "cpu", Share: share, Low: share / 2, High: share * 2},
	}
}

func TestJudge(t *testing.T) {
	report := &diagnose.Report{Findings: []diagnose.Finding{
		finding(1, rule.Alloc, "sprintf", "main.serve.logged.func2", "fmt.Sprintf(a)", 0.1),
		finding(2, rule.Alloc, "replacer", "main.(*S).Send", "strings.NewReplacer(a)", 0.05),
	}, Settings: []diagnose.Finding{finding(1, rule.Config, "gc", "", "", 0.2)}}
	right := culprit{
		rules: []string{"x", "replacer"}, function: "main.(*S).Send", file: "send.go", source: "NewReplacer",
		module: "example.com/x", says: "newer version",
	}
	for _, tc := range []struct {
		name   string
		change func(*culprit)
		rank   int
		near   string
	}{
		{"right", func(*culprit) {}, 2, ""}, // advice on settings is not counted
		{"pattern", func(c *culprit) { c.rules, c.function, c.source = []string{"sprintf"}, "main.*logged.func*", "" }, 1, ""},
		{"setting", func(c *culprit) { *c = culprit{rules: []string{"gc"}, setting: true} }, 1, ""},
		{"setting as code", func(c *culprit) { *c = culprit{rules: []string{"gc"}} }, 0, ""},
		{"other rule", func(c *culprit) { c.rules = []string{"sprintf"} }, 0, "replacer"},
		{"other function", func(c *culprit) { c.function = "main.Send" }, 0, ""},
		{"other file", func(c *culprit) { c.file = "recv.go" }, 0, "replacer with another file"},
		{"other line", func(c *culprit) { c.source = "Sprintf" }, 0, "replacer with another line"},
		{"other module", func(c *culprit) { c.module = "example.com/y" }, 0, "replacer with another module"},
		{"other version", func(c *culprit) { c.version = "v1.0.0" }, 0, "replacer with another version"},
		{"other fix", func(c *culprit) { c.says = "sync.Pool" }, 0, "replacer with another fix"},
	} {
		c := right
		tc.change(&c)
		v := judge(program{culprits: []culprit{c}}, report)[0]
		if v.rank != tc.rank || v.near != tc.near || (v.finding != nil) != (tc.rank > 0) {
			t.Errorf("%s: rank %d near %q, want %d near %q", tc.name, v.rank, v.near, tc.rank, tc.near)
		}
	}
}

// In a repaired program every finding of a rule of the study is a false alarm; in the broken one
// only those that are not culprits are.
func TestAccused(t *testing.T) {
	before := program{name: "before", culprits: []culprit{{rules: []string{"replacer"}, function: "main.f"}, {rules: []string{"gc"}, setting: true}}}
	after := program{name: "after"}
	s := study{programs: []program{before, after}}
	report := &diagnose.Report{Findings: []diagnose.Finding{
		finding(1, rule.Alloc, "replacer", "main.f", "", 0.1),
		finding(2, rule.Alloc, "replacer", "main.g", "", 0.1),
		finding(3, rule.Alloc, "another", "main.f", "", 0.1),
	}, Settings: []diagnose.Finding{finding(1, rule.Config, "gc", "", "", 0.2)}}
	if got, want := accused(s, before, report), []string{"replacer in main.g"}; !slices.Equal(got, want) {
		t.Errorf("before: %q, want %q", got, want)
	}
	if got, want := accused(s, after, report), []string{"replacer in main.f", "replacer in main.g"}; !slices.Equal(got, want) {
		t.Errorf("after: %q, want %q", got, want)
	}
}

func TestCovered(t *testing.T) {
	i := func(low, value, high float64) stats.Interval {
		return stats.Interval{Value: value, Low: low, High: high}
	}
	for _, tc := range []struct {
		promised, measured, lines stats.Interval
		want                      string
	}{
		{i(0.2, 0.22, 0.25), i(0.24, 0.3, 0.33), i(0, 0, 0), "yes"},
		{i(0.2, 0.3, 0.4), i(0.24, 0.3, 0.33), i(0, 0, 0), "yes, but promised too widely"},
		{i(0.2, 0.22, 0.25), i(0.24, 0.3, 0.4), i(0, 0, 0), "cannot tell: measured too widely"},
		{i(0.2, 0.22, 0.25), i(0.3, 0.3, 0.4), i(0.1, 0.15, 0.2), "the lines, not the program"},
		{i(0.2, 0.22, 0.25), i(0.3, 0.3, 0.4), i(0.1, 0.15, 0.19), "no"},
		{i(0.2, 0.22, 0.25), i(0.1, 0.1, 0.1), i(0, 0, 0), "no"},
		{i(0, 0, 0), i(0.1, 0.1, 0.1), i(0, 0, 0), "nothing promised"},
	} {
		if got := (balance{promised: tc.promised, measured: tc.measured, lines: tc.lines}).coveredCell(); got != tc.want {
			t.Errorf("promised %v, measured %v, lines %v: %q, want %q", tc.promised, tc.measured, tc.lines, got, tc.want)
		}
	}
}

func TestSaved(t *testing.T) {
	phases := func(cpu ...float64) (list []recording.Phase) {
		for _, x := range cpu {
			list = append(list, recording.Phase{CPUSeconds: x, Requests: 10, Seconds: 4})
		}
		return list
	}
	for _, tc := range []struct {
		metric   string
		old, new []recording.Phase
		want     string
	}{
		{"cpu", phases(10), phases(6), "40 %"},
		{"cpu", phases(10, 10), phases(6, 6), "40 %"},
		{"cpu", phases(9, 10, 11), phases(5, 6, 7), "40 % (29 to 50)"},
		{"cpu", phases(1, 19), phases(6, 6), "-38 % (no bounds)"},
		{"wall", []recording.Phase{{Seconds: 8, Runs: 4}}, []recording.Phase{{Seconds: 5, Runs: 1}}, "-150 %"},
		{"cpu", phases(10), phases(0), "error"},
		{"cpu", phases(10), nil, "error"},
		{"cpu", phases(8, 16, 24), phases(4, 8, 12), "50 %"}, // what the machine does to both of a pair cancels
	} {
		share, _, err := saved(tc.metric, tc.old, tc.new)
		got := percent(share)
		if err != nil {
			got = "error"
		}
		if got != tc.want {
			t.Errorf("%s of %d and %d recordings: %s, want %s", tc.metric, len(tc.old), len(tc.new), got, tc.want)
		}
	}
}

// Two culprits in one finding are promised once; what was not found promises nothing.
func TestPromise(t *testing.T) {
	f := finding(1, rule.Alloc, "sprintf", "main.f", "", 0.1)
	g := finding(2, rule.Config, "gc", "", "", 0.02)
	sum, code := promise("cpu", []verdict{{finding: &f}, {finding: &f}, {}, {finding: &g, culprit: culprit{setting: true}}})
	if got := percent(sum); got != "12 % (7 to 22)" || len(code.Findings) != 1 {
		t.Errorf("%s of %d findings", got, len(code.Findings))
	}
}

func TestChoose(t *testing.T) {
	for letters, want := range map[string]string{"": "ABCDE", "C": "C", "DB": "BD", "AX": "error"} {
		got := ""
		chosen, err := choose(studies(), letters)
		for _, s := range chosen {
			got += s.id
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q chooses %s, want %s", letters, got, want)
		}
	}
}

func TestFoundCells(t *testing.T) {
	f := finding(3, rule.Alloc, "replacer", "main.f", "NewReplacer", 0.1)
	f.Version = "v1.2.3"
	c := culprit{rules: []string{"replacer"}, source: "NewReplacer"}
	got := foundCells([]verdict{{culprit: c, rank: 2, finding: &f}, {culprit: c}})
	if want := "1 of 2 | 2, – | `replacer` in `main.f`, send.go:8, example.com/x@v1.2.3"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got = foundCells([]verdict{{culprit: c, near: "costly-line"}})
	if want := "0 of 1 | – | expected replacer; the function has costly-line"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A small run of a study, rendered as a whole.
func TestWrite(t *testing.T) {
	f := finding(1, rule.Alloc, "replacer", "main.f", "NewReplacer", 0.1)
	c := culprit{what: "a replacer", rules: []string{"replacer"}, source: "NewReplacer"}
	s := study{
		id: "X", programs: []program{{name: "before", culprits: []culprit{c}}, {name: "after"}},
		repairs: []repair{{"before", "after", "cpu"}},
	}
	result := &session.Result{Manifest: recording.Manifest{
		Runtime: recording.Runtime{Go: "go1.26"}, Machine: recording.Machine{CPU: "a CPU", Cores: 2},
		Phases: []recording.Phase{{Name: recording.PhaseClean, Seconds: 10, CPUSeconds: 9, GeneratorCPUSeconds: 1, MachineCPUSeconds: 15}},
	}}
	o := &outcome{
		study: s, results: []*session.Result{result, result},
		verdicts: [][]verdict{{{culprit: c, rank: 1, finding: &f}}, nil},
		accused:  [][]string{nil, {"replacer in main.g"}},
		balances: []balance{{metric: "cpu", promised: stats.Interval{Value: 0.1, Low: 0.08, High: 0.12}, measured: stats.Interval{Value: 0.11, Low: 0.1, High: 0.12}}},
	}
	var page strings.Builder
	write(&page, [][]*outcome{{o}}, 20*time.Second)
	for _, line := range []string{
		"go1.26, 2 cores (a CPU), 20s a program, 1 run. Other processes kept 0.5 cores busy on average:",
		"| X | before | a replacer | 1 of 1 | 1 | `replacer` in `main.f`, send.go:8 |",
		"| X | before | 1 of 1 |  |",
		"| X | after | 0 of 1 | replacer in main.g |",
		"| X | before → after | cpu | 10 % (8 to 12) | 11 % (10 to 12) | – | yes |",
	} {
		if !strings.Contains(page.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, &page)
		}
	}
}

func TestReplaceRows(t *testing.T) {
	old := "# Page\n\n## One\n\n| case |\n|---|\n| A | old |\n| B | old 1 |\n| B | old 2 |\n| C | old |\n\n## Two\n\n| B | old |\n| C | old |\n"
	fresh := "# Page\n\n## One\n\n| case |\n|---|\n| B | new |\n\n## Two\n\n| B | new 1 |\n| B | new 2 |\n"
	want := "# Page\n\nMeasured again later, alone: case B.\n\n## One\n\n| case |\n|---|\n| A | old |\n| B | new |\n| C | old |\n\n## Two\n\n| B | new 1 |\n| B | new 2 |\n| C | old |\n"
	for _, page := range []string{old, want} { // the second time, it is there already
		if got := replaceRows(page, fresh, []study{{id: "B"}}); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// Two real services: the one that works more costs more per request, whichever comes first; one
// that answers with errors is not measured.
func TestInterleavedServices(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/busy\n\ngo 1.25\n", "main.go": `package main

import (
	"flag"
	"log"
	"net/http"
)

func main() {
	addr := flag.String("addr", "", "")
	iterations := flag.Int("iterations", 0, "of a loop; 0 to fail")
	flag.Parse()
	log.Fatal(http.ListenAndServe(*addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *iterations == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		n := 1
		for i := range *iterations {
			n = n*31 + i
		}
		if n == 0 {
			log.Print("never")
		}
	})))
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{session: session.Config{CacheDir: t.TempDir()}, examples: filepath.Dir(dir), turn: 100 * time.Millisecond}
	p := program{dir: filepath.Base(dir), get: "/", connections: 2}
	b, err := r.build(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Remove()
	start := func(iterations string) *service {
		p := p
		p.args = []string{"-iterations", iterations}
		s, err := r.start(t.Context(), p, b)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.process.Stop(context.Background()) })
		return s
	}
	little, much, failing := start("1"), start("1000000"), start("0")
	for _, services := range [][]*service{{little, much}, {much, little}} {
		phases, err := loadInterleaved(t.Context(), services, 3)
		if err != nil {
			t.Fatal(err)
		}
		first, second := spent("cpu", phases[0]), spent("cpu", phases[1])
		if first <= 0 || second <= 0 || (first < second) != (services[0] == little) {
			t.Errorf("%g and %g s of CPU a request", first, second)
		}
	}
	if _, err := loadInterleaved(t.Context(), []*service{little, failing}, 1); err == nil || !strings.Contains(err.Error(), "requests failed") {
		t.Errorf("a failing service: %v", err)
	}
	if err := little.process.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := loadInterleaved(t.Context(), []*service{little, much}, 1); err == nil {
		t.Error("a service that is gone was measured")
	}
}

// TestLoggedVariantBuilds: -requests measures the left-pad service with another listener.
func TestLoggedVariantBuilds(t *testing.T) {
	onlylive.Only(t)
	dir := filepath.Join(t.TempDir(), "logged")
	if err := logRequests(filepath.Join(examples, "leftpad", "before"), dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := logRequests(filepath.Join(examples, "wordcount"), filepath.Join(t.TempDir(), "other")); err == nil {
		t.Error("a program without a listener was taken")
	}
}

func TestAgree(t *testing.T) {
	logged := &histogram.Summary{Count: 2000, P50: 1e-3, P99: 1e-2}
	for _, tc := range []struct {
		found histogram.Summary
		want  string
	}{
		{*logged, "agree"},
		{histogram.Summary{Count: 2002, P50: 1.04e-3, P99: 0.96e-2}, "agree"},
		{histogram.Summary{Count: 2003, P50: 1e-3, P99: 1e-2}, "apart"},
		{histogram.Summary{Count: 2000, P50: 1.06e-3, P99: 1e-2}, "apart"},
		{histogram.Summary{Count: 2000, P50: 1e-3, P99: 0.94e-2}, "apart"},
	} {
		if got := agree(logged, &tc.found); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.found, got, tc.want)
		}
	}
}
