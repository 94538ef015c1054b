// Package frames numbers what is in a profile's locations at a granularity, and
// sums a column by those numbers: the loop that every report goes through.
package frames
