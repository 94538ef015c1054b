package source

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// Executions reads the counters of executions of a recording; nil when it has none.
func Executions(rec *recording.Recording) (*counts.Index, error) {
	ph, ok := rec.Phase(recording.PhaseCounts)
	if !ok {
		return nil, nil
	}
	var meta *covdata.Meta
	var windows []counts.Window
	for _, part := range rec.Manifest.Parts {
		name, ok := strings.CutPrefix(part.Name, recording.PartCounts+"/")
		if !ok {
			continue
		}
		data, err := rec.Bytes(part.Name)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "covmeta.") {
			if meta, err = covdata.ReadMeta(data); err != nil {
				return nil, fmt.Errorf("%s: %w", part.Name, err)
			}
			continue
		}
		if meta == nil || len(windows) >= len(ph.Windows) {
			return nil, fmt.Errorf("%s: no meta-data or no window of the phase %s belong to it", part.Name, ph.Name)
		}
		w := counts.Window{Units: float64(ph.Windows[len(windows)].Requests)}
		if w.Units == 0 {
			w.Units = 1 // a run
		}
		if w.Counts, err = meta.ReadCounters(data, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", part.Name, err)
		}
		windows = append(windows, w)
	}
	if meta == nil {
		return nil, nil
	}
	return counts.New(meta, windows), nil
}

// Inputs reads the counters of inputs of a recording; nil when it has none.
func Inputs(rec *recording.Recording) (*inputs.Counts, error) {
	if !rec.Has(recording.PartInputs) {
		return nil, nil
	}
	data, err := rec.Bytes(recording.PartInputs)
	if err != nil {
		return nil, err
	}
	c, err := inputs.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recording.PartInputs, err)
	}
	return c, nil
}

// RequestBytes returns the mean size of the requests of a recording's load; 0 when it is not known.
func RequestBytes(rec *recording.Recording) (float64, error) {
	if !rec.Has(recording.PartLoad) {
		return 0, nil
	}
	data, err := rec.Bytes(recording.PartLoad)
	if err != nil {
		return 0, err
	}
	var r load.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return 0, fmt.Errorf("%s: %w", recording.PartLoad, err)
	}
	if r.Requests <= 0 {
		return 0, nil
	}
	return float64(r.BytesOut) / float64(r.Requests), nil
}
