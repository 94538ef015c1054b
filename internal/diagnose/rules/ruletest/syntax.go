package ruletest

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/hone-go/hone/internal/gocode"
)

// openCode opens the code of a program in a directory, without the go command: the paths of a
// program's files show whose they are, and asking takes 0.1 s of CPU for each of hundreds of
// programs.
func openCode(t *testing.T, dir, importPath, buildInfo string) *gocode.Index {
	t.Helper()
	code, err := gocode.Open(t.Context(), gocode.Config{
		Dir: dir, ImportPath: importPath, BuildInfo: buildInfo, CacheDir: t.TempDir(), GoCommand: "not-asked",
	})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// syntaxOf returns the typed syntax of packages of the program in a directory. gocode's own way to
// it is go list -export, which also compiles the packages.
func syntaxOf(t *testing.T, code *gocode.Index, dir string, pkgs []string) *gocode.Syntax {
	t.Helper()
	c, err := newChecker(dir)
	if err != nil {
		t.Fatal(err)
	}
	var loaded []*packages.Package
	for _, path := range pkgs {
		p, err := c.load(path)
		if err != nil {
			t.Fatal(err)
		}
		loaded = append(loaded, p)
	}
	return code.SyntaxOf(loaded)
}

// A checker type-checks the packages of a program and of the modules in folders below it.
type checker struct {
	modules []*packages.Module // the program's first
	loaded  map[string]*packages.Package
}

func newChecker(dir string) (*checker, error) {
	c := &checker{loaded: map[string]*packages.Package{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mod, err := modfile.ParseLax(path, text, nil)
		if err != nil {
			return err
		}
		m := &packages.Module{Path: mod.Module.Mod.Path, Dir: filepath.Dir(path), Main: filepath.Dir(path) == dir}
		if mod.Go != nil {
			m.GoVersion = mod.Go.Version
		}
		c.modules = append(c.modules, m)
		return nil
	})
	return c, err
}

// dir returns the module and the directory of a package; nil for the standard library.
func (c *checker) dir(path string) (*packages.Module, string) {
	for _, m := range c.modules {
		if rel, ok := strings.CutPrefix(path, m.Path); ok && (rel == "" || rel[0] == '/') {
			return m, filepath.Join(m.Dir, filepath.FromSlash(rel))
		}
	}
	return nil, ""
}

// Import implements [types.Importer].
func (c *checker) Import(path string) (*types.Package, error) {
	if m, _ := c.dir(path); m == nil {
		return std.Import(path)
	}
	p, err := c.load(path)
	if err != nil {
		return nil, err
	}
	return p.Types, nil
}

// load parses and type-checks a package of the program.
func (c *checker) load(path string) (*packages.Package, error) {
	if p := c.loaded[path]; p != nil {
		return p, nil
	}
	module, dir := c.dir(path)
	if module == nil {
		return nil, fmt.Errorf("%s is not in the program", path)
	}
	files, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	if err := std.need(slices.DeleteFunc(files.Imports, func(path string) bool { m, _ := c.dir(path); return m != nil })); err != nil {
		return nil, err
	}
	p := &packages.Package{
		Name: files.Name, PkgPath: path, Fset: fileSet, Module: module, TypesSizes: types.SizesFor("gc", runtime.GOARCH),
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
		},
	}
	for _, name := range files.GoFiles {
		file, err := parser.ParseFile(fileSet, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.Syntax = append(p.Syntax, file)
	}
	config := types.Config{Importer: c, Sizes: p.TypesSizes}
	if module.GoVersion != "" {
		config.GoVersion = "go" + module.GoVersion
	}
	if p.Types, err = config.Check(path, fileSet, p.Syntax, p.TypesInfo); err != nil {
		return nil, err
	}
	c.loaded[path] = p
	return p, nil
}
