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
