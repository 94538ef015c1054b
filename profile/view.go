package profile

import (
	"errors"
	"regexp"
	"slices"
)

// ViewOptions are pprof's options, under pprof's names: which value of which
// samples and frames a report is about, and how it shows them. They are the
// same for every report. DefaultViewOptions returns pprof's defaults.
type ViewOptions struct {
	SampleIndex string // see Profile.SampleIndex
	AllFrames   bool   // do not drop the frames that the profile names in DropFrames

	TagRoot []string // label keys that become frames above the stack, the first outermost
	TagLeaf []string // label keys that become frames below the stack, the last innermost
	Filter

	// RelativePercentages makes what the filters left the base of
	// percentages, and not the whole profile.
	RelativePercentages bool

	NoInlines   bool // inlined calls count for the function that they were inlined into
	ShowColumns bool // lines are distinguished by column, where the profile has columns
	// TrimPath is a list of prefixes (as in PATH) that are cut off file names;
	// without it, names are cut behind the last element of a directory of
	// SourcePath. SourcePath is where a lister looks for files first.
	TrimPath, SourcePath string

	Mean         bool // show the value divided by the first value (a count)
	DropNegative bool // no rows that a difference made negative
	CallTree     bool // graphs only: a function reached on two paths is two nodes

	Granularity  Granularity
	Order        Order
	NodeCount    int     // most rows or nodes; 0 for all, −1 for the report's own default
	NodeFraction float64 // of the total (0 to 1): rows and nodes with less cum are dropped
	EdgeFraction float64 // of the total (0 to 1): edges with less are dropped

	Unit     string  // "minimum": one unit that fits the smallest; "auto": each its own; or a unit
	DivideBy float64 // values are shown divided by this; not 0

	CompactLabels bool // no header above the table

	Names Names // hone's own: how a report for people names functions
}

// Names is how a report names functions. Files for other programs and JSON have the exact
// names whatever it says.
type Names int

const (
	NamesByReport Names = iota // readable, but exact in a text that is pprof's to the letter
	ReadableNames              // as ReadableName has them
	ExactNames                 // as the profile has them
)

// DefaultViewOptions are those of pprof.
func DefaultViewOptions() ViewOptions {
	return ViewOptions{NodeCount: -1, NodeFraction: 0.005, EdgeFraction: 0.001, Unit: "minimum", DivideBy: 1}
}

// Filters returns the filters as pprof's legend has them: "focus=main".
func (o *ViewOptions) Filters() []string {
	var texts []string
	for _, x := range []struct {
		name string
		re   *regexp.Regexp
		tag  *TagFilter
	}{
		{"focus", o.Focus, nil}, {"ignore", o.Ignore, nil}, {"hide", o.Hide, nil}, {"show", o.Show, nil}, {"show_from", o.ShowFrom, nil},
		{"prune_from", o.PruneFrom, nil}, {"tagfocus", nil, o.TagFocus}, {"tagignore", nil, o.TagIgnore},
		{"tagshow", o.TagShow, nil}, {"taghide", o.TagHide, nil},
	} {
		switch {
		case x.re != nil:
			texts = append(texts, x.name+"="+x.re.String())
		case x.tag != nil:
			texts = append(texts, x.name+"="+x.tag.String())
		}
	}
	return texts
}

// BaseLabel is the label by which pprof marks the samples of a -diff_base.
// Reports do not show it.
const BaseLabel = "pprof::base"

// View is what a report is about: a profile with the options applied that
// choose samples and frames, and the options that are left to the report.
type View struct {
	ViewOptions
	Profile    *Profile  // what is left of the profile; its Filter is applied and done
	Index      int       // column to report
	SampleType ValueType // of that column; the type is "mean_…" with Mean
	Total      int64     // what percentages are of: a sum of magnitudes, or a mean
	// Unmatched names the filters that matched nothing, as a typo would.
	Unmatched []string

	whole *Profile // before the options
}

// View applies the options that choose samples and frames, in pprof's order:
// the profile's own DropFrames, labels as frames, filters, inlined calls.
func (p *Profile) View(o ViewOptions) (*View, error) {
	if o.DivideBy == 0 {
		return nil, errors.New("divide_by is zero")
	}
	index, err := p.SampleIndex(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	v := &View{ViewOptions: o, Profile: p, Index: index, SampleType: p.SampleTypes[index], whole: p}
	if o.Mean {
		v.SampleType.Type = "mean_" + v.SampleType.Type
	}
	if !o.AllFrames {
		if v.Profile, err = p.DropUninteresting(); err != nil {
			return nil, err
		}
	}
	v.Profile = v.Profile.withLabelFrames(o.TagRoot, o.TagLeaf, o.Unit)
	v.Total = v.total()
	v.Profile, v.Unmatched = v.Profile.filter(o.Filter)
	if o.RelativePercentages {
		v.Total = v.total()
	}
	if o.NoInlines {
		v.Profile = v.Profile.withoutInlines(o.ShowColumns)
	}
	v.Profile = v.Profile.withTrimmedPaths(o.TrimPath, o.SourcePath)
	return v, nil
}

// total is the base of percentages: the magnitudes of all samples, or of those
// of the base that the profile was compared with.
func (v *View) total() int64 {
	p := v.Profile
	var sum, count, baseSum, baseCount int64
	isBase := p.setsWithKey(BaseLabel)
	for row, x := range p.values[v.Index] {
		x, n := abs(x), int64(0)
		if v.Mean {
			n = p.values[0][row]
		}
		sum, count = sum+x, count+n
		if isBase != nil && isBase[p.LabelSet(row)] {
			baseSum, baseCount = baseSum+x, baseCount+n
		}
	}
	if baseSum > 0 {
		sum, count = baseSum, baseCount
	}
	if count != 0 {
		return sum / count
	}
	return sum
}

// setsWithKey returns for each label set whether it has a label of this key; nil
// when none has.
func (p *Profile) setsWithKey(key string) []bool {
	id := slices.Index(p.labels.strs, key)
	if id < 0 {
		return nil
	}
	with := make([]bool, p.NumLabelSets())
	for set := range p.labels.sets {
		with[set] = slices.ContainsFunc(p.labels.ids(set), func(l label) bool { return int(l.key) == id })
	}
	return with
}

// TopOptions are the options of a Top of this view with at most limit rows
// when NodeCount does not say; 0 for all.
func (v *View) TopOptions(limit int) TopOptions {
	return TopOptions{
		SampleIndex: v.Index, Total: v.Total, Mean: v.Mean, DropNegative: v.DropNegative,
		Granularity: v.Granularity, Columns: v.ShowColumns, Order: v.Order,
		MinShare: v.NodeFraction, EdgeShare: v.EdgeFraction, Limit: v.Limit(limit), Inline: true,
	}
}

// Limit is NodeCount, or the report's own default where that does not say.
func (v *View) Limit(byDefault int) int {
	if v.NodeCount >= 0 {
		return v.NodeCount
	}
	return byDefault
}

// Divide applies DivideBy to a value, as it is shown.
func (v *View) Divide(value int64) int64 {
	if v.DivideBy <= 0 || v.DivideBy == 1 {
		return value
	}
	return int64(float64(value) * (1 / v.DivideBy))
}

// Format prints a value of the view in a unit that UnitFor gave, as pprof does: "1.20s".
func (v *View) Format(value int64, unit string) string {
	return FormatValue(v.Divide(value), v.SampleType.Unit, unit)
}

// Readable is Format with three significant digits for values below one unit: "0.0312s", where
// pprof prints "0.03s".
func (v *View) Readable(value int64, unit string) string {
	return formatSmall(v.Divide(value), v.SampleType.Unit, unit)
}

// ReadableUnit is UnitFor, but seconds instead of hours where a value is less than an hour: a
// minute as a fraction of an hour is hard to read.
func (v *View) ReadableUnit(least int64) string {
	unit := v.UnitFor(least)
	if hours, label := ScaleValue(v.Divide(least), v.SampleType.Unit, unit); v.ownUnit() && label == "hrs" && hours < 1 {
		return "s"
	}
	return unit
}

// ownUnit reports whether a report chooses its unit, for none was asked for.
func (v *View) ownUnit() bool { return v.Unit == "minimum" || v.Unit == "" }

// UnitFor returns the unit in which to print all values of a report whose
// smallest magnitude other than zero is least (0: there is none). It is the
// unit asked for, and "auto" when each value is to have its own.
func (v *View) UnitFor(least int64) string {
	if !v.ownUnit() {
		return v.Unit
	}
	if least == 0 {
		least = v.Total
	}
	return commonUnit(v.Divide(least), v.Divide(v.Total), v.SampleType.Unit)
}
