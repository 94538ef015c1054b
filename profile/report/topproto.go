package report

import "github.com/hone-go/hone/profile"

// Profile returns the table as a profile: a sample for each row with the values cum and flat, as
// pprof's topproto writes it, in the unit of the table's sample type. Times and period are copied
// from from.
func (t *Table) Profile(from *profile.Profile) (*profile.Profile, error) {
	b := profile.NewBuilder(profile.ValueType{Type: "cum", Unit: t.SampleType.Unit}, profile.ValueType{Type: "flat", Unit: t.SampleType.Unit})
	for _, r := range t.Rows {
		b.Add([]profile.FrameSpec{{Function: r.Name, File: r.File, Line: r.Line}}, r.Cum, r.Flat)
	}
	p, err := b.Profile()
	if err != nil {
		return nil, err
	}
	p.TimeNanos, p.DurationNanos = from.TimeNanos, from.DurationNanos
	p.PeriodType, p.Period = from.PeriodType, from.Period
	return p, nil
}

// Divided returns the view's profile with DivideBy applied to all values, as pprof's proto writes
// it.
func (v *View) Divided() *profile.Profile {
	if v.Divide(1<<32) == 1<<32 {
		return v.Profile
	}
	return v.Profile.MapValues(func(_ int, value int64) int64 { return v.Divide(value) })
}
