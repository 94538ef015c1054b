package render

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./internal/render -update rewrites it):\n%s", path, got)
	}
}

func share(x float64) *float64 { return &x }

// page is a small findings page with one of everything.
func page() FindingsPage {
	return FindingsPage{
		Manifest: recording.Manifest{
			Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local),
			Target:  recording.Target{Arg: "./cmd/server"},
			Runtime: recording.Runtime{Go: "go1.26.8", GOMAXPROCS: 2},
			Machine: recording.Machine{Cores: 2},
			Load:    &recording.Load{Connections: 8},
			Phases: []recording.Phase{
				{Name: recording.PhaseClean, Seconds: 6, Requests: 60000, Service: &recording.Quantiles{P50: 0.0005, P90: 0.001, P99: 0.0021, Max: 0.014}, Verdict: "ok"},
				{Name: recording.PhaseCPU, Seconds: 15, Requests: 149000, Observer: &recording.Observer{ThroughputLoss: 0.011, ThroughputLow: -0.01, ThroughputHigh: 0.03, CPUGrowth: 0.04, CPUGrowthLow: 0.02, CPUGrowthHigh: 0.06}},
			},
			Missing: []recording.Missing{{Part: recording.PartMutex, Why: "the service answers 404", How: "mount net/http/pprof"}},
		},
		Report: &diagnose.Report{
			Resources: diagnose.Resources{
				CPUSeconds: 19.4, CPUSamples: 1940, GCCPUShare: 0.14, MallocCPUShare: 0.09, Cores: 1.3, CPUPerRequest: 0.00013,
				Throughput: 10000, AllocRate: 89e6, BytesPerRequest: 8900, ObjectsPerRequest: 61, Limiting: "cpu",
				RequestTime: []requests.PlaceTime{
					{Share: 0.61, Place: requests.Place{Part: requests.WaitSelect, Object: "a select",
						Waiter: &exectrace.Line{File: "/mod/x@v1.0.0/limit/limit.go", Line: 74}, Caller: &exectrace.Line{File: "/shop/handlers.go", Line: 41}}},
					{Share: 0.38, Place: requests.Place{Part: requests.Running}},
				},
			},
			Findings: []diagnose.Finding{{
				Rank: 1, Rule: "concat-loop", Kind: rule.Alloc, Title: "String built by concatenation in a loop",
				Cause:    "Each turn of the loop copies the whole string so far into a new one, so the work grows with the square of its length.",
				Fix:      "Build it with strings.Builder, or strings.Repeat.",
				Function: "main.leftpad", File: "leftpad.go", Line: 7,
				Sites:      []diagnose.SiteRef{{Place: diagnose.Place{Function: "main.leftpad", File: "leftpad.go", Line: 7}, Share: 0.12, Source: "\t\ts = string(c) + s"}},
				Entry:      &diagnose.Place{Function: "main.handler", File: "handlers.go", Line: 41},
				Cost:       diagnose.Cost{CPUShare: share(0.072), GCShare: share(0.048), AllocBytesShare: share(0.31)},
				Saving:     &diagnose.Saving{Resource: "cpu", Share: 0.11, Low: 0.09, High: 0.13},
				TiedWith:   []int{2},
				Confidence: rule.Measured,
				Also: []diagnose.Finding{{
					Rule: "format-then-append", Title: "String formatted only to be copied into a buffer", Fix: "Append the digits directly to the buffer.",
					Function: "main.leftpad", File: "leftpad.go", Line: 9, Saving: &diagnose.Saving{Resource: "cpu", Share: 0.008, Low: 0.003, High: 0.014},
				}},
				Evidence: []rule.Evidence{{What: "allocated", Value: "31 % of bytes", Command: "hone list -sample_index=alloc_space main.leftpad x.hone"}},
			}, {
				Rank: 2, Rule: "costly-line", Generic: true, Kind: rule.Alloc, Title: "Line that costs much, without a known mistake",
				Cause: "The line runs once per request: 1.2 µs and 1.0 KiB each.", Fix: "Check whether the work is needed.",
				Function: "github.com/x/codec.(*Encoder).grow", File: "encode.go", Line: 120, Module: "github.com/x/codec", Version: "v1.4.0",
				Source: "e.buf = make([]byte, n)",
				Sites: []diagnose.SiteRef{
					{Place: diagnose.Place{Line: 120}, Share: 0.03}, {Place: diagnose.Place{Line: 124}, Share: 0.012},
					{Place: diagnose.Place{Line: 131}, Share: 0.006}, {Place: diagnose.Place{Line: 119}, Share: 0.004},
				},
				Entry:      &diagnose.Place{Function: "main.handler", File: "handlers.go", Line: 44},
				Cost:       diagnose.Cost{WithGC: &diagnose.Range{Share: 0.052, Low: 0.043, High: 0.063}, AllocBytesShare: share(0.12), BytesPerRequest: share(1070), ObjectsPerRequest: share(2.04)},
				Confidence: rule.Hint,
				Evidence: []rule.Evidence{
					{What: evidence.ExecutionsCounted, Value: "runs once per request: 1.2 µs and 1.0 KiB each"},
					{What: evidence.CompilerSaid, Value: "make([]byte, n) escapes to heap: its size is not constant"},
				},
			}, {
				Rank: 3, Rule: "costly-line", Generic: true, Kind: rule.CPU, Title: "Line that costs much, without a known mistake",
				Function: "main.mix", File: "mix.go", Line: 9, Cost: diagnose.Cost{WithGC: &diagnose.Range{Share: 0.03, Low: 0.02, High: 0.04}}, Confidence: rule.Hint,
			}},
			Settings: []diagnose.Finding{{
				Rank: 1, Setting: true, Rule: "tiny-heap", Kind: rule.Config, Title: "A tiny heap is collected many times a second",
				Cause: "The heap may grow to 4 MiB only before it is collected.", Fix: "Try GOGC=1600 with GOMEMLIMIT=256MiB.",
				Cost: diagnose.Cost{GCShare: share(0.14)}, Saving: &diagnose.Saving{Resource: "cpu", Share: 0.1, Low: 0.07, High: 0.13},
				TiedWith: []int{2}, Confidence: rule.Likely,
				Evidence: []rule.Evidence{{What: "CPU in the collector", Value: "14 %", Command: "hone top x.hone"}},
			}, {
				Rank: 2, Setting: true, Rule: "no-pgo", Kind: rule.Config, Title: "Built without a profile",
				Cause: "The binary was built without a profile.", Fix: "Put the recording's CPU profile as default.pgo beside the main package.",
				Saving: &diagnose.Saving{Resource: "cpu", Share: 0.08, Low: 0.02, High: 0.14}, TiedWith: []int{1}, Confidence: rule.Hint,
			}},
			Join: &diagnose.Join{
				CPU: &diagnose.JoinParts{Joined: 0.996, Main: 0.4, Named: 0.596, Unjoined: 0.004}, Bytes: &diagnose.JoinParts{Joined: 1, Main: 1},
				Facts:    &diagnose.JoinFacts{Share: 0.98},
				Unjoined: []diagnose.Unjoined{{What: "libz.so", Why: "it has no symbols", CPU: 0.004}},
			},
			Hidden: diagnose.Hidden{BelowFloor: 3, Floor: 0.01},
			Notes:  []string{"30 CPU-seconds would separate 1 from 2"},
		},
	}
}

func TestFindingsPage(t *testing.T) {
	var b bytes.Buffer
	Findings(&b, page(), Style{})
	golden(t, "findings.golden", b.Bytes())
}

// TestNestedFindingsOnThePage: nested findings are shown with their finding, with the saving in
// both forms.
func TestNestedFindingsOnThePage(t *testing.T) {
	p := page()
	outer := p.Report.Findings[0]
	outer.Rank, outer.Also, outer.TiedWith = 1, nil, nil
	outer.Includes, outer.IncludesPart = []int{3, 4, 5}, []diagnose.Part{{Rank: 7, Share: 0.84}}
	outer.SavingWith = &diagnose.Saving{Resource: "cpu", Share: 0.34, Low: 0.3, High: 0.38}
	inner := outer
	inner.Rank, inner.Includes, inner.IncludesPart, inner.SavingWith, inner.IncludedIn = 3, nil, nil, nil, []int{1, 2}
	p.Report.Findings = []diagnose.Finding{outer, inner}
	var b bytes.Buffer
	Findings(&b, p, Style{})
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"saves 34 % of CPU (95 %: 30–38 %)",
		"with fixing this also removes 3 to 5 and 84 % of 7; without them it saves 11 % of CPU (9–13 %)",
		"with fixing 1 and 2 also removes this",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for want, of := range map[string][]int{"2": {2}, "2 and 3": {2, 3}, "2, 4 to 6 and 9": {2, 4, 5, 6, 9}} {
		if got := ranks(of); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
}

// TestTitleNamesThePackage: the page of a program that was started as "." has its name.
func TestTitleNamesThePackage(t *testing.T) {
	p := page()
	p.Manifest.Target = recording.Target{Arg: ".", ImportPath: "example.com/shop/cmd/server"}
	var out bytes.Buffer
	Findings(&out, p, Style{})
	if first, _, _ := strings.Cut(out.String(), "\n"); !strings.HasPrefix(first, "hone · example.com/shop/cmd/server · ") {
		t.Error(first)
	}
}

func TestFindingsPageInColourSaysTheSame(t *testing.T) {
	var plainText, colour bytes.Buffer
	Findings(&plainText, page(), Style{})
	Findings(&colour, page(), Style{Color: true})
	if !bytes.Contains(colour.Bytes(), []byte("\x1b[")) {
		t.Fatal("no colour in the coloured page")
	}
	if got := stripEscapes(colour.Bytes()); !bytes.Equal(got, plainText.Bytes()) {
		t.Errorf("coloured page without its colours:\n%s\nplain page:\n%s", got, plainText.Bytes())
	}
}

// TestManyOtherLines: a page is short; -v shows all lines.
func TestManyOtherLines(t *testing.T) {
	p := page()
	for range 8 {
		p.Report.Findings = append(p.Report.Findings, p.Report.Findings[2])
	}
	var short, long bytes.Buffer
	Findings(&short, p, Style{})
	p.Verbose = true
	Findings(&long, p, Style{})
	if n := bytes.Count(short.Bytes(), []byte("mix.go:9")); n != mostLines-1 || !bytes.Contains(short.Bytes(), []byte("4 places more with -v or -json.")) {
		t.Errorf("%d lines of\n%s", n, short.Bytes())
	}
	if !bytes.Contains(long.Bytes(), []byte("not joined: 0.4 % of CPU, 0.0 % of bytes: libz.so; it has no symbols")) {
		t.Errorf("what is not joined is not reported:\n%s", long.Bytes())
	}
	if n := bytes.Count(long.Bytes(), []byte("mix.go:9")); n != 9 {
		t.Errorf("with -v %d lines", n)
	}
}

// TestPatchOnThePage: what a newer release changed, cut to a few lines.
func TestPatchOnThePage(t *testing.T) {
	p := page()
	patch := &rule.Patch{Release: "v1.1.0", Lines: []rule.PatchLine{{Op: " ", Line: 7, Text: "for {"}, {Op: "-", Line: 8, Text: "\tslow(x)"}, {Op: "+", Text: "\tfast(x)"}}}
	for i := range 9 {
		patch.Lines = append(patch.Lines, rule.PatchLine{Op: " ", Line: 9 + i, Text: "\tx++"})
	}
	p.Report.Findings[0].Patch = patch
	var short, long bytes.Buffer
	Findings(&short, p, Style{})
	p.Verbose = true
	Findings(&long, p, Style{})
	for _, want := range []string{"in v1.1.0:", "    7 │   for {", "    8 │ -   slow(x)", "      │ +   fast(x)", "… 2 more lines with -v"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("no %q in\n%s", want, short.String())
		}
	}
	for _, hidden := range []bool{false, true} {
		var md, page bytes.Buffer
		r := ReportPage{FindingsPage: p, NoSource: hidden}
		if err := errors.Join(ReportMarkdown(&md, r), ReportHTML(&page, r)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(md.String(), "slow(x)") == hidden || strings.Contains(page.String(), "slow(x)") == hidden {
			t.Errorf("without source: %t\n%s\n%s", hidden, md.String(), page.String())
		}
	}
	if !strings.Contains(long.String(), "   17 │     x++") || strings.Contains(long.String(), "more lines with -v") {
		t.Errorf("with -v:\n%s", long.String())
	}
}

func stripEscapes(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		if b[i] == 0x1b {
			for i < len(b) && b[i] != 'm' {
				i++
			}
			continue
		}
		out = append(out, b[i])
	}
	return out
}

func TestNoFindingsIsAnAnswer(t *testing.T) {
	p := page()
	p.Report.Findings = p.Report.Findings[1:] // costs without a known mistake are not findings in the code
	var b bytes.Buffer
	Findings(&b, p, Style{})
	if !bytes.Contains(b.Bytes(), []byte("No findings in the code.")) {
		t.Errorf("page:\n%s", b.Bytes())
	}
}

// TestTopCutsEachList: -top limits the findings in code and in settings, and the page says which
// number shows all.
func TestTopCutsEachList(t *testing.T) {
	p := page()
	p.Top = 1
	var b bytes.Buffer
	Findings(&b, p, Style{})
	got := b.String()
	if strings.Contains(got, "S2  Built") || !strings.Contains(got, "S1  A tiny heap") || !strings.Contains(got, "1 finding more with -top 2.") {
		t.Errorf("page:\n%s", got)
	}
}

func TestPartsWithOneRemedyAreMissingTogether(t *testing.T) {
	p := page()
	p.Manifest.Missing = []recording.Missing{
		{Part: "block.pprof", Why: "404", How: "mount it"},
		{Part: "trace.out", Why: "404 too", How: "mount it"},
		{Part: "metrics.jsonl", Why: "endpoints have none"},
	}
	got := missing(p)
	want := []string{"missing block.pprof, trace.out: 404; mount it", "missing metrics.jsonl: endpoints have none"}
	if !slices.Equal(got, want) {
		t.Errorf("missing: %q, want %q", got, want)
	}
}

func TestFewRequestsAreCounted(t *testing.T) {
	p := page()
	clean := &p.Manifest.Phases[0]
	clean.Seconds, clean.Requests, p.Report.Resources.Throughput = 3.5, 3, 3/3.5
	var b bytes.Buffer
	Findings(&b, p, Style{})
	if got := b.String(); !strings.Contains(got, "0.86 requests/s (3 requests in 3.50 s)") || strings.Contains(got, "p99") {
		t.Error(got)
	}
	clean.Requests, clean.Service, p.Report.Resources.Throughput = 0, nil, 0
	b.Reset()
	Findings(&b, p, Style{})
	if got := b.String(); !strings.Contains(got, "no request was answered in the 3.50 s of the clean phase") {
		t.Error(got)
	}
}

// TestLoadWithoutSuccessComesFirst: it is reported before any figure, and once.
func TestLoadWithoutSuccessComesFirst(t *testing.T) {
	p := page()
	p.Manifest.Phases[0].Outcome = &load.Outcome{Status: map[int]int64{302: 60000}, RedirectTo: "/login"}
	trouble := p.Manifest.Trouble()
	p.Report.Notes = append(p.Report.Notes, trouble, "load in phase clean: "+trouble)
	var b bytes.Buffer
	Findings(&b, p, Style{})
	_, after, _ := strings.Cut(b.String(), "\n\n")
	if !strings.HasPrefix(after, "All 60,000 answers are 302 to /login: what is measured") || strings.Count(b.String(), "302 to /login") != 1 {
		t.Errorf("page:\n%s", b.Bytes())
	}
}

// TestBenchmarkHasOperations: a benchmark has operations, not requests.
func TestBenchmarkHasOperations(t *testing.T) {
	p := page()
	p.Manifest.Target.Bench, p.Manifest.Target.Kind, p.Manifest.Load = "Join", "bench", nil
	p.Report.Resources.RequestTime = nil
	for i := range p.Report.Findings { // what rules wrote for a service
		p.Report.Findings[i].Cause, p.Report.Findings[i].Evidence = "", nil
	}
	var b bytes.Buffer
	Findings(&b, p, Style{})
	if !strings.Contains(b.String(), "(1.04 KiB in 2 objects per operation)") || strings.Contains(b.String(), "request") {
		t.Errorf("page:\n%s", b.Bytes())
	}
}
