package flame

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
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
		t.Errorf("%s differs (go test ./internal/render/flame -update rewrites it):\n%s", path, got)
	}
}

// service is a small CPU profile: two callers of one function, an inlined call, recursion.
func service(t testing.TB) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	add := func(samples int64, names ...string) {
		var stack []profile.FrameSpec
		for _, name := range names {
			name, inlined := strings.CutSuffix(name, "*")
			stack = append(stack, profile.FrameSpec{Function: name, Inlined: inlined})
		}
		b.Add(stack, samples, samples*1e7)
	}
	add(40, "runtime.mallocgc", "example.com/pad.Left*", "main.handler", "net/http.(*conn).serve", "runtime.goexit")
	add(20, "runtime.mallocgc", "fmt.Sprintf", "main.handler", "net/http.(*conn).serve", "runtime.goexit")
	add(10, "main.handler", "net/http.(*conn).serve", "runtime.goexit")
	add(15, "main.walk", "main.walk", "main.walk", "main.main", "runtime.main")
	add(10, "example.com/pad.Left", "main.main", "runtime.main")
	add(5, "main.List[go.shape.struct { example.com/x.A <-chan }].Get", "main.main", "runtime.main")
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.DurationNanos = 2e9
	return p
}

func graph(t testing.TB) *Graph { return graphOf(t, Both) }

func graphOf(t testing.TB, d Direction) *Graph {
	t.Helper()
	v, err := report.NewView(service(t), report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	g, err := New("cpu <1>.pprof", v, d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestOneDirection: a graph of one direction is the same as with the other one.
func TestOneDirection(t *testing.T) {
	both, callees, callers := graph(t), graphOf(t, Callees), graphOf(t, Callers)
	if callees.Callers != nil || callers.Callees != nil {
		t.Error("a graph that was not asked for is laid out")
	}
	if diff := cmp.Diff(both.Callees, callees.Callees); diff != "" {
		t.Errorf("callees (-both +alone):\n%s", diff)
	}
	if diff := cmp.Diff(both.Callers, callers.Callers); diff != "" {
		t.Errorf("callers (-both +alone):\n%s", diff)
	}
	if both.first() != both.Callees || callers.first() != callers.Callers {
		t.Error("SVG and JSON show the callees if there are some, else the callers")
	}
}

func page(t testing.TB) string { return pageOf(t, Both) }

func pageOf(t testing.TB, d Direction) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, graphOf(t, d)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLHeadAndData(t *testing.T) {
	all := page(t)
	head, _, ok := strings.Cut(all, "<style>")
	if !ok {
		t.Fatal("no style")
	}
	_, rest, ok := strings.Cut(all, `<script id="data" type="application/json">`)
	data, _, ok2 := strings.Cut(rest, "</script>")
	if !ok || !ok2 {
		t.Fatal("no data")
	}
	golden(t, "head.html.golden", []byte(head))
	golden(t, "data.json.golden", []byte(data+"\n"))
}

func TestHTMLLoadsNothing(t *testing.T) {
	all := page(t)
	for _, s := range []string{"http://", "https://", "src=", "@import", "url(", "\nimport ", "\nexport ", "{{data", "{{title", "{{script", "{{style", "</script>\\", "<1>"} {
		if strings.Contains(all, s) {
			t.Errorf("the page contains %q", s)
		}
	}
	if n := strings.Count(all, "</script>"); n != 2 {
		t.Errorf("%d script ends, want 2", n)
	}
}

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, graph(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "service.svg.golden", b.Bytes())
	wellFormed(t, b.Bytes())
}

func wellFormed(t testing.TB, text []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
	}
}

// TestAnyNames checks that no name can break out of its place in the files.
func TestAnyNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"</script><b>", "\x01\xff", "{{data}}", "a;b", "]]>", "<!--", "/.(", "[x"}))
		b := profile.NewBuilder(profile.ValueType{Type: name.Draw(rt, "type"), Unit: name.Draw(rt, "unit")})
		for range rapid.IntRange(0, 4).Draw(rt, "stacks") {
			fn := name.Draw(rt, "function")
			b.Add([]profile.FrameSpec{{Function: fn}, {Function: "main." + fn}}, rapid.Int64().Draw(rt, "value"))
		}
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		o := report.DefaultOptions()
		o.SampleIndex = "0"
		v, err := report.NewView(p, o)
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(name.Draw(rt, "source"), v, rapid.SampledFrom([]Direction{Both, Callees, Callers}).Draw(rt, "direction"))
		if err != nil {
			t.Fatal(err)
		}
		var svg, page bytes.Buffer
		if err := errors.Join(SVG(&svg, g), HTML(&page, g)); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.Bytes())
		if n := strings.Count(page.String(), "</script>"); n != 2 {
			rt.Fatalf("%d script ends, want 2", n)
		}
		_, rest, _ := strings.Cut(page.String(), `<script id="data" type="application/json">`)
		text, _, _ := strings.Cut(rest, "</script>")
		var data struct{ Functions [][4]any }
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			rt.Fatalf("%v in:\n%s", err, text)
		}
	})
}

// empty is the graph of a profile without samples.
func empty(t testing.TB) *Graph {
	t.Helper()
	p, err := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"}).Profile()
	if err != nil {
		t.Fatal(err)
	}
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	g, err := New("empty", v, Both)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestEmptyProfile(t *testing.T) {
	g := empty(t)
	if err := errors.Join(HTML(io.Discard, g), SVG(io.Discard, g)); err != nil {
		t.Fatal(err)
	}
}

func TestSplitName(t *testing.T) {
	for _, c := range []struct{ name, pkg, rest string }{
		{"main.main", "main", ".main"},
		{"net/http.(*conn).serve", "net/http", ".(*conn).serve"},
		{"gopkg.in/yaml%2ev3.(*parser).node", "gopkg.in/yaml%2ev3", ".(*parser).node"},
		{"main.List[go.shape.struct { example.com/x.A }].Get", "main", ".List[go.shape.struct { example.com/x.A }].Get"},
		{"[libc.so.6]", "", "[libc.so.6]"}, {"<unknown>", "", "<unknown>"}, {"operator()(int)", "", "operator()(int)"}, {"", "", ""},
	} {
		if pkg, rest := splitName(c.name); pkg != c.pkg || rest != c.rest {
			t.Errorf("splitName(%q) = %q, %q, want %q, %q", c.name, pkg, rest, c.pkg, c.rest)
		}
	}
}

func TestTintHex(t *testing.T) {
	got := []string{tint{0, 100}.hex(.5), tint{120, 100}.hex(.25), tint{240, 100}.hex(.75), tint{90, 0}.hex(1)}
	if diff := cmp.Diff([]string{"#ff0000", "#008000", "#8080ff", "#ffffff"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestValuesAreDividedByTheirCommonStep(t *testing.T) {
	d := newPageData(graph(t))
	if d.Step != 5e7 || d.Total != 20 || d.Callees.Width[0] != 20 {
		t.Errorf("step %d, total %d, root %d; want 5e7, 20, 20", d.Step, d.Total, d.Callees.Width[0])
	}
}

func TestUnits(t *testing.T) {
	for unit, want := range map[string]string{
		"count":        "[[1 ]]",
		"":             "[[1 ]]",
		"parsecs":      "[[1  parsecs]]",
		"nanoseconds":  "[[1 ns] [1000 us] [1e+06 ms] [1e+09 s] [3.6e+12 hrs]]",
		"microseconds": "[[0.001 ns] [1 us] [1000 ms] [1e+06 s] [3.6e+09 hrs]]",
		"bytes":        "[[1 B] [1024 kB] [1.048576e+06 MB] [1.073741824e+09 GB] [1.099511627776e+12 TB] [1.125899906842624e+15 PB]]",
		"gcu":          "[[1 GCU]]",
	} {
		if got := fmt.Sprint(units(unit)); got != want {
			t.Errorf("units(%q) = %s, want %s", unit, got, want)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	g := graph(b)
	for b.Loop() {
		if err := HTML(io.Discard, g); err != nil {
			b.Fatal(err)
		}
	}
}
