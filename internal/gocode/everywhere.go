package gocode

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// CallsOf returns the lines of the main module that call a function, by its name as
// [Place.CalleeName] gives it, in order of package, file and line.
func (s *Syntax) CallsOf(name string) []*Place {
	return s.Calls(func(fn *types.Func) bool { return FullName(fn) == name })
}

// Calls returns the lines of the main module that call a function which is accepted, in order of
// package, file and line. Of a generic function, accept gets the declared one.
func (s *Syntax) Calls(accept func(*types.Func) bool) []*Place {
	var found []*Place
	s.everywhere(func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		if fn, ok := typeutil.Callee(info, call).(*types.Func); ok && accept(fn.Origin()) {
			if p, ok := at(call); ok {
				found = append(found, p)
			}
		}
	})
	return found
}

// FieldValue is a value that code gives to a field of a struct.
type FieldValue struct {
	*Place
	Value ast.Expr
}

// ValuesOf returns the values that the main module gives to a field, in composite literals and in
// assignments, in order of package, file and line. If a call returns several results, of which the
// field gets one, the value is the call. The type is named as in "net/http.Transport".
func (s *Syntax) ValuesOf(typ, field string) []FieldValue {
	var found []FieldValue
	s.everywhere(func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		add := func(of types.Type, value ast.Expr) {
			if ptr, ok := of.(*types.Pointer); ok {
				of = ptr.Elem()
			}
			if of == nil || types.TypeString(of, nil) != typ {
				return
			}
			if p, ok := at(value); ok {
				found = append(found, FieldValue{p, value})
			}
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			for i, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
						add(info.TypeOf(n), kv.Value)
					}
				} else if fieldName(info.TypeOf(n), i) == field {
					add(info.TypeOf(n), e)
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && sel.Sel.Name == field {
					add(info.TypeOf(sel.X), n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		}
	})
	return found
}

// Literal is a composite literal.
type Literal struct {
	*Place
	Lit *ast.CompositeLit
}

// Literals returns the composite literals of a type in the main module, in order of package, file
// and line. The type is named as in "net/http.Transport".
func (s *Syntax) Literals(typ string) []Literal {
	var found []Literal
	s.everywhere(func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return
		}
		if t := info.TypeOf(lit); t == nil || types.TypeString(t, nil) != typ {
			return
		}
		if p, ok := at(lit); ok {
			found = append(found, Literal{p, lit})
		}
	})
	return found
}

// Creation is an expression or a declaration that creates a value of a type.
type Creation struct {
	*Place
	Node ast.Node
}

// Creations returns where the main module creates values of a type: composite literals, calls of
// new, and variables without a value. The type is named as in "net/http.Transport".
func (s *Syntax) Creations(typ string) []Creation {
	var found []Creation
	s.everywhere(func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		var t types.Type
		switch n := n.(type) {
		case *ast.CompositeLit:
			t = info.TypeOf(n)
		case *ast.ValueSpec:
			if n.Type != nil && len(n.Values) == 0 {
				t = info.TypeOf(n.Type)
			}
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok && id.Name == "new" && len(n.Args) == 1 {
				t = info.TypeOf(n.Args[0])
			}
		}
		if ptr, ok := t.(*types.Pointer); ok { // &T{} without its type, in a list
			t = ptr.Elem()
		}
		if t == nil || types.TypeString(t, nil) != typ {
			return
		}
		if p, ok := at(n); ok {
			found = append(found, Creation{p, n})
		}
	})
	return found
}

// fieldName returns the name of a field of a struct, or of a pointer to one, by its index; "" when
// there is none.
func fieldName(t types.Type, i int) string {
	if t == nil {
		return ""
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok && i < s.NumFields() {
		return s.Field(i).Name()
	}
	return ""
}

// everywhere calls visit for each node of the main module, with a function that returns the place
// of a node in the same file.
func (s *Syntax) everywhere(visit func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool))) {
	seen := map[*ast.File]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[key]
		if seen[f.file] || f.pkg.Module != nil && !f.pkg.Module.Main {
			continue
		}
		seen[f.file] = true
		at := func(n ast.Node) (*Place, bool) {
			return s.at(key, path.Base(key), f.fset.Position(n.Pos()).Line)
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if n != nil {
				visit(f.pkg.TypesInfo, n, at)
			}
			return true
		})
	}
}

// Initial is a place of code that runs when the program starts: the value of a package variable, or
// an init function.
type Initial struct {
	*Place
	Node ast.Node // an *ast.ValueSpec with values or an *ast.FuncDecl
}

// Initials returns what a package initialises when the program starts, in order of file and line.
func (s *Syntax) Initials(pkg string) []Initial {
	var found []Initial
	seen := map[*ast.File]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[key]
		if seen[f.file] || f.pkg.PkgPath != pkg {
			continue
		}
		seen[f.file] = true
		add := func(n ast.Node) {
			if p, ok := s.at(key, path.Base(key), f.fset.Position(n.Pos()).Line); ok {
				found = append(found, Initial{p, n})
			}
		}
		for _, d := range f.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" && d.Body != nil {
					add(d)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) > 0 && d.Tok == token.VAR {
						add(v)
					}
				}
			}
		}
	}
	return found
}

// Strings returns the constant strings of the main module that are accepted, in order of package,
// file and line. A constant that is composed of others is returned with its parts.
func (s *Syntax) Strings(accept func(string) bool) (found []string) {
	for _, t := range s.Texts(accept) {
		found = append(found, t.Value)
	}
	return found
}

// Text is a constant string. Its place is nil if the source around it is not known.
type Text struct {
	*Place
	Expr  ast.Expr
	Value string
}

// Texts returns what [Syntax.Strings] does, with the places.
func (s *Syntax) Texts(accept func(string) bool) []Text {
	var found []Text
	s.everywhere(func(info *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		e, ok := n.(ast.Expr)
		if !ok {
			return
		}
		if v := info.Types[e].Value; v != nil && v.Kind() == constant.String {
			if text := constant.StringVal(v); accept(text) {
				p, _ := at(n)
				found = append(found, Text{p, e, text})
			}
		}
	})
	return found
}

// largestEmbedded is the size in bytes of an embedded file that is read at most.
const largestEmbedded = 1 << 20

// Embedded returns the contents of the files with an extension that the main module embeds by
// //go:embed directives. It reports false when one of them could not be read, or is larger than a
// megabyte.
func (s *Syntax) Embedded(ext string) (contents []string, ok bool) {
	ok = true
	read := func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			ok = false
		case d.Type().IsRegular() && filepath.Ext(file) == ext:
			info, err := d.Info()
			if err != nil || info.Size() > largestEmbedded {
				ok = false
				return nil
			}
			text, err := os.ReadFile(file)
			ok = ok && err == nil
			contents = append(contents, string(text))
		}
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[key]
		if f.pkg.Module != nil && !f.pkg.Module.Main {
			continue
		}
		dir := filepath.Dir(f.fset.Position(f.file.Pos()).Filename)
		for _, group := range f.file.Comments {
			for _, c := range group.List {
				list, embeds := strings.CutPrefix(c.Text, "//go:embed ")
				if !embeds {
					continue
				}
				for _, pattern := range strings.Fields(list) {
					pattern = strings.Trim(strings.TrimPrefix(pattern, "all:"), "\"`")
					matches, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
					ok = ok && err == nil && len(matches) > 0
					for _, m := range matches {
						ok = filepath.WalkDir(m, read) == nil && ok
					}
				}
			}
		}
	}
	return contents, ok
}
