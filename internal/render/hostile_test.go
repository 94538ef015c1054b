package render

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/annotations"
	"github.com/hone-go/hone/exectrace/gc"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/exectrace/window"
	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/demo"
	"github.com/hone-go/hone/internal/doctor"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/experiment/fix"
	"github.com/hone-go/hone/internal/experiment/prove"
	"github.com/hone-go/hone/internal/experiment/tunedeps"
	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/experiment/tunego"
	"github.com/hone-go/hone/internal/experiment/tunepgo"
	"github.com/hone-go/hone/internal/experiment/upstream"
	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/internal/screen/screentest"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/load"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/runtimework"
)

// hostileTracks are series in which every name is hostile.
func hostileTracks() HistoryTracks {
	p := *filled[HistoryTracks]()
	for i := range p.Tracks {
		p.Tracks[i].Points = append(p.Tracks[i].Points, p.Tracks[i].Points...)
		for j := range p.Tracks[i].Steps {
			p.Tracks[i].Steps[j].At = 1
		}
	}
	return p
}

// hostileView is a view of a profile in which every name is hostile.
func hostileView(t *testing.T) *report.View {
	t.Helper()
	text := screentest.Text
	b := profile.NewBuilder(profile.ValueType{Type: text, Unit: "count"}, profile.ValueType{Type: "x" + text, Unit: "ns" + text})
	b.Binary("/bin/"+text, text)
	frame := func(n string) profile.FrameSpec {
		return profile.FrameSpec{Function: n + text, File: "/src/" + text, Line: 3}
	}
	inlined := frame("c")
	inlined.Inlined = true
	b.AddLabeled([]profile.FrameSpec{inlined, frame("a"), frame("m")}, []profile.Label{{Key: text, Str: text}, {Key: "n" + text, Num: 7, Unit: text}}, 5, 50)
	b.Add([]profile.FrameSpec{frame("d"), frame(""), frame("m")}, 5, 50)
	b.Add([]profile.FrameSpec{{Address: 0x1234, Binary: "/lib/" + text}}, 5, 50)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.Comments, p.DocURL = []string{text, text}, text
	p.PeriodType = profile.ValueType{Type: text, Unit: text}
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// filled returns a T full of hostile text.
func filled[T any]() *T {
	v := new(T)
	screentest.Fill(v, screentest.Text)
	return v
}

// hostilePages draw every page of this package from hostile data.
func hostilePages(t *testing.T) map[string]func(io.Writer, Style) {
	v := hostileView(t)
	top, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	graph, err := v.Graph(report.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	work, err := runtimework.Of(v.Profile, v.Index, func(profile.Function) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	screentest.Fill(work, screentest.Text)
	samples := SamplesPage{Source: screentest.Text, View: v}
	listing, assembly := filled[inspect.Listing](), filled[inspect.Disassembly]()
	listing.View, assembly.View = v, v
	explained := filled[inspect.Why]()
	for _, l := range []*inspect.Listing{listing, explained.Source} {
		for i := range l.Functions {
			for k := range l.Functions[i].Source {
				l.Functions[i].Source[k] = strings.ReplaceAll(screentest.Text, "\n", "") // it is split at line ends
			}
		}
	}
	for i := range explained.Costs {
		explained.Costs[i].Unit = site.UnitCPU
	}
	tracePage := *filled[TracePage]()
	return map[string]func(io.Writer, Style){
		"Bench":         func(w io.Writer, s Style) { Bench(w, filled[bench.Result](), s) },
		"BenchLines":    func(w io.Writer, _ Style) { BenchLines(w, filled[bench.Result]()) },
		"BenchMarkdown": func(w io.Writer, _ Style) { BenchMarkdown(w, filled[bench.Result]()) },
		"Noise":         func(w io.Writer, s Style) { Noise(w, filled[bench.Noise](), s) },
		"History":       func(w io.Writer, s Style) { History(w, *filled[HistoryList](), s) },
		"Tracks":        func(w io.Writer, s Style) { Tracks(w, hostileTracks(), s) },
		"TracksPlot":    func(w io.Writer, s Style) { TracksPlot(w, hostileTracks(), s) },
		"TracksSVG":     func(w io.Writer, _ Style) { TracksSVG(w, hostileTracks()) },
		"Bisection":     func(w io.Writer, s Style) { Bisection(w, filled[bench.Bisection](), s) },
		"Upstream":      func(w io.Writer, s Style) { Upstream(w, filled[upstream.Result](), s) },
		"TuneDeps":      func(w io.Writer, s Style) { TuneDeps(w, filled[tunedeps.Result](), s) },
		"TuneGC":        func(w io.Writer, s Style) { TuneGC(w, filled[tunegc.Result](), s) },
		"TuneGo":        func(w io.Writer, s Style) { TuneGo(w, filled[tunego.Result](), s) },
		"TunePGO":       func(w io.Writer, s Style) { TunePGO(w, filled[tunepgo.Result](), s) },
		"Fix":           func(w io.Writer, s Style) { Fix(w, filled[fix.Result](), s) },
		"Prove":         func(w io.Writer, s Style) { Prove(w, filled[prove.Result](), s) },
		"Try":           func(w io.Writer, s Style) { Try(w, filled[experiment.Result](), s) },
		"Comparison":    func(w io.Writer, s Style) { Comparison(w, filled[compare.Comparison](), s) },
		"Proof":         func(w io.Writer, s Style) { Proof(w, *filled[compare.Proof](), filled[compare.Comparison](), s) },
		"Demo":          func(w io.Writer, s Style) { Demo(w, filled[demo.Result](), 10, s) },
		"Diff":          func(w io.Writer, s Style) { Diff(w, *filled[DiffPage](), s) },
		"Disasm":        func(w io.Writer, s Style) { Disasm(w, assembly, s) },
		"Doctor":        func(w io.Writer, s Style) { Doctor(w, *filled[[]doctor.Check](), s) },
		"Findings": func(w io.Writer, s Style) {
			page := filled[FindingsPage]()
			Findings(w, *page, s)
			page.Verbose = false
			Findings(w, *page, s)
		},
		"List":   func(w io.Writer, s Style) { List(w, listing, s) },
		"Load":   func(w io.Writer, s Style) { Load(w, filled[load.Result](), s) },
		"Raw":    func(w io.Writer, _ Style) { Raw(w, v.Profile) },
		"Traces": func(w io.Writer, s Style) { Traces(w, samples, s) },
		"Recordings": func(w io.Writer, s Style) {
			Recordings(w, *filled[RecordingsList](), false, s)
			Recordings(w, *filled[RecordingsList](), true, s)
		},
		"Tags": func(w io.Writer, s Style) { Tags(w, samples, v.Tags()) },
		"Top":  func(w io.Writer, s Style) { Top(w, TopTable{Source: screentest.Text, View: v, Top: top}, s) },
		"Tree": func(w io.Writer, s Style) { Tree(w, GraphPage{Source: screentest.Text, View: v, Graph: graph}, s) },
		"Why":  func(w io.Writer, s Style) { Why(w, explained, s) },
		"Work": func(w io.Writer, s Style) { Work(w, WorkPage{Source: screentest.Text, Work: work}, s) },

		"TraceOverview":   func(w io.Writer, s Style) { TraceOverview(w, filled[window.Overview](), tracePage, s) },
		"TraceSummary":    func(w io.Writer, s Style) { TraceSummary(w, filled[analysis.Summary](), tracePage, s) },
		"TraceGoroutines": func(w io.Writer, s Style) { TraceGoroutines(w, filled[wall.Goroutines](), tracePage, s) },
		"TraceSyscalls":   func(w io.Writer, s Style) { TraceSyscalls(w, filled[wall.Syscalls](), tracePage, s) },
		"TraceSched": func(w io.Writer, s Style) {
			TraceSched(w, filled[wall.Sched](), filled[parallelism.Result](), tracePage, s)
		},
		"TraceParallelism": func(w io.Writer, s Style) { TraceParallelism(w, filled[parallelism.Result](), tracePage, s) },
		"TraceGC":          func(w io.Writer, s Style) { TraceGC(w, filled[gc.Result](), tracePage, s) },
		"TraceTypes":       func(w io.Writer, s Style) { TraceTypes(w, "tasks", *filled[[]annotations.Type](), tracePage, s) },
		"TraceLogs":        func(w io.Writer, s Style) { TraceLogs(w, filled[annotations.Result](), tracePage, s) },
		"TraceBlocking":    func(w io.Writer, s Style) { TraceBlocking(w, filled[wall.Blocking](), tracePage, s) },
		"TraceWakers":      func(w io.Writer, s Style) { TraceWakers(w, filled[wall.Wakings](), tracePage, s) },
		"TraceCritical": func(w io.Writer, s Style) {
			TraceCritical(w, filled[requests.Request](), filled[requests.Path](), tracePage, s)
		},
		"TraceRequests": func(w io.Writer, s Style) { TraceRequests(w, filled[requests.Result](), tracePage, s) },
		"TraceCPU":      func(w io.Writer, s Style) { TraceCPU(w, filled[requests.CPU](), tracePage, s) },
	}
}

// TestHostileNamesStayInTheirLine draws every page from data whose every string is hostile.
func TestHostileNamesStayInTheirLine(t *testing.T) {
	pages := hostilePages(t)
	for _, name := range pagesOfThePackage(t) {
		if pages[name] == nil && name != "Rules" && name != "Rule" { // hone's own words
			t.Errorf("%s is a page: draw it here from hostile data", name)
		}
	}
	for name, draw := range pages {
		for _, width := range []int{60, 100, 120} {
			ink := screen.NewInk()
			var out bytes.Buffer
			w := screen.New(&out, ink)
			draw(w, Style{Color: true, Ink: ink, Width: width})
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			screentest.Check(t, name, out.String(), true)
			if !strings.Contains(out.String(), "FORGED") {
				t.Errorf("%s shows nothing of the data:\n%s", name, out.String())
			}
			out.Reset()
			draw(&out, Style{Width: width})
			if bytes.Contains(out.Bytes(), []byte("\nFORGED")) {
				t.Errorf("%s without colours: a line end in a name ends the line", name)
			}
		}
	}
}

// pagesOfThePackage returns the functions that draw for a terminal: those with a Writer and a
// Style.
func pagesOfThePackage(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			params := f.Type.Params.List
			last, ok := params[len(params)-1].Type.(*ast.Ident)
			if ok && last.Name == "Style" {
				names = append(names, f.Name.Name)
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %v", names)
	}
	return names
}

// TestOwnTextIsPrintable: hone's own text needs no escaping.
func TestOwnTextIsPrintable(t *testing.T) {
	var pages bytes.Buffer
	Findings(&pages, page(), Style{})
	Why(&pages, why(), Style{})
	RulesMarkdown(&pages, nil)
	set := recordedTrace(t)
	TraceSummary(&pages, set.Summary(), TracePage{}, Style{})
	TraceParallelism(&pages, set.Parallelism.Result(), TracePage{}, Style{})
	var out bytes.Buffer
	w := screen.New(&out, "")
	w.Write(pages.Bytes())
	w.Flush()
	if !bytes.Equal(out.Bytes(), pages.Bytes()) {
		t.Errorf("the writer changes hone's own page:\n%s", out.Bytes())
	}
}
