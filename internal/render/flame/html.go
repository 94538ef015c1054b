package flame

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

//go:embed page
var files embed.FS

// HTML writes the page.
func HTML(w io.Writer, g *Graph) error {
	text := func(name string) string {
		b, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err) // cannot happen: the file is embedded
		}
		return string(b)
	}
	data, err := json.Marshal(newPageData(g)) // escapes <, > and &
	if err != nil {
		return fmt.Errorf("flame graph: %w", err)
	}
	_, err = strings.NewReplacer(
		"{{title}}", html.EscapeString(g.Source+" · "+g.first().SampleType.Type),
		"{{style}}", text("page.css"),
		"{{data}}", string(data),
		"{{script}}", bundle(text("tree.js"), text("paint.js"), text("page.js")),
	).WriteString(w, text("page.html"))
	return err
}

// bundle joins modules into one, in the order of their imports, so that each sees what the ones
// before it export.
func bundle(modules ...string) string {
	var b strings.Builder
	for _, m := range modules {
		for _, line := range strings.SplitAfter(m, "\n") {
			if !strings.HasPrefix(line, "import ") {
				b.WriteString(strings.TrimPrefix(line, "export "))
			}
		}
	}
	return b.String()
}

// pageData is the input of the script; page/tree.js declares it as a type.
type pageData struct {
	Source    string    `json:"source"`
	Type      string    `json:"type"`
	Duration  string    `json:"duration,omitempty"`
	Total     int64     `json:"total"` // in steps, like all values
	Step      int64     `json:"step"`  // values are divided by it, to keep the page small
	Units     [][2]any  `json:"units"` // factor in the profile's unit, and label, smallest first
	Packages  [][3]any  `json:"packages"`
	Functions [][4]any  `json:"functions"` // package, rest of the name, flat, cum
	Callees   *treeData `json:"callees"`   // null if not laid out, as the next one
	Callers   *treeData `json:"callers"`
}

// treeData holds the boxes of a tree as columns, in depth-first order. Left edges follow from
// depths and widths.
type treeData struct {
	Depth   []int32 `json:"depth"`
	Code    []int32 `json:"code"` // twice the function's number, plus one if inlined
	Width   []int64 `json:"width"`
	Self    []int64 `json:"self"`
	Value   []int64 `json:"value,omitempty"` // in a difference of profiles
	Dropped int64   `json:"dropped"`
}

func newPageData(g *Graph) pageData {
	f := g.first()
	d := pageData{
		Source: g.Source, Type: f.SampleType.Type, Step: g.step(), Units: units(f.SampleType.Unit),
		Packages: [][3]any{}, Functions: [][4]any{},
	}
	d.Total = f.Total / d.Step
	if g.Duration > 0 {
		d.Duration = measure.Format(g.Duration, "nanoseconds", "auto")
	}
	packages, functions := map[string]int{}, map[string]int32{}
	number := func(fn report.FlameFunction) int32 {
		n, ok := functions[fn.Name]
		if ok {
			return n
		}
		pkg, rest := splitName(fn.Name)
		p, ok := packages[pkg]
		if !ok {
			p = len(d.Packages)
			packages[pkg] = p
			t := tintOf(pkg)
			d.Packages = append(d.Packages, [3]any{pkg, t.hue, t.saturation})
		}
		n = int32(len(d.Functions))
		functions[fn.Name] = n
		d.Functions = append(d.Functions, [4]any{p, rest, fn.Flat / d.Step, fn.Cum / d.Step})
		return n
	}
	d.Callees = newTreeData(g.Callees, d.Step, number)
	d.Callers = newTreeData(g.Callers, d.Step, number)
	return d
}

// newTreeData returns nil for no graph.
func newTreeData(f *report.FlameGraph, step int64, number func(report.FlameFunction) int32) *treeData {
	if f == nil {
		return nil
	}
	t := &treeData{Dropped: f.Dropped / step}
	signed := false
	for _, b := range f.Boxes {
		code := int32(-1)
		if b.Function >= 0 {
			code = 2 * number(f.Functions[b.Function])
		}
		if b.Inlined {
			code++
		}
		t.Depth, t.Code = append(t.Depth, b.Depth), append(t.Code, code)
		t.Width, t.Self, t.Value = append(t.Width, b.Width/step), append(t.Self, b.Self/step), append(t.Value, b.Value/step)
		signed = signed || b.Value != b.Width
	}
	if !signed {
		t.Value = nil
	}
	return t
}

// step returns the largest number that divides all values of the page.
func (g *Graph) step() int64 {
	step := g.first().Total
	add := func(v int64) {
		for v != 0 {
			step, v = v, step%v
		}
	}
	for _, f := range g.graphs() {
		for _, b := range f.Boxes {
			add(b.Width)
			add(b.Self)
			add(b.Value)
		}
		for _, fn := range f.Functions {
			add(fn.Flat)
			add(fn.Cum)
		}
		add(f.Dropped)
	}
	return max(step, -step, 1)
}

// units lists the units for values, smallest first.
func units(unit string) [][2]any {
	const probe = 1 << 50
	if _, label := measure.Scale(probe, unit, "auto"); label == "" { // a count, or an unknown unit
		if unit == "count" || unit == "" {
			return [][2]any{{1, ""}}
		}
		return [][2]any{{1, " " + unit}}
	}
	var out [][2]any
	for _, label := range []string{"ns", "us", "ms", "s", "hrs", "B", "kB", "MB", "GB", "TB", "PB", "GCU"} {
		v, got := measure.Scale(probe, unit, label)
		if got != label {
			continue // of another dimension
		}
		factor := probe / v
		if factor > 1 {
			factor = math.Round(factor)
		}
		out = append(out, [2]any{factor, label})
	}
	return out
}
