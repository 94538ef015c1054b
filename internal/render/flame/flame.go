package flame

import (
	"fmt"
	"github.com/hone-go/hone/profile/report"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// Graph is a flame graph in one direction or in both, ready to be drawn.
type Graph struct {
	Source   string             // what the user named
	Callees  *report.FlameGraph // nil if only the callers were laid out
	Callers  *report.FlameGraph // inverted; nil if only the callees were laid out
	Duration int64              // nanoseconds; 0 if unknown
}

// Direction says which graphs are laid out.
type Direction int

const (
	Both    Direction = iota // which takes twice the time of one
	Callees                  // from the root down to what it calls
	Callers                  // inverted: from what runs up to who called it
)

const (
	maxBoxes = 5000 // per direction: about 100 kB of page
	// minShare is a tenth of a pixel on a wide screen: such a box is visible after zooming in ten
	// times.
	minShare = 1.0 / 20000
)

// New lays out a view.
func New(source string, v *report.View, d Direction) (*Graph, error) {
	g := &Graph{Source: source, Duration: v.Profile.DurationNanos}
	o := options(v)
	o.Inverted = d == Callers
	var err error
	switch d {
	case Both:
		g.Callees, g.Callers, err = report.FlamePair(v.Profile, o)
	case Callees:
		g.Callees, err = report.Flame(v.Profile, o)
	case Callers:
		g.Callers, err = report.Flame(v.Profile, o)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range g.graphs() {
		f.Total = v.Total
	}
	return g, nil
}

// graphs returns the graphs that were laid out, the callees first.
func (g *Graph) graphs() []*report.FlameGraph {
	return slices.DeleteFunc([]*report.FlameGraph{g.Callees, g.Callers}, func(f *report.FlameGraph) bool { return f == nil })
}

// first returns the graph for formats that show only one.
func (g *Graph) first() *report.FlameGraph { return g.graphs()[0] }

func options(v *report.View) report.FlameOptions {
	return report.FlameOptions{
		SampleIndex: v.Index, Granularity: v.Granularity, Columns: v.ShowColumns, MaxBoxes: maxBoxes, MinShare: minShare,
		Selection: v.Selection, Cache: v.Cache,
	}
}

// splitName splits a function's name after its package: "net/http" and ".(*conn).serve".
func splitName(name string) (pkg, rest string) {
	// A type argument may contain a path, and a file is one.
	end := len(name)
	if i := strings.IndexAny(name, "[( "); i >= 0 { // the file follows a space
		end = i
	}
	slash := strings.LastIndex(name[:end], "/") + 1
	dot := strings.Index(name[slash:end], ".")
	if dot < 0 {
		return "", name
	}
	return name[:slash+dot], name[slash+dot:]
}

// tint is a colour without its lightness, which depends on the theme.
type tint struct{ hue, saturation int }

// tintOf returns the colour of a package. The runtime is grey, because users cannot change it;
// every other package has its own hue.
func tintOf(pkg string) tint {
	switch root, _, _ := strings.Cut(pkg, "/"); {
	case pkg == "":
		return tint{220, 6}
	case root == "runtime" || strings.HasPrefix(pkg, "internal/runtime"):
		return tint{220, 12}
	case pkg == "main":
		return tint{18, 78}
	}
	h := fnv.New32a()
	h.Write([]byte(pkg))
	sum := h.Sum32()
	return tint{hue: 30 + int(sum%320), saturation: 48 + int(sum>>16%20)}
}

// dull returns the colour for a dark background, on which saturated colours glare.
func (t tint) dull() tint { return tint{t.hue, t.saturation * 6 / 10} }

// hex returns the colour at a lightness from 0 to 1 (CSS Color Module Level 3, 4.2.4).
func (t tint) hex(lightness float64) string {
	s := float64(t.saturation) / 100 * min(lightness, 1-lightness)
	channel := func(n float64) int {
		k := math.Mod(n+float64(t.hue)/30, 12)
		return int(math.Round(255 * (lightness - s*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", channel(0), channel(8), channel(4))
}
