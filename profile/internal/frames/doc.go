// Package frames numbers the frames of a profile's locations at a granularity, and sums a column by
// those numbers: the inner loop of every report.
package frames
