// Package timeline draws a window of an execution trace: as one HTML page that works offline, with
// zoom, keyboard control and wake-ups, or as a static SVG. It draws the result of
// exectrace/timeline, which is limited to what a page can show.
package timeline
