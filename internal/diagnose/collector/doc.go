// Package collector says how the garbage collector is set and what it costs the program.
package collector
