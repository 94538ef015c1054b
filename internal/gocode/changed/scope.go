package changed

import (
	"go/ast"
	"go/token"
	"strings"
)

// scope is what a function declares, with the types that the syntax shows. Names are not
// distinguished by block.
type scope struct {
	f     *function
	types map[string]string // type of each local name; "" if it is not known
}

func newScope(f *function) *scope {
	s := &scope{f: f, types: map[string]string{}}
	s.params(f.decl.Recv)
	s.params(f.decl.Type.Params)
	s.params(f.decl.Type.Results)
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		s.declare(n)
		return true
	})
	return s
}

func (s *scope) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, p := range list.List {
		typ := s.f.file.text(p.Type)
		if rest, ok := strings.CutPrefix(typ, "..."); ok {
			typ = "[]" + rest
		}
		for _, name := range p.Names {
			s.types[name.Name] = typ
		}
	}
}

// declare adds the names that a node declares.
func (s *scope) declare(n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncLit:
		s.params(n.Type.Params)
		s.params(n.Type.Results)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return
		}
		for i, e := range n.Lhs {
			typ := ""
			if len(n.Lhs) == len(n.Rhs) {
				typ = s.typeOf(n.Rhs[i])
			} else if i == 0 && len(n.Rhs) == 1 {
				typ = s.typeOf(n.Rhs[0])
			}
			s.name(e, typ)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			s.name(n.Key, "")
			s.name(n.Value, element(s.typeOf(n.X)))
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			typ := ""
			if n.Type != nil {
				typ = s.f.file.text(n.Type)
			} else if i < len(n.Values) {
				typ = s.typeOf(n.Values[i])
			}
			s.name(name, typ)
		}
	case *ast.LabeledStmt:
		s.name(n.Label, "")
	}
}

func (s *scope) name(e ast.Expr, typ string) {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" && s.types[id.Name] == "" {
		s.types[id.Name] = typ
	}
}

// local reports whether the function declares a name.
func (s *scope) local(name string) bool {
	_, ok := s.types[name]
	return ok
}

// typeOf returns the text of an expression's type, as far as the syntax of the package shows it.
func (s *scope) typeOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		if typ, ok := s.types[x.Name]; ok {
			return typ
		}
		if v := s.f.file.pkg.vars[x.Name]; v != nil {
			return v.typeText()
		}
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return "string"
		}
	case *ast.ParenExpr:
		return s.typeOf(x.X)
	case *ast.CompositeLit:
		if x.Type != nil {
			return s.f.file.text(x.Type)
		}
	case *ast.UnaryExpr:
		if typ := s.typeOf(x.X); x.Op == token.AND && typ != "" {
			return "*" + typ
		}
	case *ast.StarExpr:
		return strings.TrimPrefix(s.typeOf(x.X), "*")
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			if typ := s.typeOf(x.X); typ == "string" {
				return typ
			}
			return s.typeOf(x.Y)
		}
	case *ast.SelectorExpr:
		return s.fieldType(x)
	case *ast.IndexExpr:
		return element(s.typeOf(x.X))
	case *ast.SliceExpr:
		return s.typeOf(x.X)
	case *ast.TypeAssertExpr:
		if x.Type != nil {
			return s.f.file.text(x.Type)
		}
	case *ast.CallExpr:
		return s.resultType(x)
	}
	return ""
}

func (s *scope) fieldType(x *ast.SelectorExpr) string {
	if _, f := s.field(x); f != nil {
		return f.typ
	}
	return ""
}

// field returns the field of a struct of the package that a selector is, and the struct's name.
func (s *scope) field(x *ast.SelectorExpr) (owner string, f *field) {
	return s.f.file.pkg.field(baseName(s.typeOf(x.X)), x.Sel.Name, 3)
}

// field finds a field in a struct and in those that it embeds.
func (p *pkg) field(typ, name string, depth int) (string, *field) {
	t := p.types[typ]
	if t == nil || depth == 0 {
		return "", nil
	}
	if f := t.fields[name]; f != nil {
		return typ, f
	}
	for _, e := range t.embeds {
		if owner, f := p.field(e, name, depth-1); f != nil {
			return owner, f
		}
	}
	return "", nil
}

// resultType is the type of a call: of make, new, a conversion, or a function of the package.
func (s *scope) resultType(x *ast.CallExpr) string {
	switch fun := x.Fun.(type) {
	case *ast.Ident:
		if s.local(fun.Name) {
			return ""
		}
		switch {
		case fun.Name == "make" && len(x.Args) > 0:
			return s.f.file.text(x.Args[0])
		case fun.Name == "new" && len(x.Args) > 0:
			return "*" + s.f.file.text(x.Args[0])
		case fun.Name == "append" && len(x.Args) > 0:
			return s.typeOf(x.Args[0])
		case fun.Name == "string":
			return "string"
		}
	case *ast.ArrayType:
		return s.f.file.text(fun)
	case *ast.SelectorExpr:
		if pkg, ok := fun.X.(*ast.Ident); ok && pkg.Name == "time" && fun.Sel.Name == "Now" {
			return "time.Time"
		}
	}
	if f := s.target(x); f != nil && f.decl.Type.Results != nil && len(f.decl.Type.Results.List) > 0 {
		return f.file.text(f.decl.Type.Results.List[0].Type)
	}
	return ""
}

// target returns the function of the module that a call calls, if the syntax shows it: a function
// by its name, a method by the type of its receiver or as the only one of its name.
func (s *scope) target(x *ast.CallExpr) *function {
	fun := x.Fun
	switch i := fun.(type) { // instances
	case *ast.IndexExpr:
		fun = i.X
	case *ast.IndexListExpr:
		fun = i.X
	}
	p := s.f.file.pkg
	switch fun := fun.(type) {
	case *ast.Ident:
		if list := p.funcs[fun.Name]; len(list) > 0 && !s.local(fun.Name) {
			return list[0]
		}
	case *ast.SelectorExpr:
		if id, ok := fun.X.(*ast.Ident); ok && !s.local(id.Name) {
			if imported, ok := s.f.file.imports[id.Name]; ok && p.vars[id.Name] == nil {
				if other := p.tree.load(imported); other != nil && len(other.funcs[fun.Sel.Name]) > 0 {
					return other.funcs[fun.Sel.Name][0]
				}
				return nil
			}
		}
		if typ := s.typeOf(fun.X); typ != "" {
			return p.method(baseName(typ), fun.Sel.Name)
		}
		if list := p.named[fun.Sel.Name]; len(list) == 1 && !common(fun.Sel.Name) {
			return list[0]
		}
	}
	return nil
}

// common reports whether many types have a method of this name.
func common(method string) bool {
	switch method {
	case "Read", "Write", "Close", "String", "Error", "Len", "Less", "Swap", "Lock", "Unlock", "Get", "Set", "Add", "Next",
		"Put", "Do", "Reset", "Flush", "Name", "Type", "Kind", "Value", "Key", "Done", "Err", "Wait", "Bytes", "Write" + "String",
		"WriteByte", "Load", "Store", "Delete", "Stop", "Start", "Run", "Format", "Append", "Copy", "Clone", "Index", "Range":
		return true
	}
	return false
}

// typeText is the declared type of a variable, or that of its value where the syntax shows it.
func (v *variable) typeText() string {
	if v.typ != "" || v.value == nil {
		return v.typ
	}
	e := v.value
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	switch x := e.(type) {
	case *ast.CompositeLit:
		if x.Type != nil {
			return v.file.text(x.Type)
		}
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return "string"
		}
	case *ast.CallExpr:
		if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "make" && len(x.Args) > 0 {
			return v.file.text(x.Args[0])
		}
	}
	return ""
}

// baseName removes the pointer and the type arguments from a type's text.
func baseName(typ string) string {
	typ = strings.TrimLeft(typ, "*")
	if i := strings.IndexByte(typ, '['); i > 0 {
		typ = typ[:i]
	}
	return typ
}

// element is the type of the elements of a slice, an array or a map, by its text.
func element(typ string) string {
	typ = strings.TrimPrefix(typ, "*")
	if !strings.HasPrefix(typ, "[") && !strings.HasPrefix(typ, "map[") {
		return ""
	}
	depth := 0
	for i := range len(typ) {
		switch typ[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return typ[i+1:]
			}
		}
	}
	return ""
}
