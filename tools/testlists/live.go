package main

import (
	"go/ast"
	"strings"
)

const livePackage = "github.com/hone-go/hone/internal/live"

// liveTests returns the tests in the files of a directory that use package live or a declaration in
// a file with the tag, themselves or by what they call. Names decide that, so a test may be listed
// without need, but none is left out.
func liveTests(files []source) (names []string) {
	d := declarations{uses: map[string]map[string]bool{}, live: map[string]bool{}}
	for _, s := range files {
		if strings.HasSuffix(s.name, "_test.go") {
			d.add(s)
		}
	}
	d.spread()
	for name := range d.live {
		if isTest(name) {
			names = append(names, name)
		}
	}
	return names
}

func isTest(name string) bool { return strings.HasPrefix(name, "Test") && name != "TestMain" }

// declarations are those of the test files of a directory. Methods have their name alone.
type declarations struct {
	uses map[string]map[string]bool // the names in each
	live map[string]bool            // those that differ with the tag
}

// add adds the declarations of a file.
func (d *declarations) add(s source) {
	pkg := importName(s.File)
	for _, decl := range s.Decls {
		for _, name := range declared(decl) {
			if d.uses[name] == nil {
				d.uses[name] = map[string]bool{}
			}
			d.live[name] = d.live[name] || s.tagged
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && pkg != "" && x.Name == pkg {
						d.live[name] = true
					}
				case *ast.Ident:
					d.uses[name][n.Name] = true
				}
				return true
			})
		}
	}
}

// spread adds to live the declarations that use one of them.
func (d *declarations) spread() {
	for name, live := range d.live {
		if !live {
			delete(d.live, name)
		}
	}
	for changed := true; changed; {
		changed = false
		for name, uses := range d.uses {
			if d.live[name] {
				continue
			}
			for other := range uses {
				if d.live[other] && !isTest(other) {
					d.live[name], changed = true, true
					break
				}
			}
		}
	}
}

// importName returns the name by which a file imports package live; "" when it does not.
func importName(file *ast.File) string {
	for _, spec := range file.Imports {
		switch {
		case strings.Trim(spec.Path.Value, "\"`") != livePackage:
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return "live"
		}
	}
	return ""
}

// declared returns the names that a declaration declares.
func declared(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{decl.Name.Name}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			}
		}
	}
	return names
}
