package cachemiss

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// part is what makes a key another one each time, and what to do about it.
type part struct{ is, fix string }

// changing returns the part of a key that hardly ever repeats by its kind: an address, a time, a
// random number, or the query of a request as its client wrote it; nil if none is seen.
func changing(p *gocode.Place, key ast.Expr) *part { return partOf(p, key, levels) }

func partOf(p *gocode.Place, e ast.Expr, depth int) *part {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok {
		return partOfCall(p, call, depth)
	}
	if found := byType(p, e); found != nil {
		return found
	}
	switch x := e.(type) {
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil || depth == 0 {
			return nil
		}
		for _, value := range append(syntax.Assigned(p, v), declared(p, v)...) {
			if found := partOf(p, value, depth-1); found != nil {
				return found
			}
		}
	case *ast.SelectorExpr:
		return query(p, x, x.Sel.Name)
	case *ast.BinaryExpr:
		return firstPart(p, depth, x.X, x.Y)
	case *ast.CompositeLit:
		return firstPart(p, depth, values(x)...)
	}
	return nil
}

func firstPart(p *gocode.Place, depth int, list ...ast.Expr) *part {
	for _, e := range list {
		if found := partOf(p, e, depth); found != nil {
			return found
		}
	}
	return nil
}

// declared returns the value that a variable is declared with, alone or as one of several results.
func declared(p *gocode.Place, v *types.Var) []ast.Expr {
	stmt, value := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 {
		value = a.Rhs[0]
	}
	if value == nil {
		return nil
	}
	return []ast.Expr{value}
}

func values(lit *ast.CompositeLit) (all []ast.Expr) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		all = append(all, e)
	}
	return all
}

// byType returns the part that an expression is by its type: a time, a pointer, or a struct with
// one of these.
func byType(p *gocode.Place, e ast.Expr) *part {
	t := p.TypeOf(e)
	if t == nil {
		return nil
	}
	if field, kind := changingField(t); field != "" {
		return &part{fmt.Sprintf("its field %s is %s", field, kind), fmt.Sprintf("Leave %s out of the key, or use what it stands for (the contents behind a pointer, the day of a time).", field)}
	}
	switch {
	case named(t, "time.Time"):
		return &part{fmt.Sprintf("the time %s is a part of it", syntax.Text(e)), "Leave the time out of the key, or truncate it to the period for which a value is valid."}
	case pointer(t):
		return &part{fmt.Sprintf("the address %s is a part of it, and equal values have different addresses", syntax.Text(e)), fmt.Sprintf("Use what %s points at, or what identifies it, as the key.", syntax.Text(e))}
	}
	return nil
}

func named(t types.Type, name string) bool { return types.TypeString(t, nil) == name }

func pointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// changingField returns the field of a struct that is a pointer or a time, and which of the two;
// "" for none.
func changingField(t types.Type) (field, kind string) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || named(t, "time.Time") {
		return "", ""
	}
	for f := range s.Fields() {
		switch {
		case pointer(f.Type()):
			return f.Name(), "an address, and equal values have different addresses"
		case named(f.Type(), "time.Time"):
			return f.Name(), "a time"
		}
	}
	return "", ""
}

// query returns the part that a field of a URL is: the text of a query has its parameters in the
// order that the client chose, and all of them.
func query(p *gocode.Place, e ast.Expr, name string) *part {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"RawQuery", "RequestURI", "String"}, name) || p.TypeOf(sel.X) == nil {
		return nil
	}
	if of := strings.TrimPrefix(types.TypeString(p.TypeOf(sel.X), nil), "*"); of != "net/url.URL" && of != "net/http.Request" {
		return nil
	}
	return &part{fmt.Sprintf("%s is a part of it, with all parameters of the request in the client's order", syntax.Text(e)),
		"Build the key from the parameters that the value depends on, in a fixed order."}
}

// partOfCall is partOf for the result of a call.
func partOfCall(p *gocode.Place, call *ast.CallExpr, depth int) *part {
	name := p.CalleeName(call)
	to := syntax.Receiver(call)
	switch {
	case name == "time.Now":
		return &part{"the current time is a part of it", "Leave the time out of the key, or truncate it to the period for which a value is valid."}
	case funcname.Match(name, "(time.Time).Truncate", "(time.Time).Round", "(time.Time).Year", "(time.Time).YearDay", "(time.Time).Month", "(time.Time).Weekday", "(time.Time).Hour", "(time.Time).Format", "reflect.TypeOf"):
		return nil // of a period, or the same for all values of a type
	case funcname.Match(name, "math/rand.*", "math/rand/v2.*", "crypto/rand.*", "github.com/google/uuid.New*", "github.com/gofrs/uuid*.New*"):
		return &part{fmt.Sprintf("a random number is a part of it (%s)", symbol.Short(name)), "Leave the random number out of the key."}
	case funcname.Match(name, "(*net/url.URL).String", "(*net/url.URL).RequestURI"):
		return query(p, ast.Unparen(call.Fun), "String")
	case strings.HasPrefix(name, "fmt.Sprint") || name == "fmt.Appendf":
		return printed(p, call, depth)
	}
	if depth == 0 {
		return nil
	}
	if _, conversion := p.Conversion(call); conversion || funcname.Match(name, "strings.Join", "crypto/*.Sum*", "hash/*.Checksum*", "encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString", "strconv.*") {
		return firstPart(p, depth, call.Args...)
	}
	if strings.HasPrefix(name, "(time.Time).") && to != nil {
		return partOf(p, to, depth-1)
	}
	if in, value := syntax.Returned(p, call); in != nil {
		return partOf(in, value, depth-1)
	}
	return nil
}

// printed returns the part that a call of package fmt prints: an address, with %p or inside of a
// value, or one of the others.
func printed(p *gocode.Place, call *ast.CallExpr, depth int) *part {
	args := call.Args
	if strings.HasSuffix(p.CalleeName(call), "f") && len(args) > 0 {
		format, ok := syntax.ConstString(p, args[0])
		if args = args[1:]; ok && strings.Contains(format, "%p") {
			what := syntax.Text(call)
			if i := slices.IndexFunc(args, func(e ast.Expr) bool {
				return p.TypeOf(e) != nil && (pointer(p.TypeOf(e)) || types.IsInterface(p.TypeOf(e)))
			}); i >= 0 {
				what = syntax.Text(args[i])
			}
			return &part{fmt.Sprintf("the address of %s is a part of it (%%p), and equal values have different addresses", what),
				fmt.Sprintf("Use what identifies %s, such as its type, name or contents, not where it is.", what)}
		}
	}
	for _, arg := range args {
		t := p.TypeOf(arg)
		if t == nil {
			continue
		}
		ptr, isPointer := t.Underlying().(*types.Pointer)
		if isPointer {
			t = ptr.Elem()
		}
		if field, kind := changingField(t); field != "" {
			return &part{fmt.Sprintf("field %s of %s, which is printed into it, is %s", field, syntax.Text(arg), kind),
				fmt.Sprintf("Build the key from the fields that the value depends on, not from all of %s.", syntax.Text(arg))}
		}
		if _, basic := t.Underlying().(*types.Basic); isPointer && !basic {
			continue // fmt prints what is behind such a pointer
		}
		if found := partOf(p, arg, depth); found != nil {
			return found
		}
	}
	return nil
}
