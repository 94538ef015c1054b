//go:build !unix

package doctor

// readFileLimit: Windows bounds handles by memory, not by a number.
func readFileLimit() fileLimit { return fileLimit{none: true} }
