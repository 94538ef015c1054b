package symbol

import "strings"

// StandardPackage reports whether an import path is of the standard library, by its
// first element: the directories of GOROOT/src as of Go 1.26. A module whose path has
// no dot and begins with such a name ("net/foo") looks the same.
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

// PackageOf returns the import path in a function's symbol name:
// "example.com/shop.(*Cart).Add" is of "example.com/shop". A dot within the last element is
// escaped as %2e in symbols, and stays so.
func Package(function string) string {
	name, _, _ := strings.Cut(function, "[") // type arguments hold paths of their own
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name
	}
	return name[:slash+dot]
}

// ofRuntime reports whether a function is the runtime's machinery: what it does, it does
// for its caller. A name without a package is assembly or C below it.
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
