package syntax

import (
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// Offered returns the exported functions of the package of a place, and the boolean fields of its
// exported structs, whose names contain one of some words: what may turn something on.
func Offered(p *gocode.Place, words ...string) (names []string) {
	add := func(o types.Object, name string) {
		for _, w := range words {
			if o.Exported() && strings.Contains(o.Name(), w) {
				names = append(names, name)
				return
			}
		}
	}
	scope := p.Pkg.Scope()
	for _, name := range scope.Names() {
		switch o := scope.Lookup(name).(type) {
		case *types.Func:
			add(o, name)
		case *types.TypeName:
			s, ok := o.Type().Underlying().(*types.Struct)
			for i := 0; ok && o.Exported() && i < s.NumFields(); i++ {
				if f := s.Field(i); types.Identical(f.Type(), types.Typ[types.Bool]) {
					add(f, name+"."+f.Name())
				}
			}
		}
	}
	return names
}
