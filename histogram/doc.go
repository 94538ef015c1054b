// Package histogram holds latency distributions in fixed memory.
//
// It exists because a list of samples grows with the load and a mean hides
// what hurts. The one decision that shapes it: buckets are log-linear, 128 to
// a power of two, over the whole range of an int64. So nobody has to know the
// range of the values beforehand, two histograms always merge bucket by bucket,
// a value is found again within 0.4 % (exactly below 256), and recording is a
// shift, an addition and no branch on data that grows. Count, sum, minimum and
// maximum are kept exactly; the maximum is the value that was recorded, never
// the edge of its bucket.
//
// It refuses to interpolate between buckets, to correct values for what a slow
// caller did not send (record from the scheduled time instead), and to lock:
// keep one a worker and Merge.
//
// Other tools read its results through the HdrHistogram formats: the percentile
// distribution that hdrplot draws (WritePercentiles) and the interval log
// (WriteLog, ReadLog). See http://hdrhistogram.org.
package histogram
