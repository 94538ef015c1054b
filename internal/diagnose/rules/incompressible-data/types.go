package incompressibledata

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// packed are the content types, or their beginnings, of data that is compressed already.
var packed = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "video/", "audio/", "font/woff",
	"application/zip", "application/gzip", "application/x-gzip", "application/zstd", "application/x-7z", "application/epub",
}

// sends says where the program sets a response's content type to such a type: "main.go:86 sends
// image/png"; "" for nowhere.
func sends(p *rule.Pass, rows []*site.Row) string {
	served := slices.ContainsFunc(rows, func(r *site.Row) bool { return at(r, "net/http.(*conn).serve") })
	if !served || p.Syntax == nil {
		return ""
	}
	seen := map[*types.Package]bool{}
	for _, s := range p.Table.Sites {
		if s.Owner.Kind != gocode.Main {
			continue
		}
		place, ok := p.Syntax.At(s.File, s.Line)
		if !ok || seen[place.Pkg] {
			continue
		}
		seen[place.Pkg] = true
		if words := sets(place); words != "" {
			return words
		}
	}
	return ""
}

// adopt turns a match about a dependency's handler into one about the line of the program that
// wraps its own handler with it, if there is one such line: there it is decided what is compressed.
func adopt(p *rule.Pass, m *rule.Match) {
	if m.Site.Owner.Kind != gocode.Dependency || p.Syntax == nil {
		return
	}
	places := p.Syntax.Calls(func(fn *types.Func) bool { return compresses(fn, m.Site.Owner.Package) })
	if len(places) != 1 {
		return
	}
	place := places[0]
	file := place.Fset.Position(place.File.Pos()).Filename
	if s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: file, Line: place.Line}); s != nil {
		m.Site = s
	}
}

// compresses reports whether a function of a package looks like one that returns a handler which
// compresses.
func compresses(fn *types.Func, pkg string) bool {
	if fn.Pkg() == nil || fn.Pkg().Path() != pkg {
		return false
	}
	name := strings.ToLower(fn.Name())
	return fn.Exported() && (strings.Contains(name, "compress") || strings.Contains(name, "gzip"))
}

// sets is sends for the package of a place.
func sets(p *gocode.Place) (words string) {
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || words != "" || p.CalleeName(call) != "(net/http.Header).Set" || len(call.Args) != 2 {
				return words == ""
			}
			if kind := text(p, call.Args[1]); strings.EqualFold(text(p, call.Args[0]), "Content-Type") && isPacked(kind) {
				words = fmt.Sprintf("%s sends %s", syntax.Where(p, call.Pos()), kind)
			}
			return words == ""
		})
	}
	return words
}

func isPacked(kind string) bool {
	return slices.ContainsFunc(packed, func(p string) bool { return strings.HasPrefix(kind, p) })
}

// text returns the value of a constant string; "" for other expressions.
func text(p *gocode.Place, e ast.Expr) string {
	v, ok := p.Const(e)
	if !ok || v.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(v)
}
