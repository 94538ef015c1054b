package syntax_test

import (
	"go/types"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/syntax"
)

func TestHoldsPointers(t *testing.T) {
	number := types.Typ[types.Uint64]
	structure := func(field types.Type) types.Type {
		return types.NewStruct([]*types.Var{types.NewField(0, nil, "n", number, false), types.NewField(0, nil, "x", field, false)}, nil)
	}
	for _, c := range []struct {
		of   types.Type
		want bool
	}{
		{number, false},
		{types.Typ[types.String], true},
		{types.Typ[types.Uintptr], false},
		{types.Typ[types.UnsafePointer], true},
		{types.NewPointer(number), true},
		{types.NewSlice(number), true},
		{types.NewArray(number, 8), false},
		{types.NewArray(types.Typ[types.String], 8), true},
		{types.NewArray(types.Typ[types.String], 0), false},
		{structure(types.Typ[types.Float64]), false},
		{structure(types.NewMap(number, number)), true},
		{types.NewInterfaceType(nil, nil), true},
	} {
		if got := syntax.HoldsPointers(c.of); got != c.want {
			t.Errorf("%s: %t", c.of, got)
		}
	}
}
