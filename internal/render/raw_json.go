package render

import "io"

// RawJSON writes the JSON form of `hone raw`, one entry per line and one at a time, because there
// can be millions. Samples, lines and locations refer to functions, locations and mappings by their
// number, from 1; 0 is none.
func RawJSON(w io.Writer, page SamplesPage) error {
	type valueType struct {
		Type string `json:"type"`
		Unit string `json:"unit"`
	}
	type sample struct {
		Values    []int64     `json:"values"`
		Locations []int32     `json:"locations"` // leaf first
		Labels    []labelJSON `json:"labels,omitempty"`
	}
	type line struct {
		Function int32 `json:"function"`
		Line     int64 `json:"line,omitempty"`
		Column   int64 `json:"column,omitempty"`
	}
	type location struct {
		Address uint64 `json:"address"`
		Mapping int32  `json:"mapping,omitempty"`
		Folded  bool   `json:"folded,omitempty"`
		Lines   []line `json:"lines,omitempty"` // innermost first
	}
	type function struct {
		Name       string `json:"name"`
		SystemName string `json:"system_name,omitempty"`
		File       string `json:"file,omitempty"`
		StartLine  int64  `json:"start_line,omitempty"`
	}
	type mapping struct {
		Start   uint64 `json:"start"`
		Limit   uint64 `json:"limit"`
		Offset  uint64 `json:"offset"`
		File    string `json:"file,omitempty"`
		BuildID string `json:"build_id,omitempty"`
	}
	p := page.View.Profile
	var types []valueType
	for _, t := range p.SampleTypes {
		types = append(types, valueType(t))
	}
	o := newObjectWriter(w, struct {
		Schema            string      `json:"schema"`
		Source            string      `json:"source"`
		SampleTypes       []valueType `json:"sample_types"`
		DefaultSampleType string      `json:"default_sample_type,omitempty"`
		PeriodType        valueType   `json:"period_type"`
		Period            int64       `json:"period"`
		TimeNanos         int64       `json:"time_nanos,omitempty"`
		DurationNanos     int64       `json:"duration_nanos,omitempty"`
		Comments          []string    `json:"comments,omitempty"`
		Doc               string      `json:"doc_url,omitempty"`
		DropFrames        string      `json:"drop_frames,omitempty"`
		KeepFrames        string      `json:"keep_frames,omitempty"`
	}{
		"hone/raw/v1", page.Source, types, p.DefaultSampleType, valueType(p.PeriodType), p.Period,
		p.TimeNanos, p.DurationNanos, p.Comments, p.DocURL, p.DropFrames, p.KeepFrames,
	})
	s := sample{Locations: []int32{}}
	o.array("samples", p.NumSamples(), func(row int) any {
		s.Labels, s.Locations, s.Values = labelsJSON(p.Labels(row)), s.Locations[:0], s.Values[:0]
		for _, l := range p.Stack(row) {
			s.Locations = append(s.Locations, l+1)
		}
		for i := range p.SampleTypes {
			s.Values = append(s.Values, p.Values(i)[row])
		}
		return &s
	})
	o.array("locations", len(p.Locations), func(i int) any {
		l := &p.Locations[i]
		j := location{Address: l.Address, Mapping: l.Mapping + 1, Folded: l.IsFolded}
		for _, ln := range l.Lines {
			j.Lines = append(j.Lines, line{ln.Func + 1, ln.Line, ln.Column})
		}
		return j
	})
	o.array("functions", len(p.Functions), func(i int) any {
		f := &p.Functions[i]
		return function{f.Name, f.SystemName, f.Filename, f.StartLine}
	})
	o.array("mappings", len(p.Mappings), func(i int) any {
		m := &p.Mappings[i]
		return mapping{m.Start, m.Limit, m.Offset, m.File, m.BuildID}
	})
	return o.end()
}
