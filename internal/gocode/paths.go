package gocode

import (
	"path"
	"strconv"
	"strings"

	"github.com/hone-go/hone/profile/symbol"
	xmodule "golang.org/x/mod/module"
)

// slashed brings a Windows path to forward slashes. Other paths stay as they
// are: a backslash is a legal character of a Unix file name.
func slashed(p string) string {
	if strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, `.\`) || strings.HasPrefix(p, `..\`) ||
		len(p) > 2 && p[1] == ':' && isLetter(p[0]) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// isAbs reports whether a slashed path is absolute on Unix or Windows,
// whichever of the two hone runs on.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && isLetter(p[0]) && p[1] == ':' && p[2] == '/'
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// symbolPackage returns the import path in a symbol as the runtime prints it, "" for a
// symbol of C or assembly. It is where the function was written or inlined into,
// so it only helps if the file does not show the owner.
func symbolPackage(fn string) string {
	for _, prefix := range [...]string{"type:.eq.", "type:.hash."} {
		fn = strings.TrimPrefix(fn, prefix)
	}
	// Receivers and type arguments hold paths of their own.
	if i := strings.IndexAny(fn, "[("); i >= 0 {
		fn = fn[:i]
	}
	slash := strings.LastIndexByte(fn, '/') + 1
	dot := strings.IndexByte(fn[slash:], '.')
	if dot <= 0 || strings.HasPrefix(fn, "go:") {
		return ""
	}
	return fn[:slash+dot]
}

// unescapeSymbol undoes the linker's escapes: a dot in the last element of an import
// path is written %2e (cmd/internal/objabi.PathToPrefix).
func unescapeSymbol(pkg string) string {
	if !strings.Contains(pkg, "%") {
		return pkg
	}
	var b strings.Builder
	for i := 0; i < len(pkg); i++ {
		if pkg[i] == '%' && i+2 < len(pkg) {
			if c, err := strconv.ParseUint(pkg[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(pkg[i])
	}
	return b.String()
}

// versioned is a path that names a module's version.
type versioned struct {
	module  string // unescaped
	version string
	file    string // inside the module
}

// splitVersioned splits "github.com/x/y@v1.2.3/z/f.go", as -trimpath writes it, and
// "/any/pkg/mod/github.com/!x/y@v1.2.3/z/f.go" of a module cache. known helps to see
// where the module's path begins when the cache does not end in pkg/mod.
func splitVersioned(p string, known modules) (versioned, bool) {
	at := strings.Index(p, "@v")
	if at < 1 {
		return versioned{}, false
	}
	version, file, ok := strings.Cut(p[at+1:], "/")
	if !ok || len(version) < 2 || version[1] < '0' || version[1] > '9' {
		return versioned{}, false
	}
	if !isAbs(p) {
		v, err := xmodule.UnescapeVersion(version)
		if err != nil {
			v = version // -trimpath writes it unchanged
		}
		return versioned{p[:at], v, file}, true
	}
	v, err := xmodule.UnescapeVersion(version)
	if err != nil {
		return versioned{}, false
	}
	mod, ok := cachedModule(p[:at], known)
	return versioned{mod, v, file}, ok
}

// cachedModule finds the module's path at the end of an absolute path in a module cache.
func cachedModule(p string, known modules) (string, bool) {
	if i := strings.LastIndex(p, "/pkg/mod/"); i >= 0 {
		mod, err := xmodule.UnescapePath(p[i+len("/pkg/mod/"):])
		return mod, err == nil
	}
	guess, found := "", false
	for i := len(p) - 1; i > 0; i-- {
		if p[i-1] != '/' {
			continue
		}
		mod, err := xmodule.UnescapePath(p[i:])
		if err != nil {
			continue
		}
		if _, ok := known.byPath(mod); ok {
			return mod, true
		}
		guess, found = mod, true // the longest that could be one
	}
	return guess, found
}

// splitStd finds GOROOT/src in an absolute path and returns what follows. pkg is the package
// of the frame's symbol. Without evidence that the directory is a GOROOT
// the answer is no: a user's own src/net must not become the standard library.
func splitStd(p, pkg string) (rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(p[from:], "/src/")
		if i < 0 {
			return "", false
		}
		root, rest := p[:from+i], p[from+i+len("/src/"):]
		first, _, isDir := strings.Cut(rest, "/")
		if isDir && symbol.Standard(first) && (path.Dir(rest) == pkg || looksLikeGOROOT(root)) {
			return rest, true
		}
		from += i + len("/src")
	}
}

// looksLikeGOROOT knows the places where Go is installed: /usr/local/go, /usr/lib/go-1.26,
// ~/sdk/go1.26.8, …/Cellar/go/1.26.8/libexec, …/hostedtoolcache/go/1.26.8/x64,
// …/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64.
func looksLikeGOROOT(root string) bool {
	for elem := range strings.SplitSeq(root, "/") {
		if strings.EqualFold(elem, "go") || strings.HasPrefix(elem, "go1") || strings.HasPrefix(elem, "go-1") ||
			strings.HasPrefix(elem, "toolchain@v0.0.1-go") {
			return true
		}
	}
	return false
}

// guessModule guesses the module of a package on a host whose layout is known, else "".
func guessModule(pkg string) string {
	elems := strings.Split(pkg, "/")
	n := 0
	switch elems[0] {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org":
		n = 3
	case "golang.org", "go.uber.org", "google.golang.org", "k8s.io":
		n = 2
		if elems[0] == "golang.org" {
			n = 3
		}
	case "gopkg.in":
		n = 2
		if len(elems) > 2 && !strings.Contains(elems[1], ".v") {
			n = 3
		}
	}
	if n == 0 || len(elems) < n {
		return ""
	}
	if len(elems) > n && isMajor(elems[n]) {
		n++
	}
	return strings.Join(elems[:n], "/")
}

// isMajor reports whether an element is a major version suffix, "v2" and up.
func isMajor(elem string) bool {
	if len(elem) < 2 || elem[0] != 'v' {
		return false
	}
	n, err := strconv.Atoi(elem[1:])
	return err == nil && n >= 2
}
