package render

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/profile"
)

// diffed compares two CPU profiles of ten seconds with that many samples of 10 ms in each function.
func diffed(t *testing.T, o compare.DiffOptions, duration int64, old, new map[string]int64) *compare.Diff {
	t.Helper()
	source := func(name string, samples map[string]int64) compare.DiffSource {
		b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		for _, fn := range []string{"main.slow", "main.kept", "main.vague", "main.gone", "main.added"} {
			if n := samples[fn]; n > 0 {
				b.Add([]profile.FrameSpec{{Function: fn, File: "/src/x.go", Line: 7}, {Function: "main.main", File: "/src/main.go", Line: 9}}, n, n*10_000_000)
			}
		}
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		p.DurationNanos = duration
		return compare.DiffSource{Name: name, Profile: p, Index: 1, Total: p.Total(1)}
	}
	d, err := compare.NewDiffer(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.AddOld(source("old.pprof", old)); err != nil {
		t.Fatal(err)
	}
	if err := d.AddNew(source("new.pprof", new)); err != nil {
		t.Fatal(err)
	}
	out, err := d.Diff()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDiffPages(t *testing.T) {
	old := map[string]int64{"main.slow": 9000, "main.kept": 500, "main.vague": 400, "main.gone": 300}
	new := map[string]int64{"main.slow": 4000, "main.kept": 505, "main.vague": 460, "main.added": 300}
	o := compare.DiffOptions{Threshold: 0.01}
	lines, paths := o, o
	lines.Granularity = profile.ByLine
	paths.Paths = true
	for _, c := range []struct {
		golden string
		page   DiffPage
	}{
		{"diff.golden", DiffPage{Diff: diffed(t, o, 10e9, old, new), Noun: "function"}},
		{"diff_all.golden", DiffPage{Diff: diffed(t, lines, 10e9, old, new), Noun: "line", Top: -1}},
		{"diff_shares.golden", DiffPage{Diff: diffed(t, paths, 0, old, new), Noun: "path", Top: 1}},
		{"diff_nothing.golden", DiffPage{Diff: diffed(t, o, 10e9, old, old), Noun: "function"}},
	} {
		var b bytes.Buffer
		Diff(&b, c.page, Style{})
		golden(t, c.golden, b.Bytes())
	}
	var b bytes.Buffer
	if err := JSON(&b, diffed(t, o, 10e9, old, new)); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.json.golden", sixDigits(b.Bytes()))
}

// sixDigits rounds the numbers in a text: processors differ in the last digits.
func sixDigits(text []byte) []byte {
	return regexp.MustCompile(`-?\d+\.\d+(e-?\d+)?`).ReplaceAllFunc(text, func(number []byte) []byte {
		x, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return number
		}
		return strconv.AppendFloat(nil, x, 'g', 6, 64)
	})
}
