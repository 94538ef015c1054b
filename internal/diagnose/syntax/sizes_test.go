package syntax_test

import (
	"go/types"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/syntax"
)

func TestSizeof(t *testing.T) {
	number := types.Typ[types.Uint32]
	param := types.NewTypeParam(types.NewTypeName(0, nil, "T", nil), types.Universe.Lookup("any").Type())
	structure := func(field types.Type) types.Type {
		return types.NewStruct([]*types.Var{types.NewField(0, nil, "n", number, false), types.NewField(0, nil, "x", field, false)}, nil)
	}
	for _, c := range []struct {
		of   types.Type
		want int64
	}{
		{number, 4},
		{structure(number), 8},
		{param, 8},
		{structure(param), 16},
		{types.NewArray(structure(param), 3), 48},
		{types.NewSlice(param), 24},
		{structure(types.NewPointer(param)), 16},
	} {
		if got := syntax.Sizes().Sizeof(c.of); got != c.want {
			t.Errorf("%s: %d, want %d", c.of, got, c.want)
		}
	}
}
