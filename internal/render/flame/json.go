package flame

import (
	"github.com/hone-go/hone/profile/report"
)

// JSON returns the JSON form of `hone flame`: the boxes of the callees or, without these, of the
// callers, in depth-first order, with their left edges.
func JSON(g *Graph) any {
	type box struct {
		Function string `json:"function"`
		Parent   int32  `json:"parent"` // number of a box, from 0; -1 for the root
		Depth    int32  `json:"depth"`
		X        int64  `json:"x"`
		Width    int64  `json:"width"`
		Value    int64  `json:"value"`
		Self     int64  `json:"self"`
		Inlined  bool   `json:"inlined,omitempty"`
	}
	boxes := func(f *report.FlameGraph) []box {
		out := []box{}
		for _, b := range f.Boxes {
			name := ""
			if b.Function >= 0 {
				name = f.Functions[b.Function].Name
			}
			out = append(out, box{name, b.Parent, b.Depth, b.X, b.Width, b.Value, b.Self, b.Inlined})
		}
		return out
	}
	f := g.first()
	return struct {
		Schema     string `json:"schema"`
		Source     string `json:"source"`
		SampleType string `json:"sample_type"`
		Unit       string `json:"unit"`
		Inverted   bool   `json:"inverted,omitempty"`
		Total      int64  `json:"total"`
		Dropped    int64  `json:"dropped"` // total width of the boxes that were left out
		Boxes      []box  `json:"boxes"`
	}{"hone/flame/v1", g.Source, f.SampleType.Type, f.SampleType.Unit, f == g.Callers, f.Total, f.Dropped, boxes(f)}
}
