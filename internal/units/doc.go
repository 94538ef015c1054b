// Package units formats quantities for sentences: two significant digits, and a unit. Tables, whose
// columns must be aligned, are formatted in internal/render.
package units
