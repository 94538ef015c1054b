// Package render draws results: values of the lower floors in, bytes out.
//
// Every page is a pure function of a result and a Style. Nothing here measures, decides or reads
// the environment, so pages are tested with golden files, with and without colour.
package render
