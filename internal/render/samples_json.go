package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

type labelJSON struct {
	Key  string `json:"key"`
	Text string `json:"text,omitempty"`
	Num  *int64 `json:"number,omitempty"`
	Unit string `json:"unit,omitempty"`
}

func labelsJSON(labels []profile.Label) []labelJSON {
	var out []labelJSON
	for _, l := range labels {
		j := labelJSON{Key: l.Key, Text: l.Str}
		if l.Str == "" {
			j.Num, j.Unit = &l.Num, l.Unit
		}
		out = append(out, j)
	}
	return out
}

// TracesJSON writes the JSON form of `hone traces`, one trace per line and one at a time, because
// there can be millions.
func TracesJSON(w io.Writer, p SamplesPage) error {
	type frame struct {
		Function string `json:"function,omitempty"`
		Readable string `json:"readable,omitempty"` // readable name of the function, if it differs
		File     string `json:"file,omitempty"`
		Line     int64  `json:"line,omitempty"`
		Column   int64  `json:"column,omitempty"`
		Address  uint64 `json:"address,omitempty"`
		Inlined  bool   `json:"inlined,omitempty"`
	}
	type trace struct {
		Value  int64       `json:"value"`
		Labels []labelJSON `json:"labels,omitempty"`
		Frames []frame     `json:"frames"` // leaf first
	}
	w = screen.JSON(w)
	head, err := json.MarshalIndent(struct {
		Schema     string `json:"schema"`
		Source     string `json:"source"`
		SampleType string `json:"sample_type"`
		Unit       string `json:"unit"`
		Total      int64  `json:"total"`
	}{"hone/traces/v1", p.Source, p.View.SampleType.Type, p.View.SampleType.Unit, p.View.Total}, "", "  ")
	if err != nil {
		return err
	}
	w.Write(bytes.TrimSuffix(head, []byte("\n}")))
	io.WriteString(w, ",\n  \"traces\": [")
	rows, traces := p.View.Traces()
	readable := make([]string, len(rows))
	for i := range rows {
		readable[i] = readableIfOther(rows[i].Name)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var row trace
	separator := "\n    "
	for t := range traces {
		row.Value, row.Labels, row.Frames = t.Value, labelsJSON(p.View.Profile.Labels(t.Sample)), row.Frames[:0]
		for _, f := range t.Frames {
			r := &rows[f.Row]
			row.Frames = append(row.Frames, frame{r.Name, readable[f.Row], r.File, r.Line, r.Column, r.Address, f.Inlined})
		}
		io.WriteString(w, separator)
		if err := enc.Encode(row); err != nil { // Encode adds a line end
			return err
		}
		separator = "    ,"
	}
	_, err = io.WriteString(w, "  ]\n}\n")
	return err
}

// TagsJSON is the form of `hone tags -json`.
func TagsJSON(p SamplesPage, tags []report.Tag) any {
	type value struct {
		Text  string `json:"text"`
		Value int64  `json:"value"`
	}
	type tag struct {
		Key    string  `json:"key"`
		Total  int64   `json:"total"`
		Values []value `json:"values"`
	}
	rows := []tag{}
	for _, t := range tags {
		row := tag{Key: t.Key, Total: t.Total}
		for _, v := range t.Values {
			row.Values = append(row.Values, value(v))
		}
		rows = append(rows, row)
	}
	return struct {
		Schema     string `json:"schema"`
		Source     string `json:"source"`
		SampleType string `json:"sample_type"`
		Unit       string `json:"unit"`
		Total      int64  `json:"total"`
		Tags       []tag  `json:"tags"`
	}{"hone/tags/v1", p.Source, p.View.SampleType.Type, p.View.SampleType.Unit, p.View.Total, rows}
}

// CommentsJSON is the form of `hone comments -json`.
func CommentsJSON(p SamplesPage) any {
	comments := p.View.Profile.Comments
	if comments == nil {
		comments = []string{}
	}
	return struct {
		Schema   string   `json:"schema"`
		Source   string   `json:"source"`
		Comments []string `json:"comments"`
		Doc      string   `json:"doc_url,omitempty"`
	}{"hone/comments/v1", p.Source, comments, p.View.Profile.DocURL}
}
