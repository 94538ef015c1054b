// Package disasm turns the machine code of a Go program back into instructions, each with
// the source line that it came from and the calls that were inlined there.
//
// One decision shapes it: the runtime's own function table (pclntab) is the truth about Go
// code, not the symbol table and not DWARF. It is in every Go binary, also in one that was
// stripped with -s -w, it knows where every function begins, and with the inline trees it tells
// the chain of calls of each instruction. Symbols add what the table does not know: C
// functions, and names of data.
//
// It reads ELF, Mach-O and PE files with the standard library and decodes with
// golang.org/x/arch; no external tool is run. Only the bytes of the functions that are asked
// for are read. Files are not trusted: offsets are checked, and what cannot be right is an
// error or is left out.
//
// Addresses are those in the file. Where the system loaded the program elsewhere
// (position-independent executables), Bias is the difference.
//
// What it refuses: to guess instructions. Bytes that the decoder does not know are "?" (on arm64
// those are the atomics of version 8.1, which go tool objdump does not know either); the next line's first
// instruction is in step again.
package disasm
