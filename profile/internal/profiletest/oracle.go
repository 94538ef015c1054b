package profiletest

import (
	"bytes"
	"fmt"
	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile"
)

// Describe writes down everything a profile says, with tables numbered in
// order, so that two profiles can be compared whatever ids their files use.
func Describe(p *google.Profile) string {
	for i, m := range p.Mapping {
		m.ID = uint64(i + 1)
	}
	for i, f := range p.Function {
		f.ID = uint64(i + 1)
	}
	for i, l := range p.Location {
		l.ID = uint64(i + 1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "drop %q keep %q default %q doc %q time %d duration %d period %v %d comments %q\n",
		p.DropFrames, p.KeepFrames, p.DefaultSampleType, p.DocURL, p.TimeNanos, p.DurationNanos, *p.PeriodType, p.Period, p.Comments)
	for _, f := range p.Function {
		fmt.Fprintf(&b, "function %d %q %q %q %d\n", f.ID, f.Name, f.SystemName, f.Filename, f.StartLine)
	}
	for _, s := range p.Sample {
		// String prints units only where it likes.
		fmt.Fprintf(&b, "labels %q %v %q\n", s.Label, s.NumLabel, s.NumUnit)
	}
	b.WriteString(p.String())
	return b.String()
}

// ToGoogle sends a profile through Encode and google/pprof's parser.
func ToGoogle(t testing.TB, p *profile.Profile) *google.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	g, err := google.Parse(&b)
	if err != nil {
		t.Fatalf("google/pprof cannot read what Encode wrote: %v", err)
	}
	return g
}

// FromGoogle sends a profile through google/pprof's writer and Decode.
func FromGoogle(t testing.TB, g *google.Profile) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(&b, 0)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	return p
}

func Same(t testing.TB, what string, want, got *google.Profile) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(Describe(want), "\n"), strings.Split(Describe(got), "\n")); diff != "" {
		t.Fatalf("%s differs from google/pprof (-google +hone):\n%s", what, diff)
	}
}

// Any draws profiles with everything the format has. With sequential
// false ids are any numbers.
func Any(sequential bool) *rapid.Generator[*google.Profile] {
	return rapid.Custom(func(t *rapid.T) *google.Profile {
		id := func(kind string) *rapid.Generator[uint64] {
			return rapid.OneOf(rapid.Uint64Range(1, 40), rapid.Uint64Range(1<<30, 1<<33), rapid.Uint64Min(1))
		}
		ids := func(kind string, n int) []uint64 {
			if sequential {
				out := make([]uint64, n)
				for i := range out {
					out[i] = uint64(i + 1)
				}
				return out
			}
			return rapid.SliceOfNDistinct(id(kind), n, n, rapid.ID).Draw(t, kind+" ids")
		}
		text := rapid.SampledFrom([]string{"", "a", "b", "main.f", "main.g", "(*T).m", "dir/a.go", "dir/b.go", "x y", "ü"})
		name := rapid.SampledFrom([]string{"main.f", "main.g", "main.(*T).m", "runtime.mallocgc", "runtime.main", "lib.F[...]", "operator()(int)"})
		small := rapid.Int64Range(-3, 12)

		p := &google.Profile{
			DefaultSampleType: text.Draw(t, "default"), DropFrames: text.Draw(t, "drop"), KeepFrames: text.Draw(t, "keep"),
			DocURL: text.Draw(t, "doc"), TimeNanos: rapid.Int64Range(1, 1e18).Draw(t, "time"), DurationNanos: small.Draw(t, "duration"),
			PeriodType: &google.ValueType{Type: text.Draw(t, "period type"), Unit: "ns"}, Period: small.Draw(t, "period"),
			Comments: rapid.SliceOfN(text, 0, 4).Draw(t, "comments"),
		}
		for range rapid.IntRange(1, 4).Draw(t, "types") {
			p.SampleType = append(p.SampleType, &google.ValueType{Type: text.Draw(t, "type"), Unit: text.Draw(t, "unit")})
		}
		for _, id := range ids("mapping", rapid.IntRange(0, 3).Draw(t, "mappings")) {
			bit := func() bool { return rapid.Bool().Draw(t, "has") }
			p.Mapping = append(p.Mapping, &google.Mapping{ID: id, Start: 0x1000 * id, Limit: 0x1000*id + 0x800, Offset: uint64(small.Draw(t, "offset") + 3),
				File: text.Draw(t, "file"), BuildID: text.Draw(t, "build id"), HasFunctions: bit(), HasFilenames: bit(), HasLineNumbers: bit(), HasInlineFrames: bit()})
		}
		for _, id := range ids("function", rapid.IntRange(1, 8).Draw(t, "functions")) {
			p.Function = append(p.Function, &google.Function{ID: id, Name: name.Draw(t, "name"), SystemName: text.Draw(t, "system name"),
				Filename: rapid.SampledFrom([]string{"dir/a.go", "dir/b.go"}).Draw(t, "filename"), StartLine: small.Draw(t, "start line")})
		}
		for _, id := range ids("location", rapid.IntRange(1, 12).Draw(t, "locations")) {
			l := &google.Location{ID: id, Address: rapid.Uint64Range(0, 9).Draw(t, "address"), IsFolded: rapid.Bool().Draw(t, "folded")}
			if len(p.Mapping) > 0 && rapid.Bool().Draw(t, "mapped") {
				l.Mapping = rapid.SampledFrom(p.Mapping).Draw(t, "mapping")
				l.Address += l.Mapping.Start
			}
			for range rapid.IntRange(0, 3).Draw(t, "lines") {
				l.Line = append(l.Line, google.Line{Function: rapid.SampledFrom(p.Function).Draw(t, "function"), Line: small.Draw(t, "line"), Column: small.Draw(t, "column")})
			}
			p.Location = append(p.Location, l)
		}
		for range rapid.IntRange(0, 20).Draw(t, "samples") {
			s := &google.Sample{}
			for range rapid.IntRange(0, 6).Draw(t, "depth") {
				s.Location = append(s.Location, rapid.SampledFrom(p.Location).Draw(t, "location"))
			}
			for range p.SampleType {
				s.Value = append(s.Value, rapid.OneOf(small, rapid.Int64Range(-1<<40, 1<<40)).Draw(t, "value"))
			}
			anyLabels(t, s)
			p.Sample = append(p.Sample, s)
		}
		return p
	})
}

// anyLabels gives a sample labels that survive google/pprof's own round trip:
// it drops texts and numbers that are their field's default.
func anyLabels(t *rapid.T, s *google.Sample) {
	key := rapid.SampledFrom([]string{"tenant", "bytes", "a"})
	for range rapid.IntRange(0, 2).Draw(t, "labels") {
		if s.Label == nil {
			s.Label = map[string][]string{}
		}
		k := key.Draw(t, "key")
		s.Label[k] = append(s.Label[k], rapid.SampledFrom([]string{"x", "y", "1"}).Draw(t, "label"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "numbers") {
		if s.NumLabel == nil {
			s.NumLabel, s.NumUnit = map[string][]int64{}, map[string][]string{}
		}
		k := key.Draw(t, "key")
		s.NumLabel[k] = append(s.NumLabel[k], rapid.Int64Range(1, 5).Draw(t, "number"))
		s.NumUnit[k] = append(s.NumUnit[k], rapid.SampledFrom([]string{"", "kb", "s"}).Draw(t, "unit"))
	}
}

// Reparse normalises a generated profile by google/pprof's own round trip.
func Reparse(t testing.TB, g *google.Profile) *google.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := g.Write(&b); err != nil {
		t.Fatal(err)
	}
	out, err := google.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Series draws profiles of one program: they share types and tables.
func Series(t *rapid.T, n int) []*google.Profile {
	first := Any(true).Draw(t, "profile")
	series := []*google.Profile{first}
	for len(series) < n {
		p := first.Copy()
		p.Sample = nil
		for _, s := range first.Copy().Sample {
			if rapid.Bool().Draw(t, "keep") {
				c := &google.Sample{Label: s.Label, NumLabel: s.NumLabel, NumUnit: s.NumUnit, Value: s.Value}
				for _, l := range s.Location {
					c.Location = append(c.Location, p.Location[l.ID-1])
				}
				p.Sample = append(p.Sample, c)
			}
		}
		if rapid.Bool().Draw(t, "moved") { // loaded at another address
			for _, m := range p.Mapping {
				m.Start, m.Limit = m.Start+0x10000, m.Limit+0x10000
			}
			for _, l := range p.Location {
				if l.Mapping != nil {
					l.Address += 0x10000
				}
			}
		}
		p.TimeNanos = rapid.Int64Range(1, 1e18).Draw(t, "time")
		series = append(series, p)
	}
	return series
}
