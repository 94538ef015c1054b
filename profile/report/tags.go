package report

import (
	"cmp"
	"github.com/hone-go/hone/profile/measure"
	"slices"
)

// Tag is the cost of the samples with one label key, by label value.
type Tag struct {
	Key    string
	Total  int64 // over all labels with this key: a sample with two of them counts twice
	Values []TagValue
}

// TagValue is one value of a label and the cost of the samples with it.
type TagValue struct {
	Text  string // as measure.Format prints it when the label is a number
	Value int64
}

// Tags sums the view's value by label: keys in order of name, values in order of magnitude, then of
// text. Numbers are printed in the view's unit; those that print alike are one value. Mean does not
// apply.
func (v *View) Tags() []Tag {
	view := v.Profile
	// Labels are few, samples many: sum by label set first.
	sums, seen := make([]int64, view.NumLabelSets()), make([]bool, view.NumLabelSets())
	for row, value := range view.Values(v.Index) {
		sums[view.LabelSet(row)] += value
		seen[view.LabelSet(row)] = true
	}
	units := view.LabelUnits()
	byKey := map[string]map[string]int64{}
	for set, sum := range sums {
		if !seen[set] {
			continue
		}
		for _, l := range view.LabelsOf(set) {
			text := l.Str
			if text == "" {
				text = measure.Format(l.Num, units[l.Key], v.unitOfEach())
			}
			if byKey[l.Key] == nil {
				byKey[l.Key] = map[string]int64{}
			}
			byKey[l.Key][text] += sum
		}
	}
	var tags []Tag
	for key, values := range byKey {
		t := Tag{Key: key}
		for text, value := range values {
			t.Total += value
			t.Values = append(t.Values, TagValue{text, value})
		}
		slices.SortFunc(t.Values, func(a, b TagValue) int {
			return cmp.Or(cmp.Compare(abs(b.Value), abs(a.Value)), cmp.Compare(a.Text, b.Text))
		})
		tags = append(tags, t)
	}
	slices.SortFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return tags
}

// unitOfEach returns the unit for values that are printed alone. As in pprof, the "minimum" is
// determined only for tables.
func (v *View) unitOfEach() string {
	if v.Unit == "minimum" || v.Unit == "" {
		return "auto"
	}
	return v.Unit
}

// FormatEach prints a value as pprof does, in the unit that was asked for, or else in the one that
// fits it.
func (v *View) FormatEach(value int64) string {
	return measure.Format(v.Divide(value), v.SampleType.Unit, v.unitOfEach())
}
