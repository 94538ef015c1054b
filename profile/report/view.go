package report

import (
	"errors"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/measure"
	"regexp"
	"slices"
)

// Options are pprof's options, under pprof's names: which value of which samples and frames a
// report is about, and how it shows them. They are the same for every report. DefaultOptions
// returns pprof's defaults.
type Options struct {
	SampleIndex string // see Profile.SampleIndex
	AllFrames   bool   // do not drop the frames that the profile names in DropFrames

	TagRoot []string // label keys that become frames above the stack, the first outermost
	TagLeaf []string // label keys that become frames below the stack, the last innermost
	profile.Filter

	// RelativePercentages computes percentages of what the filters keep instead of the whole
	// profile.
	RelativePercentages bool

	NoInlines   bool // the cost of inlined calls is charged to the function that they were inlined into
	ShowColumns bool // lines are distinguished by column, where the profile has columns
	// TrimPath is a list of prefixes (as in PATH) that are cut off file names. Without it, names
	// are cut after the last element of a directory of SourcePath. SourcePath is where a lister
	// looks for files first.
	TrimPath, SourcePath string

	Mean         bool // show the value divided by the first value (a count)
	DropNegative bool // leave out rows that are negative in a difference
	CallTree     bool // graphs only: a function reached on two paths is two nodes

	Granularity  profile.Granularity
	Order        Order
	NodeCount    int     // maximum number of rows or nodes; 0 for all, −1 for the report's default
	NodeFraction float64 // of the total (0 to 1): rows and nodes with less cum are dropped
	EdgeFraction float64 // of the total (0 to 1): edges with less weight are dropped

	Unit     string  // "minimum": one unit that fits the smallest value; "auto": the unit that fits each value; or a unit
	DivideBy float64 // values are divided by this before they are shown; not 0

	CompactLabels bool // no header above the table

	// KeepStacks leaves the filters of names and labels to the report, as View.Selection, if no
	// other option depends on what they keep. Top and flame graphs can do that.
	KeepStacks bool
	// Cache, if not nil, holds what earlier reports of the profile computed.
	Cache *Cache

	Names Names // an option that pprof does not have: how a report for people names functions
}

// Names is how a report names functions. Output for other programs and JSON always have the exact
// names.
type Names int

const (
	NamesByReport Names = iota // readable; exact in reports that match pprof's text exactly
	ReadableNames              // as symbol.Readable rewrites them
	ExactNames                 // as the profile has them
)

// DefaultOptions returns pprof's defaults.
func DefaultOptions() Options {
	return Options{NodeCount: -1, NodeFraction: 0.005, EdgeFraction: 0.001, Unit: "minimum", DivideBy: 1}
}

// Filters returns the filters as pprof's legend shows them: "focus=main".
func (o *Options) Filters() []string {
	var texts []string
	for _, x := range []struct {
		name string
		re   *regexp.Regexp
		tag  *profile.TagFilter
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

// View is the subject of a report: a profile to which the options that choose samples and frames
// have been applied, and the other options, which the report applies.
type View struct {
	Options
	Profile    *profile.Profile  // the filtered profile; Options.Filter is already applied
	Index      int               // column of the reported value
	SampleType profile.ValueType // of that column; the type is "mean_…" with Mean
	Total      int64             // the base of percentages: a sum of magnitudes, or a mean
	// Unmatched names the filters that matched nothing, for example because of a typing error.
	Unmatched []string
	// Selection is what the filters keep of Profile if they were left to the report (see
	// Options.KeepStacks); otherwise it is nil.
	Selection *profile.Selection

	Whole *profile.Profile // the profile before the options were applied
}

// NewView applies the options that choose samples and frames, in pprof's order: the profile's own
// DropFrames, labels as frames, filters, inlined calls.
func NewView(p *profile.Profile, o Options) (*View, error) {
	if o.DivideBy == 0 {
		return nil, errors.New("divide_by is zero")
	}
	index, err := p.SampleIndex(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	v := &View{Options: o, Profile: p, Index: index, SampleType: p.SampleTypes[index], Whole: p}
	if o.Mean {
		v.SampleType.Type = "mean_" + v.SampleType.Type
	}
	if !o.AllFrames {
		if v.Profile, err = p.DropUninteresting(); err != nil {
			return nil, err
		}
	}
	v.Profile = v.Profile.WithLabelFrames(o.TagRoot, o.TagLeaf, o.Unit)
	v.Total = v.total()
	trimmer := newPathTrimmer(o.TrimPath, o.SourcePath)
	if o.KeepStacks && !o.RelativePercentages && !o.NoInlines && v.Profile.WithFiles(trimmer.trim) == v.Profile {
		if v.Selection, v.Unmatched = o.Filter.Select(v.Profile); v.Selection != nil {
			return v, nil
		}
	}
	v.Profile, v.Unmatched = o.Filter.Apply(v.Profile)
	if o.RelativePercentages {
		v.Total = v.total()
	}
	if o.NoInlines {
		v.Profile = v.Profile.WithoutInlined(o.ShowColumns)
	}
	v.Profile = v.Profile.WithFiles(trimmer.trim)
	return v, nil
}

// total returns the base of percentages: the sum of the magnitudes of all samples or, if the
// profile is a difference, of the samples of its base.
func (v *View) total() int64 {
	p := v.Profile
	var sum, count, baseSum, baseCount int64
	isBase := setsOfBase(p)
	for row, x := range p.Values(v.Index) {
		x, n := abs(x), int64(0)
		if v.Mean {
			n = p.Values(0)[row]
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

// setsOfBase reports, by label set, whether it marks samples of the base; nil when none does.
func setsOfBase(p *profile.Profile) []bool {
	var of []bool
	for set := range p.NumLabelSets() {
		if slices.ContainsFunc(p.LabelsOf(set), func(l profile.Label) bool { return l.Key == profile.BaseLabel }) {
			if of == nil {
				of = make([]bool, p.NumLabelSets())
			}
			of[set] = true
		}
	}
	return of
}

// TopOptions returns the options of a Top of this view. limit is the maximum number of rows if
// NodeCount does not set one; 0 for all.
func (v *View) TopOptions(limit int) TopOptions {
	return TopOptions{
		SampleIndex: v.Index, Total: v.Total, Mean: v.Mean, DropNegative: v.DropNegative,
		Granularity: v.Granularity, Columns: v.ShowColumns, Order: v.Order,
		MinShare: v.NodeFraction, EdgeShare: v.EdgeFraction, Limit: v.limit(limit), Inline: true,
		Selection: v.Selection, Cache: v.Cache,
	}
}

// limit returns NodeCount, or the report's default if NodeCount is not set.
func (v *View) limit(byDefault int) int {
	if v.NodeCount >= 0 {
		return v.NodeCount
	}
	return byDefault
}

// Divide applies DivideBy to a value that is to be shown.
func (v *View) Divide(value int64) int64 {
	if v.DivideBy <= 0 || v.DivideBy == 1 {
		return value
	}
	return int64(float64(value) * (1 / v.DivideBy))
}

// Format prints a value of the view in a unit that UnitFor returned, as pprof does: "1.20s".
func (v *View) Format(value int64, unit string) string {
	return measure.Format(v.Divide(value), v.SampleType.Unit, unit)
}

// Readable is Format with three significant digits for values below one unit: "0.0312s", where
// pprof prints "0.03s".
func (v *View) Readable(value int64, unit string) string {
	return measure.FormatSmall(v.Divide(value), v.SampleType.Unit, unit)
}

// ReadableUnit is UnitFor, but returns seconds instead of hours if least is less than an hour: a
// minute as a fraction of an hour is hard to read.
func (v *View) ReadableUnit(least int64) string {
	unit := v.UnitFor(least)
	if hours, label := measure.Scale(v.Divide(least), v.SampleType.Unit, unit); v.ownUnit() && label == "hrs" && hours < 1 {
		return "s"
	}
	return unit
}

// ownUnit reports whether the report chooses the unit because the options do not.
func (v *View) ownUnit() bool { return v.Unit == "minimum" || v.Unit == "" }

// UnitFor returns the unit for all values of a report whose smallest magnitude other than zero is
// least (0: there is none). If the options name a unit, it returns that. "auto" means that each
// value has its own unit.
func (v *View) UnitFor(least int64) string {
	if !v.ownUnit() {
		return v.Unit
	}
	if least == 0 {
		least = v.Total
	}
	return measure.Common(v.Divide(least), v.Divide(v.Total), v.SampleType.Unit)
}
