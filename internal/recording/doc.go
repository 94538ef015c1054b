// Package recording writes and opens .hone files: a zip of standard profile files, with a manifest
// that says how they were taken.
//
// The decision that shapes it: a recording is append-only, and the file on disk is a valid zip
// after every call. Each checkpoint appends the new part, a fresh manifest, a fresh directory and
// the end record:
//
//	part | manifest directory end | part | manifest directory end | …
//
// A zip is read from its end, so the older manifests and directories are dead bytes that no tool
// looks at. When the file ends early (a crash, a full disk, an interrupted copy), Open walks back
// to the last end record whose directory and manifest are intact. All parts up to that checkpoint
// are there; the rest is reported as cut off. There is no journal, no repair step, no second file.
//
// It does not interpret the parts, never changes a finished recording, and trusts no file:
// sizes, counts and names are bounded before anything is read, and Verify compares checksums.
//
// The package also reads the facts about this machine that a manifest carries ([ThisMachine],
// [Throttled]).
package recording
