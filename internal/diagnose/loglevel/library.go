package loglevel

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Library reports whether a call is of a logging package with levels, of another module or the
// standard library.
func Library(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	path := fn.Pkg().Path()
	return path != "log" && Package(path) && !together(path, p.Pkg.Path())
}

// Function reports whether a frame is in a logging package of another module or the standard
// library.
func Function(f *site.Frame) bool {
	return (f.Owner.Kind == gocode.Dependency || f.Owner.Kind == gocode.Std) && Package(f.Owner.Package)
}

// Package reports whether a package is for logging, as the last elements of its path say.
func Package(path string) bool {
	elements := strings.Split(path, "/")
	for _, e := range elements[max(0, len(elements)-3):] {
		e, _, _ = strings.Cut(e, ".v") // gopkg.in/log.v2
		e = strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(e, "go-"), "-go"), "0123456789")
		if slices.Contains([]string{"log", "logs", "logger", "logging", "logr", "logrus", "klog", "glog", "zap", "zerolog", "slog", "hclog", "golog", "loggo",
			"grpclog", "seelog", "logf", "zapr", "logfmt"}, e) {
			return true
		}
	}
	return false
}

// together reports whether two packages are of one module, as their paths say.
func together(a, b string) bool {
	first := func(path string) string {
		elements := strings.SplitN(path, "/", 4)
		return strings.Join(elements[:min(3, len(elements))], "/")
	}
	return strings.Contains(a, "/") && first(a) == first(b)
}
