package syntax

import "go/types"

// Sizes returns the sizes of types on amd64. Other 64-bit platforms have the same.
func Sizes() types.Sizes { return types.SizesFor("gc", "amd64") }

// Generic reports whether the size of a type depends on a type parameter.
func Generic(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if Generic(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return Generic(u.Elem())
	}
	return false
}
