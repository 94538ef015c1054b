// Package units writes quantities the way a sentence wants them: two digits that mean
// something, and a unit. Tables, which need columns that line up, have their own ways in
// internal/render.
package units
