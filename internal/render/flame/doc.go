// Package flame draws flame graphs: as one HTML file that works offline, and as SVG.
//
// One decision shapes it: the layout is data, made in Go by report.Flame, and
// the page only draws the boxes it is given. The widest few thousand boxes are
// all that a screen can show, so the page of a profile of any size is small, and
// the page says what was left out.
//
// The script is plain ES modules with JSDoc types below page/, put into the
// file as they are, without their import and export words. The file loads
// nothing: a content security policy in its head forbids it to.
package flame
