package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile/report"
)

func TestRawJSONHoldsTheProfile(t *testing.T) {
	var b bytes.Buffer
	page := SamplesPage{Source: "cpu.pprof", View: stacksView(t, nil, report.DefaultOptions())}
	if err := RawJSON(&b, page); err != nil {
		t.Fatal(err)
	}
	type sample struct {
		Values    []int64
		Locations []int
		Labels    []struct{ Key, Text string }
	}
	var raw struct {
		Schema    string
		Source    string
		Samples   []sample
		Locations []struct {
			Lines []struct{ Function, Line int }
		}
		Functions []struct{ Name, File string }
		Mappings  []any
	}
	if err := json.Unmarshal(b.Bytes(), &raw); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	if raw.Schema != "hone/raw/v1" || raw.Source != "cpu.pprof" || raw.Mappings == nil || len(raw.Samples) != 4 {
		t.Errorf("%+v", raw)
	}
	var names []string
	for _, l := range raw.Samples[0].Locations {
		for _, line := range raw.Locations[l-1].Lines {
			names = append(names, raw.Functions[line.Function-1].Name)
		}
	}
	if got, want := strings.Join(names, ";"), "main.leaf;main.G[struct { a int; b int }];main.main"; got != want {
		t.Errorf("stack %q, want %q", got, want)
	}
	want := sample{Values: []int64{2, 20}, Locations: raw.Samples[2].Locations, Labels: []struct{ Key, Text string }{{"k", "v"}}}
	if diff := cmp.Diff(want, raw.Samples[1]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// failAfter accepts n bytes, then fails.
type failAfter struct{ n int }

var errFull = errors.New("full")

func (f *failAfter) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestStreamsReportWriteErrors(t *testing.T) {
	v := stacksView(t, nil, report.DefaultOptions())
	for n := 0; n < 600; n += 50 {
		if err := RawJSON(&failAfter{n}, SamplesPage{View: v}); !errors.Is(err, errFull) {
			t.Errorf("raw, after %d bytes: %v", n, err)
		}
		if err := Speedscope(&failAfter{n}, "", v); !errors.Is(err, errFull) {
			t.Errorf("speedscope, after %d bytes: %v", n, err)
		}
	}
}
