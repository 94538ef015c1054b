// Package capture runs the phases of a recording: load and collectors side by side.
package capture
