// Package inspect looks closely at functions: their source with costs (List), their machine code (Disassemble), or
// everything that a recording knows of them (Explain).
//
// The decision that shapes it: costs come from the profile and remarks from the compiler, and the two never
// mix. A remark stands on a line only when the line is known to be the one that was compiled; otherwise the
// report's notes say why it is missing.
package inspect
