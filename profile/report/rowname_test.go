package report

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"
)

// TestCompareNames: comparing rows without building their names gives the same order as comparing
// the names.
func TestCompareNames(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) Row {
		return Row{
			Name:    rapid.SampledFrom([]string{"", "main.F", "main.F[...]", "main.F.func1", "main.G"}).Draw(t, "name"),
			File:    rapid.SampledFrom([]string{"", "a.go", "a.go:1", "b.go"}).Draw(t, "file"),
			Line:    rapid.SampledFrom([]int64{0, 1, 11, 2, -1}).Draw(t, "line"),
			Column:  rapid.SampledFrom([]int64{0, 0, 3, 30}).Draw(t, "column"),
			Address: rapid.SampledFrom([]uint64{0, 0, 1, 0x11}).Draw(t, "address"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := row.Draw(t, "a"), row.Draw(t, "b")
		if got, want := compareNames(a, b), cmp.Compare(a.String(), b.String()); got != want {
			t.Errorf("%q against %q: %d, want %d", a, b, got, want)
		}
	})
}
