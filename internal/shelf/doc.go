// Package shelf keeps the recordings in hone's cache: it names them, finds them, labels them, and
// removes old ones.
//
// The one decision: recordings are removed by size and age, never by count, and only if they have
// no label. A recording with a label stays until the user removes it, and does not count towards
// the size limit. A label is in a file beside the recording, so that two processes can label two
// recordings at the same time.
//
// It does not touch files outside its directory, or files that are not recordings.
package shelf
