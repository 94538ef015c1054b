package profile

import "path"

// Frame is a row of a report at some granularity. Equal frames are one row. A field that the
// granularity does not have is zero.
type Frame struct {
	Name         string // function; "[file of the mapping]" or "<unknown>" without a symbol
	File         string // cleaned by path.Clean
	Line, Column int64
	Address      uint64
}

// Granularity says what a row of a report is.
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

// Frame returns the frame of a line of a function. Column and address belong to the location; the
// caller sets them.
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

// cleanFile returns a file name without "//" and "/../", as pprof compares them.
func cleanFile(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}
