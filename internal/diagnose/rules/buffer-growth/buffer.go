package buffergrowth

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// growing are the functions of buffers that allocate, as profiles name them.
var growing = []string{
	"bytes.growSlice", "bytes.(*Buffer).grow", "strings.(*Builder).grow", "strings.(*Builder).Write*",
}

// grown returns the index of the buffer's outermost method in a row that allocates or copies to
// grow one; -1 for other rows. The buffers inside encoders are kept by their packages.
func grown(r *site.Row) int {
	grows := false
	for i, f := range r.Stack {
		name := f.Function
		switch {
		case funcname.Match(name, growing...):
			grows = true
		case strings.HasPrefix(name, "runtime."):
		case grows && funcname.Match(name, "bytes.(*Buffer).*", "strings.(*Builder).*"):
		case grows && funcname.Match(name, "encoding/json.*") && !funcname.Match(name, "encoding/json.(*Encoder).Encode"):
			return -1
		case grows:
			return i - 1
		default:
			return -1
		}
		if grows && i > 0 && i == len(r.Stack)-1 {
			return i
		}
	}
	return -1
}

// buffer is a variable that a function declares.
type buffer struct {
	v        *types.Var
	name     string // of the variable, or of the field of it that is the buffer
	function string
	line     int    // of the declaration
	known    string // how to get its size
	sized    bool   // it starts with memory, or the function grows it or uses it again
	leaves   bool   // its memory lives longer than the call
	resets   bool   // it is a bytes.Buffer

	bytes, objects int64 // that it allocated
}

// written returns the buffer that a line writes to: one that it names, or the only one of the
// function if it names a variable made from it, such as an encoder. nil for none.
func written(p *gocode.Place) *types.Var {
	body := syntax.Body(p)
	var all, named []*types.Var
	via := map[types.Object]*types.Var{}
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if v, ok := p.Info.Defs[id].(*types.Var); ok && (isBuffer(v.Type()) != "" || fieldOf(p, v.Type()) != nil) && syntax.Local(p, v) && !syntax.Param(p, v) {
			all = append(all, v)
		}
		return true
	})
	for _, v := range all {
		for _, id := range syntax.Uses(p, v) {
			if to := maker(p, id); to != nil {
				via[to] = v
			}
		}
	}
	for _, n := range p.Nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || syntax.Line(p, id.Pos()) != p.Line {
				return true
			}
			obj := p.Object(id)
			for _, v := range all {
				if obj == v || via[obj] == v {
					named = append(named, v)
				}
			}
			return true
		})
	}
	for _, v := range named {
		if v != named[0] {
			return nil
		}
	}
	if len(named) == 0 {
		return nil
	}
	return named[0]
}

// maker returns the variable that gets a value made from a buffer: enc := json.NewEncoder(&b).
func maker(p *gocode.Place, id *ast.Ident) types.Object {
	for _, n := range p.Outer().Enclosing(id) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if to, ok := n.Lhs[0].(*ast.Ident); ok && to != id {
				return p.Object(to)
			}
			return nil
		case ast.Stmt:
			return nil
		}
	}
	return nil
}

// isBuffer returns the name of a buffer's type; "" for other types.
func isBuffer(t types.Type) string {
	name := strings.TrimPrefix(t.String(), "*")
	if name == "bytes.Buffer" || name == "strings.Builder" {
		return name
	}
	return ""
}

func describe(p *gocode.Place, v *types.Var) *buffer {
	stmt, value := syntax.Declared(p, v)
	b := &buffer{v: v, name: v.Name(), function: syntax.FuncName(p), resets: isBuffer(v.Type()) == "bytes.Buffer"}
	if f := fieldOf(p, v.Type()); f != nil {
		b.name += "." + f.Name()
		b.resets = isBuffer(f.Type()) == "bytes.Buffer"
		b.sized = kept(p, f) || value != nil && !unset(p, value, f)
	} else {
		b.sized = value != nil && !startsEmpty(p, value)
	}
	if b.sized || stmt == nil || syntax.IsResult(p, v) {
		b.sized = true
		return b
	}
	b.line = syntax.Line(p, stmt.Pos())
	for _, id := range syntax.Uses(p, v) {
		b.use(p.Outer(), id)
	}
	return b
}

// startsEmpty reports whether a value is a buffer without memory.
func startsEmpty(p *gocode.Place, value ast.Expr) bool {
	switch e := ast.Unparen(value).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.UnaryExpr:
		return startsEmpty(p, e.X)
	case *ast.CallExpr:
		switch p.CalleeName(e) {
		case "new":
			return true
		case "bytes.NewBuffer":
			id, ok := ast.Unparen(e.Args[0]).(*ast.Ident)
			lit, isLit := ast.Unparen(e.Args[0]).(*ast.CompositeLit)
			return ok && id.Name == "nil" || isLit && len(lit.Elts) == 0
		case "bytes.NewBufferString":
			text, constant := syntax.ConstString(p, e.Args[0])
			return constant && text == ""
		}
	}
	return false
}

// use looks at one use of the buffer.
func (b *buffer) use(p *gocode.Place, id *ast.Ident) {
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.CallExpr:
			b.call(p, n, id)
			if b.ends(p, n) {
				return
			}
		case *ast.ReturnStmt, *ast.SendStmt, *ast.GoStmt:
			b.leaves = true
			return
		case *ast.CompositeLit:
			b.leaves = true
			return
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if v := syntax.LocalVar(p, lhs); v == nil || isText(v.Type()) {
					b.leaves = true // a field, or a text that may be used anywhere
				}
			}
			return
		case ast.Stmt:
			return
		}
	}
}

// ends reports whether the result of a call with the buffer or its text does not refer to its
// memory.
func (b *buffer) ends(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion || p.CalleeName(call) == "(*bytes.Buffer).String" {
		return syntax.IsString(p, call) // a copy
	}
	t := p.TypeOf(call)
	return t == nil || !isText(t) && isBuffer(t) == "" && !types.IsInterface(t)
}

func isText(t types.Type) bool {
	s := t.Underlying().String()
	return s == "string" || s == "[]byte" || s == "[]uint8"
}

func (b *buffer) call(p *gocode.Place, call *ast.CallExpr, id *ast.Ident) {
	name := p.CalleeName(call)
	if to := syntax.Receiver(call); to != nil && ast.Unparen(to) == id {
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "Grow", "Reset", "Truncate":
			b.sized = true
		case "ReadFrom":
			_, b.known = flow.Length(nil, p, call.Args[0])
		}
		return
	}
	if (name == "io.Copy" || name == "io.CopyBuffer") && syntax.Within(call.Args[0], id) {
		_, b.known = flow.Length(nil, p, call.Args[1])
	}
}
