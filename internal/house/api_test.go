package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLibrariesShowNoInternalTypes: the API of packages that other modules may import uses no types
// that those modules cannot name.
func TestLibrariesShowNoInternalTypes(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch base := d.Name(); {
			case name != root && strings.HasPrefix(base, "."), base == "internal", base == "cmd", base == "examples", base == "tools", base == "testdata":
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil //nolint:nilerr // the compiler says it better
		}
		files++
		for _, shown := range internalInAPI(file) {
			t.Errorf("%s: %s is internal, and in the API", name, shown)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("there are no libraries")
	}
}

// internalInAPI returns the types of internal packages that exported declarations use.
func internalInAPI(file *ast.File) (found []string) {
	hidden := map[string]bool{} // names of internal packages here
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil || !strings.Contains(p+"/", "/internal/") && !strings.HasPrefix(p, "internal/") {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		hidden[name] = true
	}
	if len(hidden) == 0 {
		return nil
	}
	see := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.Field:
				exported := len(x.Names) == 0 // an embedded or unnamed one
				for _, name := range x.Names {
					exported = exported || name.IsExported()
				}
				return exported
			case *ast.SelectorExpr:
				if pkg, ok := x.X.(*ast.Ident); ok && hidden[pkg.Name] {
					found = append(found, pkg.Name+"."+x.Sel.Name)
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				for _, list := range []*ast.FieldList{d.Type.TypeParams, d.Type.Params, d.Type.Results} {
					if list == nil {
						continue
					}
					for _, f := range list.List {
						see(f.Type)
					}
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						see(s.Type)
					}
				case *ast.ValueSpec:
					if s.Type != nil && s.Names[0].IsExported() {
						see(s.Type)
					}
				}
			}
		}
	}
	return found
}

func TestInternalInAPI(t *testing.T) {
	const head = "package p\nimport \"m/internal/a\"\n"
	for source, want := range map[string]int{
		"func F(x a.T) {}":              1,
		"func F() (a.T, *a.U) { }":      2,
		"type T struct { X []a.T }":     1,
		"type T struct { a.T }":         1,
		"type I interface { M(a.T) }":   1,
		"var V map[string]a.T":          1,
		"func f(x a.T) {}":              0,
		"type T struct { x a.T }":       0,
		"func F() { _ = a.New() }":      0,
		"type t struct { X a.T }":       0,
		"func F(a struct{ T int }) { }": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", head+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := internalInAPI(file); len(got) != want {
			t.Errorf("%s: %v, want %d", source, got, want)
		}
	}
}
