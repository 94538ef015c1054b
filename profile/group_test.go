package profile_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
)

// TestSumGroups compares with the definition, sample by sample.
func TestSumGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
		for range rapid.IntRange(0, 20).Draw(t, "samples") {
			var stack []profile.FrameSpec
			for range rapid.IntRange(0, 6).Draw(t, "depth") {
				stack = append(stack, profile.FrameSpec{Function: "f", File: "f.go", Line: int64(rapid.IntRange(1, 8).Draw(t, "line"))})
			}
			b.Add(stack, int64(rapid.IntRange(-3, 5).Draw(t, "value")))
		}
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		const n = 3
		group := make([]int32, len(p.Locations))
		for i := range group {
			group[i] = int32(rapid.IntRange(-1, n-1).Draw(t, "group"))
		}
		got, err := p.SumGroups(0, group, n)
		if err != nil {
			t.Fatal(err)
		}
		var want [n]profile.GroupCost
		for row, v := range p.Values(0) {
			stack := p.Stack(row)
			for g := range want {
				has := false
				for i, l := range stack {
					if group[l] != int32(g) {
						continue
					}
					has = true
					if i == 0 {
						want[g].Flat += v
					}
				}
				if has {
					want[g].Cum += v
				}
			}
		}
		for g := range want {
			if got[g] != want[g] {
				t.Errorf("group %d: %v, want %v", g, got[g], want[g])
			}
		}
	})
}

func TestSumGroupsRefusesNonsense(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	b.Add([]profile.FrameSpec{{Function: "f"}}, 1)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"column":   func() error { _, err := p.SumGroups(1, []int32{0}, 1); return err },
		"too few":  func() error { _, err := p.SumGroups(0, nil, 1); return err },
		"no group": func() error { _, err := p.SumGroups(0, []int32{1}, 1); return err },
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
