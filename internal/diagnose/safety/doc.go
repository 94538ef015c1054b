// Package safety finds code for which faster code would be less secure: values that must not be
// predictable, and texts that may be read as commands.
package safety
