package probe

import (
	hone0metrics "runtime/metrics"
	hone0strconv "strconv"
)

// hone0readMetrics reads runtime/metrics: a line "NAME VALUE" for each number, and
// "NAME h COUNT P50 P99 MAX" for each histogram.
func hone0readMetrics() []byte {
	all := hone0metrics.All()
	samples := make([]hone0metrics.Sample, len(all))
	for i := range all {
		samples[i].Name = all[i].Name
	}
	hone0metrics.Read(samples)
	var out []byte
	for _, s := range samples {
		switch s.Value.Kind() {
		case hone0metrics.KindUint64:
			out = hone0appendMetric(out, s.Name, float64(s.Value.Uint64()))
		case hone0metrics.KindFloat64:
			out = hone0appendMetric(out, s.Name, s.Value.Float64())
		case hone0metrics.KindFloat64Histogram:
			h := s.Value.Float64Histogram()
			if h == nil {
				continue
			}
			out = append(out, s.Name...)
			out = append(out, " h "...)
			n := hone0count(h.Counts)
			out = hone0strconv.AppendUint(out, n, 10)
			for _, rank := range []uint64{(n + 1) / 2, n - n/100, n} {
				out = append(out, ' ')
				out = hone0strconv.AppendFloat(out, hone0quantile(h, rank), 'g', -1, 64)
			}
			out = append(out, '\n')
		}
	}
	return out
}

// hone0since returns a metric in seconds, minus others that are parts of it, in nanoseconds; -1 if
// the runtime does not have them all.
func hone0since(name string, parts ...string) int64 {
	samples := []hone0metrics.Sample{{Name: name}}
	for _, part := range parts {
		samples = append(samples, hone0metrics.Sample{Name: part})
	}
	hone0metrics.Read(samples)
	seconds := 0.0
	for i, s := range samples {
		switch {
		case s.Value.Kind() != hone0metrics.KindFloat64:
			return -1
		case i == 0:
			seconds = s.Value.Float64()
		default:
			seconds -= s.Value.Float64()
		}
	}
	return int64(seconds * 1e9)
}

func hone0appendMetric(out []byte, name string, v float64) []byte {
	out = append(out, name...)
	out = append(out, ' ')
	out = hone0strconv.AppendFloat(out, v, 'g', -1, 64)
	return append(out, '\n')
}

func hone0count(counts []uint64) uint64 {
	n := uint64(0)
	for _, c := range counts {
		n += c
	}
	return n
}

// hone0quantile is the upper bound of the bucket that holds the value of that rank
// (from 1), or its lower bound where the bucket is open to infinity. Without
// values it is 0.
func hone0quantile(h *hone0metrics.Float64Histogram, rank uint64) float64 {
	seen := uint64(0)
	for i, c := range h.Counts {
		seen += c
		if c == 0 || seen < rank {
			continue
		}
		low, high := h.Buckets[i], h.Buckets[i+1]
		if high > 1.7e308 {
			return low
		}
		return high
	}
	return 0
}
