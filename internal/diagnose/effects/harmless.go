package effects

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Harmless reports whether a call of a test can be left out: it has no visible side effects. For a
// method of an interface or a function in a variable, below is the function that ran.
func Harmless(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr, below *site.Frame) bool {
	if fn := p.Callee(call); fn != nil {
		if Impure(fn) || Changes(fn) || takes(fn.Name()) {
			return false
		}
		if decl := p.Declaration(fn); decl != nil {
			return decl.Body != nil && ChangesNothing(p.Entry(decl))
		}
	}
	if at, ok := s.At(below.File, below.Line); ok && at.Decl != nil {
		return ChangesNothing(at.Outer())
	}
	return true // the samples show the rest
}

// takes reports whether the name of a test says that it changes what it tests: limiter.Allow,
// scanner.Scan, filter.TestAndAdd.
func takes(name string) bool {
	return strings.Contains(name, "And") || slices.ContainsFunc([]string{"Allow", "Try", "Acquire", "Scan", "Add", "Take", "Pop", "Advance"}, func(word string) bool {
		return strings.HasPrefix(name, word)
	})
}

// LogsOrCounts reports whether a function logs or counts, by its name as [gocode.Place.CalleeName]
// gives it.
func LogsOrCounts(name string) bool {
	method := name[strings.LastIndexByte(name, '.')+1:]
	for _, word := range []string{"Print", "Log", "log", "Warn", "warn", "Error", "Info", "Debug", "Inc", "Add", "Fprint", "Msg", "Record", "Capture"} {
		if strings.HasPrefix(method, word) {
			return !strings.HasPrefix(name, "net/http.")
		}
	}
	return false
}
