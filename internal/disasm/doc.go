// Package disasm turns the machine code of a Go program into instructions, each with its source
// line and the calls that were inlined there.
//
// One decision shapes it: the runtime's own function table (pclntab) is the truth about Go code,
// not the symbol table and not DWARF. Every Go binary has it, even one that was stripped with -s
// -w. It has the start of every function and, with the inline trees, the chain of calls of each
// instruction. Symbols add what the table does not have: C functions, and names of data.
//
// It reads ELF, Mach-O and PE files with the standard library and decodes with golang.org/x/arch;
// it runs no external tool. It reads only the bytes of the requested functions. Files are not
// trusted: offsets are checked, and what cannot be right is an error or is left out.
//
// Addresses are those in the file. If the system loaded the program elsewhere (position-independent
// executables), Bias is the difference.
//
// It does not guess instructions: bytes that the decoder does not know are "?" (on arm64 those are
// the atomics of version 8.1, which go tool objdump does not know either); decoding is aligned
// again at the first instruction of the next line.
package disasm
