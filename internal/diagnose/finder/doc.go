// Package finder finds the lines that rules are about, starting from what the profile shows.
package finder
