package render

import (
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose"
)

func TestSpentNamesWhatMatters(t *testing.T) {
	r := diagnose.Resources{Spent: []diagnose.Spent{
		{On: "your lines", Share: 0.3}, {On: "dependencies", Share: 0.01},
		{On: "a", Share: 0.2}, {On: "b", Share: 0.1}, {On: "c", Share: 0.1}, {On: "d", Share: 0.1}, {On: "e", Share: 0.1},
	}}
	want := []string{"your lines 30 %", "a 20 %", "b 10 %", "c 10 %", "d 10 %"}
	if got := spent(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
