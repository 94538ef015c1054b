package symbol

import "strings"

// Standard reports whether an import path belongs to the standard library, judged by its first
// element: the directories of GOROOT/src as of Go 1.26. A module whose path has no dot and starts
// with such a name ("net/foo") is mistaken for it.
func Standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	switch first {
	case "archive", "bufio", "builtin", "bytes", "cmd", "cmp", "compress", "container", "context",
		"crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go",
		"hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime",
		"net", "os", "path", "plugin", "reflect", "regexp", "runtime", "simd", "slices", "sort",
		"strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode",
		"unique", "unsafe", "vendor", "weak": // "vendor" holds what the standard library vendors
		return true
	}
	return false
}

// Package returns the import path in a function's symbol name: "example.com/shop" for
// "example.com/shop.(*Cart).Add". Symbols escape a dot within the last element as %2e; Package does
// not unescape it.
func Package(function string) string {
	name, _, _ := strings.Cut(function, "[") // type arguments contain paths too
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name
	}
	return name[:slash+dot]
}

// Runtime reports whether a function belongs to the runtime and the packages closest to it, whose
// work is done for their callers. A name without a package is assembly or C.
func Runtime(name string) bool {
	slash := strings.LastIndexByte(name, '/')
	dot := strings.IndexByte(name[slash+1:], '.')
	if dot < 0 {
		return true
	}
	pkg := name[:slash+1+dot]
	switch pkg {
	case "runtime", "sync", "sync/atomic", "syscall":
		return true
	}
	return strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "runtime/internal/")
}
