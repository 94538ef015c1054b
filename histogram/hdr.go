package histogram

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hdrDigits is the precision of the HdrHistograms that are written: 1024 buckets per power of two.
// They subdivide the buckets of this package, so counts return to the same buckets when they are
// read.
const hdrDigits = 3

// Interval is a histogram of a time interval: a line of a log.
type Interval struct {
	Tag    string    // name of the series; "" = none
	Start  time.Time // to the millisecond in a log
	Length time.Duration
	Hist   *Histogram // nanoseconds
}

// hdr returns h as an HdrHistogram with 3 significant digits. Counts are at the middle of their
// bucket; minimum and maximum are exact.
func (h *Histogram) hdr() *hdrhistogram.Histogram {
	out := hdrhistogram.New(1, max(h.max, 2), hdrDigits)
	record := func(v, n int64) {
		// RecordValues cannot fail: 0 ≤ v ≤ h.max.
		if err := out.RecordValues(v, n); err != nil {
			panic(fmt.Sprintf("histogram: %d × %d: %v", n, v, err))
		}
	}
	for b := range h.Buckets() {
		n := b.Count
		if h.min >= b.Low && h.min <= b.High {
			record(h.min, 1)
			n--
		}
		if n > 0 && h.max >= b.Low && h.max <= b.High {
			record(h.max, 1)
			n--
		}
		if n > 0 {
			record(min(max(b.Low+(b.High-b.Low)/2, h.min), h.max), n)
		}
	}
	return out
}

// fromHDR returns the counts of o. Minimum, maximum and mean are known only to the width of o's
// buckets.
func fromHDR(o *hdrhistogram.Histogram) *Histogram {
	h := New()
	for _, bar := range o.Distribution() {
		h.RecordN(bar.From+(bar.To-bar.From)/2, bar.Count)
	}
	return h
}

// WritePercentiles writes h as HdrHistogram's percentile distribution, which
// hdrplot (http://hdrhistogram.github.io/HdrHistogram/plotFiles.html) draws.
// Values are divided by unit: 1e6 prints nanoseconds as milliseconds.
func (h *Histogram) WritePercentiles(w io.Writer, unit float64) error {
	if !(unit > 0) || math.IsInf(unit, 1) {
		return fmt.Errorf("write percentiles: unit %v is not a positive number", unit)
	}
	_, err := h.hdr().PercentilesPrint(w, 5, unit)
	return err
}

// WriteLog writes intervals as an HdrHistogram interval log (format 1.3,
// payloads in the V2 encoding), maxima in milliseconds as other writers do.
// A tag may hold neither commas nor white space.
func WriteLog(w io.Writer, intervals []Interval) error {
	b := bufio.NewWriter(w)
	log := hdrhistogram.NewHistogramLogWriter(b)
	if err := log.OutputLogFormatVersion(); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	if len(intervals) > 0 {
		if err := log.OutputStartTime(intervals[0].Start.UnixMilli()); err != nil {
			return fmt.Errorf("write histogram log: %w", err)
		}
	}
	if err := log.OutputLegend(); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	for _, iv := range intervals {
		if strings.ContainsAny(iv.Tag, ", \t\r\n") {
			return fmt.Errorf("write histogram log: tag %q holds a comma or white space", iv.Tag)
		}
		h := iv.Hist.hdr()
		h.SetTag(iv.Tag)
		h.SetStartTimeMs(iv.Start.UnixMilli())
		h.SetEndTimeMs(iv.Start.Add(iv.Length).UnixMilli())
		if err := log.OutputIntervalHistogram(h); err != nil {
			return fmt.Errorf("write histogram log: %w", err)
		}
	}
	return b.Flush()
}

// maxLogLine is the maximum length of a line of a log. The largest possible payload is shorter.
const maxLogLine = 16 << 20

// ReadLog reads an HdrHistogram interval log with payloads in the V2 encoding, which all current
// writers use. Errors name the line.
func ReadLog(r io.Reader) ([]Interval, error) {
	var out []Interval
	var base float64 // seconds since the epoch that time stamps are relative to
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLogLine)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "#[BaseTime: "); ok {
			text, _, _ := strings.Cut(rest, " ")
			v, err := seconds(text)
			if err != nil {
				return nil, fmt.Errorf("histogram log, line %d: base time: %w", number, err)
			}
			base = v
			continue
		}
		if line == "" || line[0] == '#' || line[0] == '"' {
			continue
		}
		iv, err := parseInterval(line, base)
		if err != nil {
			return nil, fmt.Errorf("histogram log, line %d: %w", number, err)
		}
		out = append(out, iv)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("histogram log, line %d: %w", number+1, err)
	}
	return out, nil
}

// parseInterval reads [Tag=NAME,]START,LENGTH,MAX,PAYLOAD.
func parseInterval(line string, base float64) (Interval, error) {
	var iv Interval
	if rest, ok := strings.CutPrefix(line, "Tag="); ok {
		iv.Tag, line, ok = strings.Cut(rest, ",")
		if !ok {
			return iv, errors.New("a tag without an interval")
		}
	}
	f := strings.Split(line, ",")
	if len(f) != 4 {
		return iv, fmt.Errorf("%d fields, want start,length,max,histogram", len(f))
	}
	start, err := seconds(f[0])
	if err != nil {
		return iv, fmt.Errorf("start: %w", err)
	}
	length, err := seconds(f[1])
	if err != nil {
		return iv, fmt.Errorf("length: %w", err)
	}
	h, err := hdrhistogram.Decode([]byte(f[3]))
	if err != nil {
		return iv, fmt.Errorf("histogram: %w", err)
	}
	iv.Start = time.UnixMilli(int64(math.Round((base + start) * 1e3)))
	iv.Length = time.Duration(math.Round(length*1e3)) * time.Millisecond
	iv.Hist = fromHDR(h)
	return iv, nil
}

// seconds parses a number of seconds within the range of a time.Time.
func seconds(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(v) < 1e9*9) {
		return 0, fmt.Errorf("%q is not a number of seconds", s)
	}
	return v, nil
}
