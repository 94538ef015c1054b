package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
)

// latencyPart is the name under which the pages request load.hdr in a form that they can draw.
const latencyPart = "latency.json"

// latencyBins is the histogram of the requests in a recording's clean phase, with bins of equal
// ratio.
type latencyBins struct {
	Of    string       `json:"of"` // "latency", from the schedule, or "service", in a closed loop
	Count int64        `json:"count"`
	Bins  []latencyBin `json:"bins"`
}

// latencyBin counts requests that took at least Low and less than High seconds.
type latencyBin struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Count int64   `json:"count"`
}

// binsPerDecade is fine enough to distinguish two peaks, and coarse enough for visible bars.
const binsPerDecade = 12

// latencyJSON reads load.hdr.
func latencyJSON(rec *recording.Recording) ([]byte, error) {
	part, err := rec.Part(recording.PartLoadHDR)
	if err != nil {
		return nil, err
	}
	intervals, err := histogram.ReadLog(part)
	if cerr := part.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", recording.PartLoadHDR, err)
	}
	sums := map[string]*histogram.Histogram{}
	for _, iv := range intervals {
		if sums[iv.Tag] == nil {
			sums[iv.Tag] = histogram.New()
		}
		sums[iv.Tag].Merge(iv.Hist)
	}
	out := latencyBins{Of: "latency", Bins: []latencyBin{}}
	sum := sums[out.Of]
	if sum == nil || sum.Count() == 0 {
		out.Of = "service"
		sum = sums[out.Of]
	}
	if sum == nil {
		return nil, fmt.Errorf("%s holds no latencies: %w", recording.PartLoadHDR, io.ErrUnexpectedEOF)
	}
	out.Count = sum.Count()
	out.Bins = binned(sum)
	var page bytes.Buffer
	err = render.JSON(&page, out)
	return page.Bytes(), err
}

// binned puts a histogram of nanoseconds into bins, without empty ones.
func binned(h *histogram.Histogram) []latencyBin {
	bins := []latencyBin{}
	last := math.MinInt
	for b := range h.Buckets() {
		bin := int(math.Floor(binsPerDecade * math.Log10(float64(max(1, (b.Low+b.High)/2))/1e9)))
		if bin != last {
			edge := func(i int) float64 { return math.Pow(10, float64(i)/binsPerDecade) }
			bins = append(bins, latencyBin{Low: edge(bin), High: edge(bin + 1)})
			last = bin
		}
		bins[len(bins)-1].Count += b.Count
	}
	return bins
}
