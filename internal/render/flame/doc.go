// Package flame draws flame graphs as one HTML file that works offline, or as SVG.
//
// The layout is computed in Go by report.Flame; the page only draws the boxes that it is given. A
// screen cannot show more than the widest few thousand boxes, so the page is small for a profile of
// any size, and it says what was left out.
//
// The script consists of plain ES modules with JSDoc types, in page/. They are put into the file
// unchanged, except for import and export statements. The content security policy of the file
// forbids it to load anything.
package flame
