package profile

import "slices"

// Profile makes a profile of a table: a sample for each row with the values cum
// and flat, as pprof's topproto writes it, in the unit of the table's sample
// type. The header's times and period are those of from.
func (t *Top) Profile(from *Profile) (*Profile, error) {
	b := NewBuilder(ValueType{"cum", t.SampleType.Unit}, ValueType{"flat", t.SampleType.Unit})
	for _, r := range t.Rows {
		b.Add([]FrameSpec{{Function: r.Name, File: r.File, Line: r.Line}}, r.Cum, r.Flat)
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.TimeNanos, p.DurationNanos = from.TimeNanos, from.DurationNanos
	p.PeriodType, p.Period = from.PeriodType, from.Period
	return p, nil
}

// Divided is the view's profile with DivideBy applied to all values, as pprof's
// proto writes it.
func (v *View) Divided() *Profile {
	if v.Divide(1<<32) == 1<<32 {
		return v.Profile
	}
	p := *v.Profile
	p.values = make([][]int64, len(p.values))
	for i, column := range v.Profile.values {
		p.values[i] = slices.Clone(column)
		for row := range p.values[i] {
			p.values[i][row] = v.Divide(p.values[i][row])
		}
	}
	return &p
}
