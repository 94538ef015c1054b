package report

import (
	"cmp"
	"github.com/hone-go/hone/profile/measure"
	"slices"
)

// Tag is what the samples with one label key cost, by its values.
type Tag struct {
	Key    string
	Total  int64 // over all labels of this key: a sample with two of them counts twice
	Values []TagValue
}

// TagValue is one value of a label and what the samples with it cost.
type TagValue struct {
	Text  string // as FormatValue prints it when the label is a number
	Value int64
}

// Tags sums the view's value by label, keys by name, values by magnitude and then
// by text. Numbers are printed in the view's unit and count as one where they
// print alike. Mean does not apply.
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

// unitOfEach is the unit to print values in that stand alone, as pprof has it: a
// minimum is only sought for tables.
func (v *View) unitOfEach() string {
	if v.Unit == "minimum" || v.Unit == "" {
		return "auto"
	}
	return v.Unit
}

// FormatEach prints a value as pprof does, in the unit that was asked for, else
// in the one that fits it.
func (v *View) FormatEach(value int64) string {
	return measure.Format(v.Divide(value), v.SampleType.Unit, v.unitOfEach())
}
