package syntax

import "go/types"

// Sizes returns the sizes of types on amd64. Other 64-bit platforms have the same. What a type
// parameter stands for counts as one word: the sizes of package types panic for it, and which
// types a program instantiates with is unknown here.
func Sizes() types.Sizes { return instantiated{types.SizesFor("gc", "amd64")} }

// instantiated are sizes that are also known for types that depend on type parameters.
type instantiated struct{ types.Sizes }

func (s instantiated) Sizeof(t types.Type) int64 {
	if Generic(t) {
		t = withWords(t)
	}
	return s.Sizes.Sizeof(t)
}

// withWords returns a type of the same form in which words stand for type parameters.
func withWords(t types.Type) types.Type {
	if !Generic(t) {
		return t
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		var fields []*types.Var
		for f := range u.Fields() {
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), withWords(f.Type()), f.Embedded()))
		}
		return types.NewStruct(fields, nil)
	case *types.Array:
		return types.NewArray(withWords(u.Elem()), u.Len())
	}
	return types.Typ[types.Uintptr]
}

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
