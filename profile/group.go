package profile

import "fmt"

// GroupCost is the cost of a group of locations, in the sample type's unit.
type GroupCost struct {
	Flat int64 // of the samples whose leaf is in the group
	Cum  int64 // of the samples with a location of the group, each counted once
}

// SumGroups sums one column by groups of locations: group[i] is the group of location i, from 0 to
// n−1, or −1 for none. The caller defines the groups: an instruction, a function of a binary.
// Inlined calls do not matter, because a location is one place in the machine code.
func (p *Profile) SumGroups(sampleIndex int, group []int32, n int) ([]GroupCost, error) {
	if sampleIndex < 0 || sampleIndex >= len(p.values) {
		return nil, fmt.Errorf("sum groups: sample index %d is outside 0 to %d", sampleIndex, len(p.values)-1)
	}
	if len(group) != len(p.Locations) {
		return nil, fmt.Errorf("sum groups: %d locations are grouped, the profile has %d", len(group), len(p.Locations))
	}
	for i, g := range group {
		if int(g) >= n {
			return nil, fmt.Errorf("sum groups: location %d is in group %d of %d", i, g, n)
		}
	}
	costs := make([]GroupCost, n)
	seen := make([]int32, n) // last row, plus one, that was added to a group's cum
	for row, v := range p.Values(sampleIndex) {
		stack := p.Stack(row)
		if v == 0 || len(stack) == 0 {
			continue
		}
		if g := group[stack[0]]; g >= 0 {
			costs[g].Flat += v
		}
		for _, l := range stack {
			if g := group[l]; g >= 0 && seen[g] != int32(row+1) {
				seen[g] = int32(row + 1)
				costs[g].Cum += v
			}
		}
	}
	return costs, nil
}
