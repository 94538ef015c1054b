package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/gogc"
)

// TestTuneGCPlot: the picture is well-formed, has a point for each setting and each measurement,
// and hostile names stay text.
func TestTuneGCPlot(t *testing.T) {
	ratio, low, high := 0.9, 0.85, 0.95
	r := &tunegc.Result{Target: `<script>&"`, Unit: "request", MemoryBytes: 1 << 30, Rows: []tunegc.Row{
		{Setting: gogc.Setting{GOGC: 100}, CPUSeconds: 0.003, Resident: 50 << 20, Own: true, Measured: &tunegc.Measured{CPUSeconds: 0.0031, Resident: 48 << 20}},
		{Setting: gogc.Setting{GOGC: 800}, CPUSeconds: 0.0027, Resident: 170 << 20, Measured: &tunegc.Measured{CPUSeconds: 0.0026, Resident: 168 << 20, Ratio: &ratio, Low: &low, High: &high}},
		{Setting: gogc.Setting{GOGC: -1, Limit: 900 << 20}, CPUSeconds: 0.0025, Resident: 900 << 20},
	}, Choice: &tunegc.Choice{Row: 1}}
	for name, r := range map[string]*tunegc.Result{"whole": r, "empty": {}, "one": {Rows: r.Rows[:1]}} {
		var b bytes.Buffer
		TuneGCPlot(&b, r)
		circles := 0
		for d := xml.NewDecoder(&b); ; {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := tok.(xml.StartElement)
			if ok && e.Name.Local == "circle" {
				circles++
			}
			if ok && e.Name.Local == "script" {
				t.Errorf("%s: a name became an element", name)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s: %s=%q", name, a.Name.Local, a.Value)
				}
			}
		}
		if want := map[string]int{"whole": 5, "empty": 0, "one": 2}[name]; circles != want {
			t.Errorf("%s: %d points, want %d", name, circles, want)
		}
	}
}
