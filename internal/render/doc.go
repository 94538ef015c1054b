// Package render draws results: values of the lower floors in, bytes out.
//
// The decision that shapes it: every page is a pure function of a result and a
// Style. Nothing here measures, decides or looks at the surroundings, so pages are
// tested as golden text, with and without colour.
package render
