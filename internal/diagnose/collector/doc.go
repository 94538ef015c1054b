// Package collector describes the settings of the garbage collector and what it costs the program.
package collector
