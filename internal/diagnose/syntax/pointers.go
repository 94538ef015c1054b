package syntax

import (
	"go/types"
)

// HoldsPointers reports whether the garbage collector scans memory of a type. Strings, slices,
// maps, interfaces and functions hold pointers.
func HoldsPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Struct:
		for f := range u.Fields() {
			if HoldsPointers(f.Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return u.Len() > 0 && HoldsPointers(u.Elem())
	}
	return true
}

// Pointed returns the type that a pointer points to; other types as they are.
func Pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
