package histogram_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/histogram"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// counts are a histogram's buckets, compared without the exact values.
func counts(h *histogram.Histogram) []histogram.Bucket {
	return slices.Collect(h.Buckets())
}

func TestLogKeepsEveryCountInItsBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := record(values().Draw(t, "a")), record(values().Draw(t, "b"))
		start := time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "start"))
		in := []histogram.Interval{
			{Tag: "latency", Start: start, Length: 1500 * time.Millisecond, Hist: a},
			{Start: start.Add(time.Second), Length: time.Second, Hist: b},
		}
		var log bytes.Buffer
		if err := histogram.WriteLog(&log, in); err != nil {
			t.Fatal(err)
		}
		out, err := histogram.ReadLog(&log)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != len(in) {
			t.Fatalf("%d intervals came back, want %d", len(out), len(in))
		}
		for i := range in {
			if out[i].Tag != in[i].Tag || !out[i].Start.Equal(in[i].Start) || out[i].Length != in[i].Length {
				t.Fatalf("interval %d came back as %q %v %v", i, out[i].Tag, out[i].Start, out[i].Length)
			}
			if d := cmp.Diff(counts(in[i].Hist), counts(out[i].Hist)); d != "" {
				t.Fatalf("interval %d (-written +read):\n%s", i, d)
			}
		}
	})
}

// The library's own reader must read what this package writes.
func TestLogIsReadByHdrHistogram(t *testing.T) {
	h := record([]int64{1e6, 2e6, 3e6, 500e6})
	var log bytes.Buffer
	err := histogram.WriteLog(&log, []histogram.Interval{{Tag: "x", Start: time.Unix(1.7e9, 0), Length: time.Second, Hist: h}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := hdrhistogram.NewHistogramLogReader(&log).NextIntervalHistogram()
	if err != nil || got == nil {
		t.Fatalf("no interval: %v", err)
	}
	if got.Tag() != "x" || got.TotalCount() != 4 || got.StartTimeMs() != 1.7e12 {
		t.Errorf("read tag %q, %d counts, start %d", got.Tag(), got.TotalCount(), got.StartTimeMs())
	}
	if !got.ValuesAreEquivalent(got.Max(), h.Max()) {
		t.Errorf("max %d, want %d", got.Max(), h.Max())
	}
}

func TestPercentilesGolden(t *testing.T) {
	h := histogram.New()
	for i := int64(1); i <= 1000; i++ {
		h.Record(i * 1e5)
	}
	h.Record(2e9)
	var got bytes.Buffer
	if err := h.WritePercentiles(&got, 1e6); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/percentiles.txt"
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Fatalf("percentiles (-want +got):\n%s", d)
	}
	if err := h.WritePercentiles(&got, 0); err == nil {
		t.Error("a unit of zero was accepted")
	}
}

func TestReadLogSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"fields", "#x\n1,2,3\n", "line 2: 3 fields"},
		{"start", "a,1,1,HIST\n", `line 1: start: "a" is not a number of seconds`},
		{"length", "1,NaN,1,HIST\n", `line 1: length: "NaN"`},
		{"payload", "\n\n1,1,1,HISTgarbage\n", "line 3: histogram: "},
		{"tag", "Tag=a\n", "line 1: a tag without an interval"},
		{"base", "#[BaseTime: x (seconds since epoch)]\n", "line 1: base time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := histogram.ReadLog(strings.NewReader(c.log))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
		})
	}
	if err := histogram.WriteLog(&bytes.Buffer{}, []histogram.Interval{{Tag: "a b", Hist: histogram.New()}}); err == nil {
		t.Error("a tag with a space was accepted")
	}
}

func FuzzReadLog(f *testing.F) {
	var log bytes.Buffer
	h := record([]int64{1, 1000, 1e6, 1e9})
	if err := histogram.WriteLog(&log, []histogram.Interval{{Tag: "t", Start: time.Unix(1, 0), Hist: h}}); err != nil {
		f.Fatal(err)
	}
	f.Add(log.Bytes())
	f.Add([]byte("#[BaseTime: 12.5 (seconds since epoch)]\n1,1,1,HISTFAAAAA\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		intervals, err := histogram.ReadLog(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, iv := range intervals {
			if n := iv.Hist.Count(); n < 0 {
				t.Fatalf("negative count %d", n)
			}
		}
	})
}

// The counterpart of BenchmarkRecord, at the precision that others use for latencies.
func BenchmarkRecordHdrHistogram(b *testing.B) {
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	vs := latencies()
	i := 0
	for b.Loop() {
		if err := h.RecordValue(vs[i&1023]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
