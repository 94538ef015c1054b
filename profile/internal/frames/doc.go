// Package frames numbers what stands in a profile's locations at a granularity, and
// sums a column by those numbers: the loop that every report goes through.
package frames
