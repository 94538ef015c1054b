package rule

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Percent writes a share: "7.2 %", "34 %", "0.04 %".
func Percent(share float64) string { return units.Percent(share) }

// Bytes writes a size in binary units: "208 B", "1.5 KiB", "36 GiB".
func Bytes(n float64) string { return units.Bytes(n) }

// Number writes a quantity with two or three digits that mean something: "46", "2.3", "0.25".
func Number(x float64) string { return units.Number(x) }

// Seconds writes a time: "1.2 s", "35 ms", "8 µs".
func Seconds(s float64) string { return units.Seconds(s) }

// Some writes how many of something there are: "1 object", "2.3 objects".
func Some(n float64, noun string) string { return units.Some(n, noun) }

// List writes words with commas and an "and".
func List(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// Short cuts source text that is too long for a sentence.
func Short(code string) string {
	const longest = 80
	runes := []rune(code)
	if len(runes) <= longest {
		return code
	}
	return string(runes[:longest-1]) + "…"
}

// Count writes a whole number with its thousands apart: "1,048,576".
func Count(n int64) string { return units.Count(n) }

// TypeText is a type as a sentence has it: types of other packages with the package's name, not its path.
func TypeText(p *gocode.Place, t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.Pkg {
			return ""
		}
		return other.Name()
	})
}

// Text is an expression as the source has it, cut to fit a sentence.
func Text(e ast.Expr) string { return Short(types.ExprString(ast.Unparen(e))) }

// FuncName is how a sentence names the function around a place: "Send", "a function in Send".
func FuncName(p *gocode.Place) string {
	if p.Decl == nil {
		return "a package variable's initialiser"
	}
	if p.Func != p.Decl {
		return "a function in " + p.Decl.Name.Name
	}
	return p.Decl.Name.Name
}

// FuncText is a function's full name as a sentence has it, without the directories of its import path:
// "(*http.Client).Do" for "(*net/http.Client).Do".
func FuncText(name string) string {
	bare := strings.TrimLeft(name, "(*")
	path, _, _ := strings.Cut(bare, "[") // type arguments have paths of their own
	return name[:len(name)-len(bare)] + bare[strings.LastIndexByte(path, '/')+1:]
}
