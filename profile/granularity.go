package profile

import "path"

// Frame is what a row of a report stands for, at some granularity. Frames that are
// equal count as one. A field that the granularity does not have is zero.
type Frame struct {
	Name         string // function; "[file of the mapping]" or "<unknown>" without a symbol
	File         string // as path.Clean has it
	Line, Column int64
	Address      uint64
}

// Granularity is what a row of a report stands for.
type Granularity int

// The granularities that pprof calls functions, filefunctions, files, lines and
// addresses. A file is one row here; pprof has a row for each of its functions.
const (
	ByFunction Granularity = iota
	ByFileFunction
	ByFile
	ByLine
	ByAddress // with function, file, line and column
)

// Frame returns the frame that a line of a function counts for. Column and address,
// which are the location's, are left to the caller.
func (g Granularity) Frame(fn *Function, line int64) Frame {
	k := Frame{Name: fn.Name}
	if g != ByFunction {
		k.File = cleanFile(fn.Filename)
	}
	switch g {
	case ByFile:
		k.Name = ""
	case ByLine, ByAddress:
		k.Line = line
	}
	return k
}

// cleanFile is a file name without "//" and "/../", as pprof compares them.
func cleanFile(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}
