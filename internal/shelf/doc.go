// Package shelf keeps the recordings in hone's cache: it names them, finds them, labels them, and
// removes old ones.
//
// The one decision: a recording is removed by size and age, never by count, and only if nobody
// labelled it. What a user keeps under a label stays until they remove it, and is not counted
// against the limit of size. A label is in a file beside the recording, so that two processes
// that label two recordings do not meet.
//
// It refuses to touch files outside its folder, and files that are no recordings.
package shelf
