// Package funcname parses the names of functions, as profiles and the type checker write them.
package funcname
