package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/stats"
)

func TestBlindSpotsOfAPage(t *testing.T) {
	v, err := report.NewView(smallProfile(t), report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	page := TopTable{
		Source: "rec.hone:cpu", View: v, Top: top, Notes: []string{"b.pprof: without cpu"},
		Blind: blindspots.Spots{
			CPU:      &blindspots.CPUUse{Seconds: 12.3, Over: 10, Cores: 1, More: true, Counted: 20},
			Cut:      &blindspots.CutStacks{Depth: 64, Rows: 41, Share: 0.031},
			Sampling: &blindspots.Sampling{PeriodSeconds: 0.01, Value: 100e6, Samples: 10, Bounds: stats.Poisson(10).Scale(10e6)},
			NoLabels: []string{"tagfocus", "tagroot"},
		},
	}
	var b bytes.Buffer
	Top(&b, page, Style{})
	golden(t, "top_blind.golden", b.Bytes())

	b.Reset()
	if err := JSON(&b, TopJSON(page)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		CPU   map[string]float64
		Notes []string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Notes) != 6 || got.CPU["cores_busy"] != 1.23 || got.CPU["kernel_seconds"] != 20 {
		t.Errorf("%+v", got)
	}

	g, err := v.Graph(report.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	Tree(&b, GraphPage{Source: "x", View: v, Graph: g, Blind: page.Blind}, Style{})
	if text := b.String(); strings.Count(text, "note: ") != 5 || !strings.Contains(text, "1.23 of 1 cores busy") {
		t.Error(text)
	}
}
