package exectrace

import (
	"testing"

	"pgregory.net/rapid"
)

// TestIDTable compares the table with a map.
func TestIDTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model := newIDTable(), map[uint64]uint32{}
		ids := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, 5000), rapid.Uint64())
		for n := range rapid.IntRange(0, 300).Draw(t, "steps") {
			id := ids.Draw(t, "id")
			_, there := model[id]
			switch {
			case there:
				table.drop(id)
				delete(model, id)
			default:
				table.put(id, uint32(n))
				model[id] = uint32(n)
			}
		}
		for id, at := range model {
			if got := table.get(id); got != at {
				t.Fatalf("get(%d) = %d, want %d", id, got, at)
			}
		}
		if table.n != len(model) {
			t.Fatalf("%d ids, want %d", table.n, len(model))
		}
	})
}
