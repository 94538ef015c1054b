// Package recording writes and opens .hone files: a zip of standard profile
// files and a manifest that says how they were had.
//
// The decision that shapes it: a recording is append-only, and the file on disk
// is a whole zip after every call. Each checkpoint appends the new part, a fresh
// manifest, a fresh directory and the end record:
//
//	part | manifest directory end | part | manifest directory end | …
//
// A zip is read from its end, so the older manifests and directories are dead
// bytes that no tool looks at. When the file ends early (a crash, a full disk, a
// copy that broke off), Open walks back to the last end record whose directory
// and manifest read well: all parts up to that checkpoint are there, the rest is
// named as cut off. No journal, no repair step, no second file.
//
// What it refuses to do: it knows nothing of what the parts mean, it never
// changes a finished recording, and it trusts no file. Sizes, counts and names
// are bounded before anything is read, and Verify compares checksums.
//
// The package also reads the facts about this machine that a manifest carries
// ([ThisMachine], [Throttled]).
package recording
