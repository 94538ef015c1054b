package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render/browsertest"
)

// shownPage is what a page shows.
type shownPage struct {
	Tables  [][][]string // rows of cells
	Cards   []string     // their texts
	Figures [][]string   // name and value of the figures at its top
	Text    string       // all of it
	Titles  []string     // of the points of plots
	Frame   string       // the address of the page in a frame
	Error   string
}

// seePage is the script that reports a page.
const seePage = `
async function show(name, address) {
  await open(address);
  await until("all columns", () => !doc().querySelector("main [aria-busy=true]"));
  for (const b of doc().querySelectorAll("main button")) if (/^all \d+ rows$/.test(b.textContent) && !b.hidden) b.click();
  const texts = (selector) => [...doc().querySelectorAll(selector)].map((e) => e.textContent);
  see(name, {
    Tables: tables(), Cards: texts("main section.card"), Text: doc().getElementById("main").textContent,
    Figures: [...doc().querySelectorAll("main dl.figures > div")].map((d) => [...d.children].map((e) => e.textContent)),
    Titles: texts("main .plot circle title"), Frame: doc().querySelector("main iframe")?.getAttribute("src") || "",
    Error: text("main .error"),
  });
}
`

// figuresTest compares the pages of one source with what commands print.
type figuresTest struct {
	t     *testing.T
	k     kinds
	path  string
	pages map[string]shownPage
}

func (f *figuresTest) json(args ...string) jsonValue {
	f.t.Helper()
	return parsedJSON(f.t, f.k.run(f.t, args...))
}

// rows checks the rows of a table of a view, without its head.
func (f *figuresTest) rows(view string, table int, want [][]string) {
	f.t.Helper()
	got := f.pages[view]
	if table >= len(got.Tables) {
		f.t.Errorf("%s of %s: no table %d: %.300q %s", view, filepath.Base(f.path), table, got.Text, got.Error)
		return
	}
	rows := got.Tables[table][1:]
	if len(rows) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		f.t.Errorf("%s of %s, table %d (- the command's JSON, + the page):\n%.2000s", view, filepath.Base(f.path), table, diff)
	}
}

// texts checks that a text contains others.
func (f *figuresTest) texts(view, got string, want ...string) {
	f.t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			f.t.Errorf("%s of %s: no %q in %.600q", view, filepath.Base(f.path), w, got)
		}
	}
}

// TestUIFiguresInBrowser walks all views of recordings of three kinds of programs in a browser, and
// compares every figure on the pages with the JSON that the commands print.
func TestUIFiguresInBrowser(t *testing.T) {
	live.Only(t)
	k := recordKinds(t)
	sources := []string{k.batch, k.service, k.bench, k.again[k.batch], k.again[k.service], k.again[k.bench]}
	h, _ := uiOf(t, sources...)
	script, err := os.ReadFile(filepath.Join("..", "ui", "files", "views.js"))
	if err != nil {
		t.Fatal(err)
	}
	var views []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ title: .*"recording"|^  (\w+): \{ title: .*kinds: profiles`).FindAllStringSubmatch(string(script), -1) {
		views = append(views, m[1]+m[2])
	}
	checks := figureChecks()
	if known := slices.Sorted(maps.Keys(checks)); !slices.Equal(known, slices.Sorted(slices.Values(views))) {
		t.Fatalf("views %v, checked %v", views, known)
	}
	calls := seePage
	slowest := map[string]string{}
	for i, path := range sources[:3] {
		slowest[path] = "0"
		if all := parsedJSON(t, k.run(t, "trace", "requests", "-json", path)).at("slowest").list(); len(all) > 0 {
			slowest[path] = strconv.Itoa(int(all[0].num("id")))
		}
		for _, view := range views {
			q := url.Values{"src": {strconv.Itoa(i)}, "view": {view}}
			switch view {
			case "source", "peek", "disasm":
				q.Set("fn", k.functions[path])
			case "diff", "compare":
				q.Set("base", strconv.Itoa(i+3))
			case "request", "timeline":
				q.Set("request", slowest[path])
			}
			name, err := json.Marshal(filepath.Base(path) + " " + view)
			if err != nil {
				t.Fatal(err)
			}
			calls += fmt.Sprintf("await show(%s, %q);\n", name, "/?"+q.Encode())
		}
	}
	got := browsertest.Drive(t, h, calls)
	for _, path := range sources[:3] {
		f := &figuresTest{t: t, k: k, path: path, pages: map[string]shownPage{}}
		for _, view := range views {
			var p shownPage
			if err := json.Unmarshal([]byte(got[filepath.Base(path)+" "+view]), &p); err != nil {
				t.Fatalf("%s of %s: %v", view, path, err)
			}
			f.pages[view] = p
		}
		for _, view := range views {
			checks[view](f, slowest[path])
		}
		checkReport(f)
	}
}

// everyProgram matches names that every program has: they tell nothing, and stay (see
// exectrace.Anonymize). Which functions have findings is not the same in each recording.
var everyProgram = regexp.MustCompile(`^(main|init|func\d+|gowrap\d+)(\.(main|init|func\d+|gowrap\d+|\d+))*$`)

// checkReport: the report is one file without references to others; it shows the findings of the
// recording, and neither source text nor names if that was asked for.
func checkReport(f *figuresTest) {
	r := f.json("findings", "-json", f.path)
	for _, format := range []string{"html", "md"} {
		for _, hidden := range []string{"", "-no_source", "-anonymize"} {
			args := append(strings.Fields("report -q "+hidden), "-format", format, f.path)
			page := f.k.run(f.t, args...)
			if len(page) > 1<<20 || regexp.MustCompile(`(?i)(src|href)="[^#"]|url\(|@import`).MatchString(page) {
				f.t.Errorf("%q: %d bytes, or a reference to another file", args, len(page))
			}
			text := html.UnescapeString(page)
			for _, x := range r.at("findings").list() {
				if x.at("generic").is() {
					continue
				}
				f.texts("report", text, x.str("title"))
				for i, s := range x.at("sites").list() {
					source := strings.TrimSpace(s.str("source"))
					if shown := strings.Contains(text, source); len(source) > 12 && (hidden != "" && shown || hidden == "" && i == 0 && !shown) {
						f.t.Errorf("%q: source text %q", args, source)
					}
				}
				short := baseName(x.str("function"))
				kept := hidden != "-anonymize" || everyProgram.MatchString(short)
				if short != "" && strings.Contains(text, short) != kept {
					f.t.Errorf("%q: the function %q", args, short)
				}
			}
			if hidden == "-anonymize" && (strings.Contains(text, f.k.env.Dir) || strings.Contains(text, "http://127.0.0.1")) {
				f.t.Errorf("%q names a directory or a request", args)
			}
		}
	}
}

// figureChecks returns the check of each view. The number is that of the slowest request, "0" if
// there is none.
func figureChecks() map[string]func(f *figuresTest, slowest string) {
	return map[string]func(f *figuresTest, slowest string){
		"findings": checkFindings, "top": checkTop, "source": checkSource, "peek": checkPeek, "disasm": checkDisasm,
		"compare": checkCompare, "diff": checkDiff, "trace": checkTrace, "summary": checkSummary, "requests": checkRequests, "request": checkRequest,
		"load": checkLoad, "recording": checkRecording,
		"flame": checkFrame, "graph": checkFrame, "timeline": checkFrame,
	}
}

// checkFrame: a page in a frame is the command's own, see TestUIPagesAreTheCommands.
func checkFrame(f *figuresTest, _ string) {
	for _, view := range []string{"flame", "graph", "timeline"} {
		if p := f.pages[view]; !strings.HasPrefix(p.Frame, "/page/"+view+"?") || p.Error != "" {
			f.t.Errorf("%s of %s: frame %q, %s", view, filepath.Base(f.path), p.Frame, p.Error)
		}
	}
}

func checkFindings(f *figuresTest, _ string) {
	r := f.json("findings", "-json", f.path)
	var want []jsonValue
	for _, costly := range []bool{false, true} { // lines that no rule explains come last, after the settings
		for _, x := range r.at("findings").list() {
			if x.at("generic").is() == costly {
				want = append(want, x)
			}
		}
		if !costly {
			want = append(want, r.at("settings").list()...)
		}
	}
	cards := f.pages["findings"].Cards
	if len(cards) != len(want) {
		f.t.Fatalf("%d cards for %d findings of %s", len(cards), len(want), f.path)
	}
	for i, x := range want {
		f.texts("findings", cards[i], x.str("title"), x.str("rule"), x.str("function"), x.str("cause"), x.str("fix"))
		if s := x.at("saving"); s.is() {
			f.texts("findings", cards[i], "saves "+shownPercent(s.num("share")))
			if s.at("low").is() {
				f.texts("findings", cards[i], fmt.Sprintf("95 %%: %s to %s", shownPercent(s.num("low")), shownPercent(s.num("high"))))
			}
		} else if c := x.at("cost", "cpu_and_gc"); c.is() {
			f.texts("findings", cards[i], "costs "+shownPercent(c.num("share")))
		}
		if x.str("function") != "" {
			f.texts("findings", cards[i], x.str("file")+":"+shownLine(x))
		}
		for _, s := range x.at("sites").list() {
			f.texts("findings", cards[i], strings.TrimSpace(s.str("source")))
			if share := s.num("share"); share != 0 {
				f.texts("findings", cards[i], shownPercent(share))
			}
		}
		for _, e := range x.at("evidence").list() {
			f.texts("findings", cards[i], e.str("what")+": "+e.str("value"), e.str("command"))
		}
	}
	figures := fmt.Sprint(f.pages["findings"].Figures)
	res := r.at("resources")
	if v := res.num("requests_per_second"); v != 0 {
		f.texts("findings", figures, shownDigits(v)+" requests/s")
	}
	if v := res.num("cpu_seconds_per_request"); v != 0 {
		f.texts("findings", figures, shownSeconds(v)+" per ")
	} else if v := res.num("cpu_seconds"); v != 0 {
		f.texts("findings", figures, shownDigits(v)+" s")
	}
	if v := res.num("gc_cpu_share"); v != 0 {
		f.texts("findings", figures, shownPercent(v)+" of CPU")
	}
}

func shareOf(x, total float64) string {
	if total == 0 {
		return ""
	}
	return shownPercent(x / total)
}

func checkTop(f *figuresTest, _ string) {
	r := f.json("top", "-json", "-top=200", f.path)
	var want [][]string
	for _, x := range r.at("rows").list() {
		place := ""
		if file := x.str("file"); file != "" {
			place = " " + file
			if x.num("line") != 0 {
				place += ":" + shownLine(x)
			}
		}
		unit, total := r.str("unit"), r.num("total")
		want = append(want, []string{shownQuantity(x.num("flat"), unit), shareOf(x.num("flat"), total), shownQuantity(x.num("cum"), unit), shareOf(x.num("cum"), total), x.str("function") + place})
	}
	f.rows("top", 0, want)
	f.texts("top", f.pages["top"].Text, r.str("sample_type")+", "+shownQuantity(r.num("total"), r.str("unit"))+" in all")
}

// unlessZero writes a figure of a line; lines without cost show none.
func unlessZero(x float64, unit string) string {
	if x == 0 {
		return ""
	}
	return shownQuantity(x, unit)
}

func checkSource(f *figuresTest, _ string) {
	exact := "^" + regexp.QuoteMeta(f.k.functions[f.path]) + "$"
	r := f.json("list", "-json", exact, f.path)
	if len(r.at("functions").list()) == 0 {
		f.t.Fatalf("no lines of %s", exact)
	}
	also := map[string]map[string]float64{"allocated": {}, "waiting": {}}
	units := map[string]string{}
	for name, args := range map[string][]string{"allocated": {"list", "-json", "-sample_index=alloc_space", exact, f.path}, "waiting": {"list", "-json", exact, f.path + ":trace:blocking"}} {
		more, err := f.k.try(f.t, args...)
		if err != nil {
			continue // nothing of it
		}
		j := parsedJSON(f.t, more)
		units[name] = j.str("unit")
		for _, fn := range j.at("functions").list() {
			for _, l := range fn.at("lines").list() {
				also[name][fn.str("function")+shownLine(l)] = l.num("cum")
			}
		}
	}
	for i, fn := range r.at("functions").list() {
		head := f.pages["source"].Tables[i][0]
		var want, got [][]string
		for _, l := range fn.at("lines").list() {
			row := []string{shownLine(l), unlessZero(l.num("flat"), r.str("unit")), unlessZero(l.num("cum"), r.str("unit"))}
			for _, name := range []string{"allocated", "waiting"} {
				if slices.Contains(head, name) {
					row = append(row, unlessZero(also[name][fn.str("function")+shownLine(l)], units[name]))
				}
			}
			if per := r.str("executions_per"); per != "" {
				runs := ""
				if l.at("executions").is() {
					runs = shownDigits(l.num("executions"))
				}
				row = append(row, runs)
			}
			want = append(want, append(row, strings.ReplaceAll(l.str("source"), "\t", "    ")))
		}
		for _, row := range f.pages["source"].Tables[i][1:] {
			if row[0] != "" { // no remark
				got = append(got, row)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Errorf("source of %s (- the command's JSON, + the page):\n%.2000s", filepath.Base(f.path), diff)
		}
		for _, m := range fn.at("remarks").list() {
			f.texts("source", f.pages["source"].Text, m.str("text"))
		}
		f.texts("source", f.pages["source"].Cards[i], fmt.Sprintf("cum %s, %s", shownQuantity(fn.num("cum"), r.str("unit")), shareOf(fn.num("cum"), r.num("total"))))
	}
	if f.path != f.k.bench && len(also["allocated"]) == 0 {
		f.t.Errorf("%s allocates nothing in %s", exact, filepath.Base(f.path))
	}
}

func checkPeek(f *figuresTest, _ string) {
	r := f.json("peek", "-json", "^"+regexp.QuoteMeta(f.k.functions[f.path])+"$", f.path)
	nodes := r.at("nodes").list()
	unit, table := r.str("unit"), 0
	for _, shown := range r.at("shown").list() {
		n := nodes[int(shown.v.(float64))]
		f.texts("peek", f.pages["peek"].Text, n.str("function"), "flat "+shownQuantity(n.num("flat"), unit), "cum "+shownQuantity(n.num("cum"), unit))
		for _, side := range [][2]string{{"to", "from"}, {"from", "to"}} {
			var want [][]string
			for _, e := range r.at("edges").list() {
				if e.num(side[0]) == shown.v.(float64) {
					want = append(want, []string{shownQuantity(e.num("weight"), unit), shareOf(e.num("weight"), n.num("cum")), nodes[int(e.num(side[1]))].str("function")})
				}
			}
			if len(want) > 0 {
				f.rows("peek", table, want)
				table++
			}
		}
	}
	if table == 0 {
		f.t.Errorf("peek of %s: neither callers nor callees", filepath.Base(f.path))
	}
}

func checkDisasm(f *figuresTest, _ string) {
	out, err := f.k.try(f.t, "disasm", "-json", "^"+regexp.QuoteMeta(f.k.functions[f.path])+"$", f.path)
	if err != nil {
		if f.pages["disasm"].Error != err.Error() {
			f.t.Errorf("disasm of %s says %q, the command %v", filepath.Base(f.path), f.pages["disasm"].Error, err)
		}
		return
	}
	r := parsedJSON(f.t, out)
	for i, fn := range r.at("functions").list() {
		var want, got [][]string
		for _, x := range fn.at("instructions").list() {
			want = append(want, []string{x.str("address"), unlessZero(x.num("flat"), r.str("unit")), unlessZero(x.num("cum"), r.str("unit")), "    " + x.str("text")})
		}
		for _, row := range f.pages["disasm"].Tables[i][1:] {
			if row[0] != "" {
				got = append(got, row)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Errorf("disasm of %s (- the command's JSON, + the page):\n%.2000s", filepath.Base(f.path), diff)
		}
	}
}

func checkCompare(f *figuresTest, _ string) {
	r := f.json("compare", "-json", f.k.again[f.path], f.path)
	value := func(x float64, unit string) string {
		switch {
		case unit == "s" || strings.HasPrefix(unit, "s/"):
			return shownSeconds(x)
		case strings.HasPrefix(unit, "B/"):
			return shownBytes(x)
		}
		return shownDigits(x)
	}
	var want [][]string
	for _, x := range r.at("rows").list() {
		change, interval := "", ""
		if x.at("ratio").is() {
			if change = shownPercent(x.num("ratio") - 1); x.num("ratio") >= 1 {
				change = "+" + change
			}
		}
		if x.at("low").is() {
			interval = shownPercent(x.num("low")-1) + " to " + shownPercent(x.num("high")-1)
		} else if x.at("exact").is() {
			interval = "exact"
		}
		sign := ""
		if verdict := x.str("verdict"); verdict == "better" || verdict == "worse" {
			sign = map[bool]string{true: "▼ ", false: "▲ "}[x.num("ratio") < 1]
		}
		floor := ""
		if x.num("floor") != 0 {
			floor = shownPercent(x.num("floor"))
		}
		want = append(want, []string{x.str("name"), x.str("metric") + " " + x.str("unit"), value(x.num("old"), x.str("unit")), value(x.num("new"), x.str("unit")), change, interval, floor, sign + x.str("verdict")})
	}
	f.rows("compare", 0, want)
}

func checkDiff(f *figuresTest, _ string) {
	r := f.json("diff", "-json", f.k.again[f.path], f.path)
	cost := func(x float64) string {
		switch r.str("unit") {
		case "share":
			return shownPercent(x)
		case "s":
			return shownSeconds(x)
		case "B":
			return shownBytes(x)
		}
		return shownDigits(x)
	}
	words := map[string]string{"better": "less", "worse": "more"}
	var want [][]string
	for _, x := range r.at("rows").list() {
		moved := x.num("new") - x.num("old")
		d := x.at("difference")
		if d.at("value").is() {
			moved = d.num("value")
		}
		change, interval, verdict := cost(moved), "", x.str("verdict")
		if moved > 0 {
			change = "+" + change
		}
		if d.at("low").is() {
			interval = cost(d.num("low")) + " to " + cost(d.num("high"))
		}
		if words[verdict] != "" {
			verdict = words[verdict]
		}
		name := x.str("function")
		if name == "" {
			name = x.str("file")
		}
		want = append(want, []string{cost(x.num("old")), cost(x.num("new")), change, interval, verdict, name})
	}
	f.rows("diff", 0, want)
}

func checkRecording(f *figuresTest, _ string) {
	m := f.k.manifest(f.t, f.path)
	var parts [][]string
	for _, p := range m.at("parts").list() {
		parts = append(parts, []string{p.str("name"), shownBytes(p.num("bytes"))})
	}
	f.rows("recording", 1, parts)
	phases := m.at("phases").list()
	got := f.pages["recording"].Tables[0][1:]
	if len(got) != len(phases) {
		f.t.Fatalf("%d rows for %d phases of %s", len(got), len(phases), f.path)
	}
	for i, p := range phases {
		requests := ""
		if n := p.num("requests"); n != 0 {
			requests = shownDigits(n)
		}
		if want := []string{p.str("name"), shownDigits(p.num("seconds")), requests, shownDigits(p.num("cpu_seconds"))}; !slices.Equal(got[i][:4], want) {
			f.t.Errorf("phase %q, the manifest says %q", got[i], want)
		}
		if o := p.at("observer"); o.is() && !o.at("no_cpu").is() && (o.num("cpu_growth_low") > 0 || o.num("cpu_growth_high") < 0) {
			sign := map[bool]string{true: "+", false: "−"}[o.num("cpu_growth") >= 0]
			f.texts("recording", got[i][4], sign+shownPercent(max(o.num("cpu_growth"), -o.num("cpu_growth")))+" CPU")
		}
	}
	f.texts("recording", f.pages["recording"].Text, m.str("runtime", "go"), m.str("machine", "cpu"))
}

// manifest returns the manifest of a recording, which hone record -json prints.
func (k kinds) manifest(t *testing.T, path string) jsonValue {
	t.Helper()
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	text, err := manifestText(rec)
	if err != nil {
		t.Fatal(err)
	}
	return parsedJSON(t, string(text))
}
