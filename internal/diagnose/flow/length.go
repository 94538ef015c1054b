package flow

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lengths describes, by the type of the reader, how to get the length of what it reads.
var lengths = map[string]string{
	"*os.File":          "os.ReadFile with the file's name, or a buffer of the size that Stat returns",
	"*bytes.Reader":     "its Len, or the slice that it reads from",
	"*bytes.Buffer":     "its Bytes, which copies nothing",
	"*strings.Reader":   "its Len, or the string that it reads from",
	"*io.SectionReader": "its Size",
}

// Length returns what a reader reads and how to get its length before reading: "a *os.File",
// "os.ReadFile with …". Both are "" when the length is unknown.
func Length(p *gocode.Place, reader ast.Expr) (what, how string) {
	made := syntax.Origin(p, reader)
	for _, e := range []ast.Expr{reader, made} {
		if t := p.TypeOf(e); t != nil && lengths[t.String()] != "" {
			return "a " + t.String(), lengths[t.String()]
		}
	}
	if sel, ok := made.(*ast.SelectorExpr); ok && sel.Sel.Name == "Body" {
		return body(p, sel)
	}
	if name := size(p, p.TypeOf(reader)); name != "" {
		return syntax.Text(reader), "a buffer of " + syntax.Text(reader) + "." + name + " bytes and io.ReadFull"
	}
	return "", ""
}

func body(p *gocode.Place, sel *ast.SelectorExpr) (what, how string) {
	holder := p.TypeOf(sel.X)
	if ptr, ok := types.Unalias(holder).(*types.Pointer); ok {
		holder = ptr.Elem()
	}
	switch holder.String() {
	case "net/http.Response":
		return "the body of a response", "a buffer of " + syntax.Text(sel.X) + ".ContentLength bytes, if that is not −1 and below a limit of yours, and io.ReadFull"
	case "net/http.Request":
		return "the body of a request", "a buffer of " + syntax.Text(sel.X) + ".ContentLength bytes, if that is not −1 and below a limit of yours (a client may claim any length), and io.ReadFull"
	}
	return "", ""
}

// size returns the field or method of a reader's type that names its size, "" for none.
func size(p *gocode.Place, t types.Type) string {
	if t == nil {
		return ""
	}
	for _, name := range []string{"Size", "size", "Length", "length", "ContentLength", "contentLength"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, name)
		if obj == nil || obj.Pkg() != p.Pkg && standard(obj.Pkg().Path()) {
			continue // the Size of a bufio.Reader is that of its buffer
		}
		switch obj := obj.(type) {
		case *types.Var:
			if isInteger(obj.Type()) {
				return name
			}
		case *types.Func:
			if s := obj.Signature(); s.Params().Len() == 0 && s.Results().Len() == 1 && isInteger(s.Results().At(0).Type()) {
				return name + "()"
			}
		}
	}
	return ""
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}
