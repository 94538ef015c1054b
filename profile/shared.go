package profile

import (
	"fmt"
	"slices"
)

// Share returns two profiles with only the sample types that both have, in a's order, so that they
// can be merged or subtracted, as pprof does. A profile without other types is returned unchanged.
// If the default sample type is dropped, the first one kept replaces it. dropped holds the types
// that only one of the profiles has, a's first. It is an error if they share no type, or if their
// period types differ.
func Share(a, b *Profile) (x, y *Profile, dropped []ValueType, err error) {
	if a.PeriodType != b.PeriodType {
		return nil, nil, nil, fmt.Errorf("period types differ: %v and %v", a.PeriodType, b.PeriodType)
	}
	if slices.Equal(a.SampleTypes, b.SampleTypes) {
		return a, b, nil, nil
	}
	var fromA, fromB []int
	for i, t := range a.SampleTypes {
		k := slices.Index(b.SampleTypes, t)
		if k < 0 || slices.Index(a.SampleTypes, t) < i {
			dropped = append(dropped, t)
			continue
		}
		fromA, fromB = append(fromA, i), append(fromB, k)
	}
	for k, t := range b.SampleTypes {
		if !slices.Contains(fromB, k) {
			dropped = append(dropped, t)
		}
	}
	if len(fromA) == 0 {
		return nil, nil, nil, fmt.Errorf("they share no sample type: %v and %v", a.SampleTypes, b.SampleTypes)
	}
	return a.withTypes(fromA), b.withTypes(fromB), dropped, nil
}

// withTypes returns the profile with these columns, in this order.
func (p *Profile) withTypes(columns []int) *Profile {
	q := *p
	q.SampleTypes, q.values = nil, nil
	for _, i := range columns {
		q.SampleTypes = append(q.SampleTypes, p.SampleTypes[i])
		q.values = append(q.values, p.values[i])
	}
	if slices.Equal(q.SampleTypes, p.SampleTypes) {
		return p
	}
	if q.TypeIndex(q.DefaultSampleType) < 0 {
		q.DefaultSampleType = q.SampleTypes[0].Type
	}
	return &q
}

// AddShared adds a profile as Add does. If sample types differ, it keeps those that all profiles so
// far share; see [Share]. dropped holds the types that were dropped because of this profile.
func (m *Merger) AddShared(p *Profile) (dropped []ValueType, err error) {
	if m.n == 0 {
		return nil, m.Add(p)
	}
	sum, p, dropped, err := Share(m.out, p)
	if err != nil {
		return nil, err
	}
	if sum != m.out {
		// Start again with the remaining types: rows that only had other values are dropped.
		m.out.SampleTypes, m.out.values, m.out.DefaultSampleType = sum.SampleTypes, sum.values, sum.DefaultSampleType
		if sum, err = m.Profile(); err != nil {
			return nil, err
		}
		*m = *NewMerger()
		if err := m.Add(sum); err != nil {
			return nil, err
		}
	}
	if err := m.Add(p); err != nil {
		return nil, err
	}
	return dropped, nil
}
