package flow

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lengths describes, by the type of the reader, how to get the length of what it reads.
var lengths = map[string]string{
	"*os.File":            "os.ReadFile with the file's name, or a buffer of the size that Stat returns",
	"*bytes.Reader":       "its Len, or the slice that it reads from",
	"*bytes.Buffer":       "its Bytes, which copies nothing",
	"*strings.Reader":     "its Len, or the string that it reads from",
	"*io.SectionReader":   "its Size",
	"*archive/tar.Reader": "a buffer of the Size in the header that Next returned, if that is below a limit of yours, and io.ReadFull",
}

// wrappers are the functions that return a reader of what another reads, and the argument that is
// the other.
var wrappers = map[string]int{
	"io.LimitReader": 0, "io.NopCloser": 0, "io.TeeReader": 0, "bufio.NewReader": 0, "bufio.NewReaderSize": 0, "net/http.MaxBytesReader": 1,
}

// Length returns what a reader reads and how to get its length before reading: "a *os.File",
// "os.ReadFile with …". It follows wrappers such as io.LimitReader, and bodies of requests and
// responses to the functions that they are passed to. Both results are "" when the length is
// unknown.
func Length(s *gocode.Syntax, p *gocode.Place, reader ast.Expr) (what, how string) {
	made := syntax.Origin(p, reader)
	if call, ok := made.(*ast.CallExpr); ok {
		if i, ok := wrappers[p.CalleeName(call)]; ok && i < len(call.Args) {
			if t := p.TypeOf(call.Args[i]); t == nil || lengths[t.String()] != "" {
				return "", "" // a part of something in memory, or of a file
			}
			return Length(s, p, call.Args[i])
		}
	}
	if what, how = length(p, reader, made); what != "" {
		return what, how
	}
	for _, from := range Sources(s, p, reader) {
		// A function for any reader is there for those whose length nobody knows; bodies are one
		// kind.
		if t := from.Place.TypeOf(from.Value); from.Value == made || t == nil || lengths[t.String()] != "" {
			return "", ""
		}
		each, other := Length(nil, from.Place, from.Value)
		if each == "" {
			return "", ""
		}
		if what == "" {
			what, how = each, other+", which "+syntax.FuncName(from.Place)+" knows"
		}
	}
	return what, how
}

// length is Length for a reader, and the expression that creates it, in one function.
func length(p *gocode.Place, reader, made ast.Expr) (what, how string) {
	for _, e := range []ast.Expr{reader, made} {
		if t := p.TypeOf(e); t != nil && lengths[t.String()] != "" {
			return "a " + t.String(), lengths[t.String()]
		}
	}
	switch made := made.(type) {
	case *ast.SelectorExpr:
		if made.Sel.Name == "Body" {
			return body(p, made)
		}
	case *ast.CallExpr:
		if x := syntax.Receiver(made); x != nil {
			switch p.CalleeName(made) {
			case "(*archive/zip.File).Open":
				return "a file of a zip archive", "a buffer of " + syntax.Text(x) + ".UncompressedSize64 bytes, if that is below a limit of yours (an archive may claim any length), and io.ReadFull"
			case "(*mime/multipart.FileHeader).Open":
				return "an uploaded file", "a buffer of " + syntax.Text(x) + ".Size bytes and io.ReadFull"
			case "(io/fs.FS).Open", "(embed.FS).Open":
				return "a file", "fs.ReadFile with the file's name"
			}
		}
	}
	if name := size(p, p.TypeOf(reader)); name != "" {
		return syntax.Text(reader), "a buffer of " + syntax.Text(reader) + "." + name + " bytes and io.ReadFull"
	}
	return "", ""
}

func body(p *gocode.Place, sel *ast.SelectorExpr) (what, how string) {
	holder := p.TypeOf(sel.X)
	if holder == nil {
		return "", ""
	}
	if ptr, ok := types.Unalias(holder).(*types.Pointer); ok {
		holder = ptr.Elem()
	}
	switch holder.String() {
	case "net/http.Response":
		return "the body of a response", "a buffer of " + syntax.Text(sel.X) + ".ContentLength bytes, if that is not −1 and below a limit of yours, and io.ReadFull"
	case "net/http.Request":
		return "the body of a request", "a buffer of " + syntax.Text(sel.X) + ".ContentLength bytes, if that is not −1 and below a limit of yours (a client may claim any length), and io.ReadFull"
	}
	// Outputs of clients, such as that of GetObject for S3, have the same fields.
	length, _, _ := types.LookupFieldOrMethod(holder, true, p.Pkg, "ContentLength")
	if v, ok := length.(*types.Var); ok {
		t, text := v.Type(), syntax.Text(sel.X)+".ContentLength"
		if ptr, ok := t.(*types.Pointer); ok {
			t, text = ptr.Elem(), "*"+text
		}
		if isInteger(t) {
			return syntax.Text(sel), "a buffer of " + text + " bytes, if that is below a limit of yours, and io.ReadFull"
		}
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
