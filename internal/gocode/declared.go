package gocode

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
)

// Declared returns the place where the body of a function starts, in any package with syntax; false
// if there is none. [Place.Declaration] finds only functions of the place's own package.
func (s *Syntax) Declared(fn *types.Func) (*Place, bool) {
	if fn == nil || fn.Pkg() == nil {
		return nil, false
	}
	name := fn.Origin().FullName()
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[key]
		if f.pkg.PkgPath != fn.Pkg().Path() {
			continue
		}
		for _, d := range f.file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || decl.Name.Name != fn.Name() {
				continue
			}
			self, ok := f.pkg.TypesInfo.Defs[decl.Name].(*types.Func)
			if !ok || self.FullName() != name {
				continue
			}
			if p, ok := s.at(key, path.Base(key), f.fset.Position(decl.Body.Lbrace).Line); ok {
				return p.Entry(decl), true
			}
		}
	}
	return nil, false
}

// Methods returns the places where the bodies of the main module's methods with a name start, in
// order of package, file and line.
func (s *Syntax) Methods(name string) []*Place {
	var found []*Place
	s.everywhere(func(_ *types.Info, n ast.Node, at func(ast.Node) (*Place, bool)) {
		decl, ok := n.(*ast.FuncDecl)
		if !ok || decl.Recv == nil || decl.Body == nil || decl.Name.Name != name {
			return
		}
		if p, ok := at(decl.Body); ok {
			found = append(found, p.Entry(decl))
		}
	})
	return found
}
