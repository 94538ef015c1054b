// Package histogram holds latency distributions in fixed memory.
//
// Buckets are log-linear, 128 per power of two, over the whole range of an int64. The range of the
// values need not be known beforehand, any two histograms merge bucket by bucket, and a value is
// reproduced to within 0.4 % (exactly below 256). Count, sum, minimum and maximum are exact.
//
// It does not interpolate between buckets, does not correct for requests that a slow caller did not
// send (record from the scheduled time instead), and does not lock: keep one histogram per worker
// and merge them.
//
// It reads and writes the formats of HdrHistogram: the percentile distribution that hdrplot draws
// ([Histogram.WritePercentiles]) and the interval log ([WriteLog], [ReadLog]). See
// http://hdrhistogram.org.
package histogram
