//go:build !unix

package doctor

// readFileLimit returns no limit: Windows limits handles by memory, not by number.
func readFileLimit() fileLimit { return fileLimit{none: true} }
