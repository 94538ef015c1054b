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

// Core returns the underlying type of a type or, of a type parameter whose types all have the same
// one, such as S ~[]E, that. It returns nil for nil.
func Core(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); !ok {
		return t.Underlying()
	}
	in, ok := t.Underlying().(*types.Interface)
	if !ok || in.NumEmbeddeds() != 1 {
		return t.Underlying()
	}
	of := in.EmbeddedType(0)
	if u, ok := of.(*types.Union); ok {
		if u.Len() != 1 {
			return t.Underlying()
		}
		of = u.Term(0).Type()
	}
	if types.IsInterface(of) {
		return t.Underlying()
	}
	return of.Underlying()
}
