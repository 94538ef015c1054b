// Package inspect shows functions in detail: their source with costs (List), their machine code
// (Disassemble), or everything that a recording contains about them (Explain).
//
// The decision that shapes it: costs come from the profile and remarks from the compiler, and the
// two are never mixed. A line has a remark only if it is known to be the line that was compiled;
// otherwise the report's notes say why the remark is missing.
package inspect
