// Package safety knows when advice that makes code faster would make it less
// secure: values that must not be guessed, and texts that may be read as commands.
package safety
