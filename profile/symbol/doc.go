// Package symbol reads the names that the Go linker gives to functions: the package, whether it
// belongs to the standard library or the runtime, and a readable form.
//
// It looks only at the name. What only the binary knows (inlining, ABI) is not here.
package symbol
