// Package typecheck type-checks small programs in tests, without the go command.
//
// go list -export, which go/packages asks for types, compiles what it lists, and a program in a
// temporary directory is never in the build cache: 0.1 s of CPU for each. Here the standard library
// comes from export data, which the go command names once for the whole test, and the program is
// checked from source. It may import modules that are in folders below its own.
package typecheck

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

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// A Program is a program in a directory, with the modules in folders below it that it imports.
type Program struct {
	modules []*packages.Module // the program's first
	loaded  map[string]*packages.Package
}

// Open reads the go.mod files of the program in a directory.
func Open(dir string) (*Program, error) {
	p := &Program{loaded: map[string]*packages.Package{}}
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
		p.modules = append(p.modules, m)
		return nil
	})
	return p, err
}

// dir returns the module and the directory of a package; nil for the standard library.
func (p *Program) dir(path string) (*packages.Module, string) {
	for _, m := range p.modules {
		if rel, ok := strings.CutPrefix(path, m.Path); ok && (rel == "" || rel[0] == '/') {
			return m, filepath.Join(m.Dir, filepath.FromSlash(rel))
		}
	}
	return nil, ""
}

// Import implements [types.Importer].
func (p *Program) Import(path string) (*types.Package, error) {
	if m, _ := p.dir(path); m == nil {
		return std.Import(path)
	}
	pkg, err := p.Load(path)
	if err != nil {
		return nil, err
	}
	return pkg.Types, nil
}

// Load parses and type-checks a package of the program; one with an error is an error.
func (p *Program) Load(path string) (*packages.Package, error) {
	if pkg := p.loaded[path]; pkg != nil {
		return pkg, nil
	}
	module, dir := p.dir(path)
	if module == nil {
		return nil, fmt.Errorf("%s is not in the program", path)
	}
	files, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	if err := std.need(slices.DeleteFunc(files.Imports, func(path string) bool { m, _ := p.dir(path); return m != nil })); err != nil {
		return nil, err
	}
	pkg := &packages.Package{
		Name: files.Name, PkgPath: path, Fset: fileSet, Module: module, TypesSizes: types.SizesFor("gc", runtime.GOARCH),
		TypesInfo: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
		},
	}
	for _, name := range files.GoFiles {
		name = filepath.Join(dir, name)
		file, err := parser.ParseFile(fileSet, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		pkg.GoFiles = append(pkg.GoFiles, name)
		pkg.Syntax = append(pkg.Syntax, file)
	}
	pkg.CompiledGoFiles = pkg.GoFiles
	config := types.Config{Importer: p, Sizes: pkg.TypesSizes}
	if module.GoVersion != "" {
		config.GoVersion = "go" + module.GoVersion
	}
	if pkg.Types, err = config.Check(path, fileSet, pkg.Syntax, pkg.TypesInfo); err != nil {
		return nil, err
	}
	p.loaded[path] = pkg
	return pkg, nil
}
