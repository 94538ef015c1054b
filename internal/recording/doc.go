// Package recording writes and opens .hone files: a zip of standard profile
// files and a manifest that says how they were had.
package recording
