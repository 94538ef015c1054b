// Package symbol reads the names that the Go linker gives to functions: the package,
// whether it is the standard library's or the runtime's, and a form for people.
//
// It looks at the name alone. What only the binary knows (inlining, ABI) is not here.
package symbol
