package rule

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// Fixed reports whether an expression has the same value in every run of the
// program's functions: constants, and what is put together from them and from package
// variables that the package never assigns, by operators, conversions and the calls
// in pure (patterns as for [Named]).
func Fixed(p *gocode.Place, e ast.Expr, pure ...string) bool {
	if _, ok := p.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		return ok && !v.Exported() && p.Initial(v) != nil
	case *ast.BinaryExpr:
		return Fixed(p, x.X, pure...) && Fixed(p, x.Y, pure...)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(x); !conversion && !Named(p.CalleeName(x), pure...) {
			return false
		}
		for _, arg := range x.Args {
			if !Fixed(p, arg, pure...) {
				return false
			}
		}
		return true
	}
	return false
}

// AllConst reports whether all arguments of a call are constants, or constants converted to a
// slice.
func AllConst(p *gocode.Place, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if conv, ok := ast.Unparen(arg).(*ast.CallExpr); ok && len(conv.Args) == 1 {
			if _, is := p.Conversion(conv); is {
				arg = conv.Args[0]
			}
		}
		if _, ok := p.Const(arg); !ok {
			return false
		}
	}
	return len(call.Args) > 0 && !call.Ellipsis.IsValid()
}

// Invariant reports whether an expression has the same value in each iteration of a
// loop: it is put together from constants and variables from outside that the loop does not
// change, by operators, fields, conversions, len and cap.
func Invariant(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	if _, ok := p.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := p.Object(x).(*types.Var)
		if !ok {
			_, isNil := p.Object(x).(*types.Nil)
			return isNil
		}
		inside := loop.Pos() <= v.Pos() && v.Pos() < loop.End()
		return !inside && !changes(p, loop, v)
	case *ast.SelectorExpr:
		if p.Info.Selections[x] == nil {
			v, ok := p.Object(x.Sel).(*types.Var)
			return ok && !changes(p, loop, v)
		}
		_, field := p.Object(x.Sel).(*types.Var)
		return field && Invariant(p, loop, x.X)
	case *ast.BinaryExpr:
		return Invariant(p, loop, x.X) && Invariant(p, loop, x.Y)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && x.Op != token.AND && Invariant(p, loop, x.X)
	case *ast.CompositeLit:
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				elt = kv.Value
			}
			if !Invariant(p, loop, elt) {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		_, conversion := p.Conversion(x)
		name := p.CalleeName(x)
		return (conversion || name == "len" || name == "cap") && len(x.Args) == 1 && Invariant(p, loop, x.Args[0])
	}
	return false
}

// Unchanged is [Invariant] for sure: the expression is made of constants and of local variables of basic types
// that no closure sets and whose address nobody takes. What other goroutines or called functions could
// change is not taken for unchanged.
func Unchanged(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	if !Invariant(p, loop, e) {
		return false
	}
	sure := true
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || !sure {
			return sure
		}
		if _, constant := p.Const(x); constant {
			return false
		}
		switch x := x.(type) {
		case *ast.SelectorExpr, *ast.CompositeLit:
			sure = false
		case *ast.Ident:
			if v, ok := p.Object(x).(*types.Var); ok {
				sure = ownBasic(p, v)
			}
		}
		return sure
	})
	return sure
}

// ownBasic reports whether v is a local variable of a basic type that only the function itself sets: no
// literal in it assigns v, and nobody has its address.
func ownBasic(p *gocode.Place, v *types.Var) bool {
	if _, basic := v.Type().Underlying().(*types.Basic); !basic || !Local(p, v) {
		return false
	}
	own := true
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			own = own && (Inside(n, v.Pos()) || !changes(p, n, v))
		case *ast.UnaryExpr:
			if w, _ := Var(p, n.X); n.Op == token.AND && w == v {
				own = false
			}
		}
		return own
	})
	return own
}

// Pure are functions of the standard library, as profiles name them, whose result depends
// on their arguments alone: no state, no clock, no environment. Their results are values, or may be
// shared as long as nobody writes to them.
func Pure() []string {
	return []string{
		"crypto/md5.Sum", "crypto/sha1.Sum", "crypto/sha256.Sum256", "crypto/sha512.Sum512",
		"encoding/base64.(*Encoding).DecodeString", "encoding/base64.(*Encoding).EncodeToString",
		"encoding/hex.DecodeString", "encoding/hex.EncodeToString",
		"hash/crc32.ChecksumIEEE",
		"html.EscapeString", "html.UnescapeString",
		"net.ParseCIDR", "net.ParseIP",
		"net/netip.MustParseAddr", "net/netip.MustParsePrefix", "net/netip.ParseAddr", "net/netip.ParsePrefix",
		"net/url.Parse", "net/url.PathEscape", "net/url.QueryEscape", "net/url.QueryUnescape",
		"path.Base", "path.Clean", "path.Dir", "path.Join",
		"path/filepath.Base", "path/filepath.Clean", "path/filepath.Dir", "path/filepath.Join",
		"regexp.QuoteMeta",
		"strconv.Atoi", "strconv.FormatFloat", "strconv.FormatInt", "strconv.FormatUint", "strconv.Itoa",
		"strconv.ParseFloat", "strconv.ParseInt", "strconv.ParseUint", "strconv.Quote", "strconv.Unquote",
		"strings.Fields", "strings.Repeat", "strings.Replace", "strings.ReplaceAll", "strings.Split",
		"strings.Title", "strings.ToLower", "strings.ToTitle", "strings.ToUpper", "strings.TrimSpace",
		"time.Parse", "time.ParseDuration",
	}
}
