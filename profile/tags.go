package profile

import (
	"cmp"
	"fmt"
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

// Tags sums one value by label, keys by name, values by magnitude and then by
// text. It obeys SampleIndex and Filter of the options. Numbers are printed
// in unit ("auto": the one that fits) and count as one where they print alike.
func (p *Profile) Tags(o TopOptions, unit string) ([]Tag, error) {
	if err := p.checkIndex(o.SampleIndex); err != nil {
		return nil, fmt.Errorf("tags: %w", err)
	}
	view := p.Filter(o.Filter)
	// Labels are few, samples many: sum by label set first.
	sums, seen := make([]int64, view.NumLabelSets()), make([]bool, view.NumLabelSets())
	for row, v := range view.values[o.SampleIndex] {
		sums[view.LabelSet(row)] += v
		seen[view.LabelSet(row)] = true
	}
	units := view.LabelUnits()
	byKey := map[string]map[string]int64{}
	for set, sum := range sums {
		if !seen[set] {
			continue
		}
		for _, l := range view.labels.set(set) {
			text := l.Str
			if text == "" {
				text = FormatValue(l.Num, units[l.Key], unit)
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
		for text, v := range values {
			t.Total += v
			t.Values = append(t.Values, TagValue{text, v})
		}
		slices.SortFunc(t.Values, func(a, b TagValue) int {
			return cmp.Or(cmp.Compare(abs(b.Value), abs(a.Value)), cmp.Compare(a.Text, b.Text))
		})
		tags = append(tags, t)
	}
	slices.SortFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return tags, nil
}

// LabelUnits returns the unit of each key of labels with numbers, as pprof
// guesses it: the first that a sample gives; without any, bytes for "alignment"
// and "request", and otherwise the key itself.
func (p *Profile) LabelUnits() map[string]string {
	units := map[string]string{}
	seen := make([]bool, p.NumLabelSets())
	for row := range p.NumSamples() {
		set := p.LabelSet(row)
		if seen[set] {
			continue
		}
		seen[set] = true
		for _, l := range p.labels.set(set) {
			if l.Str == "" && units[l.Key] == "" {
				units[l.Key] = l.Unit
			}
		}
	}
	for key, unit := range units {
		switch {
		case unit != "":
		case key == "alignment" || key == "request":
			units[key] = "bytes"
		default:
			units[key] = key
		}
	}
	return units
}
