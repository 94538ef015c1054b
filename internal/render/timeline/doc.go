// Package timeline draws a window of an execution trace: as one HTML page that works
// offline, with zoom, keys and who woke whom, and as a still SVG. It draws what
// exectrace/timeline gathered, which is no more than a page can show.
package timeline
