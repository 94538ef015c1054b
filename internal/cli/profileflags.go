package cli

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

const sourceHelp = `SOURCE is a pprof file, a recording (rec.hone, or rec.hone:heap for one of its parts), the
URL of a pprof endpoint, or - for standard input; without it, the last recording. Go's text
profiles (debug=1), goroutine dumps, folded stacks and the output of perf script are read too. An
execution trace is read as the profile of one of its views: trace.out:blocking, rec.hone:trace:sched.`

// profileFlags are the flags of the commands that read profiles: pprof's options, with pprof's
// names and meaning. options and view apply them.
type profileFlags struct {
	outputFlags
	connect     connectFlags
	sampleIndex string
	seconds     int
	from, to    time.Duration // interval of an execution trace
	timeout     seconds
	base        list
	diffBase    list
	normalize   bool
	perRequest  bool

	focus, ignore, hide, show, showFrom, pruneFrom string
	tagFocus, tagIgnore, tagShow, tagHide          string
	tagRoot, tagLeaf                               string

	sort, granularity choice
	trim              bool
	shape             report.Options // what needs no translation
	symbolize         string
	names             string
	programOnly       bool // leave out hone's own work in a recording; set by the command, not by a flag
	comment           string
}

func (p *profileFlags) declare(fs *flag.FlagSet, topUsage string) {
	p.outputFlags.declare(fs, topUsage)
	p.shape = report.DefaultOptions()
	p.declareValue(fs)
	p.declareSources(fs)
	p.declareFilters(fs)
	p.declareShape(fs)
}

// declareValue adds the flags that choose the value to report.
func (p *profileFlags) declareValue(fs *flag.FlagSet) {
	fs.StringVar(&p.sampleIndex, "sample_index", "", "which value: `NAME` or number, e.g. alloc_space, inuse_space, delay")
	for _, name := range []string{"inuse_space", "inuse_objects", "alloc_space", "alloc_objects", "total_delay", "mean_delay", "contentions"} {
		fs.BoolFunc(name, "same as -sample_index="+name, func(s string) error {
			on, err := strconv.ParseBool(s)
			if on {
				p.sampleIndex = name
			}
			return err
		})
	}
	fs.BoolVar(&p.shape.Mean, "mean", false, "show the value divided by the first one, a count")
	fs.Float64Var(&p.shape.DivideBy, "divide_by", 1, "divide all values by `N`, e.g. a number of requests")
	fs.StringVar(&p.shape.Unit, "unit", "minimum", "`UNIT` to show, e.g. ms or MB; auto: chosen for each value; minimum: one unit for all")
}

// declareSources adds the flags for the sources.
func (p *profileFlags) declareSources(fs *flag.FlagSet) {
	fs.IntVar(&p.seconds, "seconds", 0, "length of a CPU profile from a URL, `N` seconds (default 30); for other profiles, the difference over N seconds")
	fs.DurationVar(&p.from, "from", 0, "for an execution trace (SOURCE:blocking, :cpu, :sched, :syscalls): from `D` after its start")
	fs.DurationVar(&p.to, "to", 0, "for an execution trace: until `D` after its start")
	p.connect.declare(fs)
	fs.Var(&p.timeout, "timeout", "wait at most `N` seconds, or a duration, for a URL (default: the profile's length plus 30s)")
	fs.Var(&p.base, "base", "subtract `SOURCE`; percentages of the difference; may be given again")
	fs.Var(&p.diffBase, "diff_base", "subtract `SOURCE`; percentages of SOURCE; may be given again")
	fs.BoolVar(&p.normalize, "normalize", false, "scale the profile to the sum of the base first")
	fs.BoolVar(&p.perRequest, "per_request", false, "scale the base to the source's number of requests, operations, runs or seconds, as hone diff does")
	fs.StringVar(&p.connect.cert, "tls_cert", "", "same as -cert `FILE`")
	fs.StringVar(&p.connect.key, "tls_key", "", "same as -key `FILE`")
	fs.StringVar(&p.connect.ca, "tls_ca", "", "same as -ca `FILE`")
	fs.StringVar(&p.comment, "add_comment", "", "a comment for the profile that proto writes and comments shows, `TEXT`")
	fs.StringVar(&p.symbolize, "symbolize", "", "pprof's `HOW`, accepted and ignored: profiles of Go programs carry their symbols")
	fs.StringVar(&p.shape.SourcePath, "source_path", "", "`DIRS` to search for source first, separated as in PATH")
	fs.StringVar(&p.shape.TrimPath, "trim_path", "", "`PREFIXES` to cut off file names, separated as in PATH")
}

// declareFilters adds the flags that choose samples and frames.
func (p *profileFlags) declareFilters(fs *flag.FlagSet) {
	fs.StringVar(&p.focus, "focus", "", "keep stacks with a frame that matches `REGEXP`")
	fs.StringVar(&p.ignore, "ignore", "", "drop stacks with a frame that matches `REGEXP`")
	fs.StringVar(&p.hide, "hide", "", "drop frames that match `REGEXP`")
	fs.StringVar(&p.show, "show", "", "drop frames that do not match `REGEXP`")
	fs.StringVar(&p.showFrom, "show_from", "", "drop the callers of the outermost frame that matches `REGEXP`")
	fs.StringVar(&p.pruneFrom, "prune_from", "", "drop the callees of the innermost function that matches `REGEXP`")
	fs.StringVar(&p.tagFocus, "tagfocus", "", "keep samples with a label `[KEY=]REGEXP` or range, e.g. 1kb:64kb, bytes=1mb:")
	fs.StringVar(&p.tagIgnore, "tagignore", "", "drop samples with a label `[KEY=]REGEXP` or range")
	fs.StringVar(&p.tagShow, "tagshow", "", "drop labels whose key does not match `REGEXP`")
	fs.StringVar(&p.tagHide, "taghide", "", "drop labels whose key matches `REGEXP`")
	fs.StringVar(&p.tagRoot, "tagroot", "", "make the values of labels with these `KEYS` the outermost frames")
	fs.StringVar(&p.tagLeaf, "tagleaf", "", "make the values of labels with these `KEYS` the innermost frames")
	fs.BoolVar(&p.shape.AllFrames, "all_frames", false, "keep the frames that the profile's drop_frames drops")
	fs.BoolVar(&p.shape.NoInlines, "noinlines", false, "charge inlined calls to the function that they were inlined into")
	fs.BoolVar(&p.shape.DropNegative, "drop_negative", false, "drop rows that are negative in a difference")
}

// declareShape adds the flags that shape a report.
func (p *profileFlags) declareShape(fs *flag.FlagSet) {
	p.granularity.declare(fs, "granularity", "a row for each of `WHAT`: functions, filefunctions, files, lines or addresses",
		"functions", "filefunctions", "files", "lines", "addresses")
	p.sort.declare(fs, "sort", "sort by `WHAT`: flat or cum", "flat", "cum")
	fs.BoolVar(&p.shape.ShowColumns, "showcolumns", false, "distinguish lines by column")
	fs.BoolVar(&p.trim, "trim", true, "leave out small rows and nodes; -trim=false shows all")
	fs.IntVar(&p.shape.NodeCount, "nodecount", -1, "show at most `N` rows or nodes; 0: all; -1: the report's default")
	fs.Float64Var(&p.shape.NodeFraction, "nodefraction", p.shape.NodeFraction, "leave out rows and nodes below this `SHARE` of the total")
	fs.Float64Var(&p.shape.EdgeFraction, "edgefraction", p.shape.EdgeFraction, "leave out calls below this `SHARE` of the total")
	fs.BoolVar(&p.shape.CallTree, "call_tree", false, "graphs: a node for each path to a function")
	fs.BoolVar(&p.shape.RelativePercentages, "relative_percentages", false, "percentages of the filtered total")
	fs.StringVar(&p.names, "names", "", "`HOW` to name closures and generics: readable or exact (default: readable, but exact in traces)")
	fs.BoolVar(&p.shape.CompactLabels, "compact_labels", false, "no heading")
}

// options turns the flags into the options of a view.
func (p *profileFlags) options() (report.Options, error) {
	o := p.shape
	var err error
	if o.Filter, err = p.filter(); err != nil {
		return o, err
	}
	switch p.names {
	case "":
	case "readable":
		o.Names = report.ReadableNames
	case "exact":
		o.Names = report.ExactNames
	default:
		return o, usagef("-names: no %q; use readable or exact", p.names)
	}
	switch o.SampleIndex = p.sampleIndex; p.sampleIndex {
	case "total_delay":
		o.SampleIndex = "delay"
	case "mean_delay":
		o.SampleIndex, o.Mean = "delay", true
	}
	o.TagRoot, o.TagLeaf = keys(p.tagRoot), keys(p.tagLeaf)
	switch {
	case o.DivideBy == 0:
		return o, usagef("-divide_by must not be 0")
	case o.NodeFraction < 0 || o.NodeFraction > 1 || o.EdgeFraction < 0 || o.EdgeFraction > 1:
		return o, usagef("-nodefraction and -edgefraction are shares: 0.005 is half a percent")
	case p.top != 0 && o.NodeCount >= 0:
		return o, usagef("-top and -nodecount are the same flag; give one of them")
	case p.top > 0:
		o.NodeCount = p.top
	case p.top < 0:
		o.NodeCount, o.NodeFraction = 0, 0
	}
	if !p.trim {
		o.NodeCount, o.NodeFraction, o.EdgeFraction = 0, 0, 0
	}
	granularity, err := p.granularity.value("granularity")
	if err != nil {
		return o, err
	}
	order, err := p.sort.value("sort")
	o.Granularity, o.Order = profile.Granularity(granularity), report.Order(order)
	return o, err
}

// filter compiles the filters.
func (p *profileFlags) filter() (profile.Filter, error) {
	var f profile.Filter
	for _, x := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{
		{"focus", p.focus, &f.Focus}, {"ignore", p.ignore, &f.Ignore},
		{"hide", p.hide, &f.Hide}, {"show", p.show, &f.Show},
		{"show_from", p.showFrom, &f.ShowFrom}, {"prune_from", p.pruneFrom, &f.PruneFrom},
		{"tagshow", p.tagShow, &f.TagShow}, {"taghide", p.tagHide, &f.TagHide},
	} {
		if x.text == "" {
			continue
		}
		re, err := regexp.Compile(x.text)
		if err != nil {
			return f, usagef("-%s: %v", x.flag, err)
		}
		*x.to = re
	}
	for _, x := range []struct {
		flag, text string
		to         **profile.TagFilter
	}{{"tagfocus", p.tagFocus, &f.TagFocus}, {"tagignore", p.tagIgnore, &f.TagIgnore}} {
		if x.text == "" {
			continue
		}
		t, err := profile.ParseTagFilter(x.text)
		if err != nil {
			return f, usagef("-%s: %v", x.flag, err)
		}
		*x.to = t
	}
	return f, nil
}

// bases returns the sources to subtract and how.
func (p *profileFlags) bases() ([]string, profile.Subtraction, error) {
	o := profile.Subtraction{Mark: len(p.diffBase) > 0, Normalize: p.normalize}
	switch {
	case len(p.base) > 0 && o.Mark:
		return nil, o, usagef("give either -base or -diff_base: they differ in what percentages refer to")
	case p.normalize && p.perRequest:
		return nil, o, usagef("give either -normalize or -per_request: they scale by different measures")
	case len(p.base) == 0 && !o.Mark && p.perRequest:
		return nil, o, usagef("-per_request needs a -base or -diff_base to scale")
	case len(p.base) == 0 && !o.Mark && p.normalize:
		return nil, o, usagef("-normalize needs a -base or -diff_base to scale to")
	case o.Mark:
		return p.diffBase, o, nil
	}
	return p.base, o, nil
}

// keys splits a list of label keys at commas.
func keys(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// choice is one of a few names, given as -NAME=CHOICE or, as in pprof, as -CHOICE.
type choice struct {
	names  []string
	chosen list
}

func (c *choice) declare(fs *flag.FlagSet, name, usage string, names ...string) {
	c.names = names
	fs.Var(&c.chosen, name, usage)
	for _, n := range names {
		fs.BoolFunc(n, "same as -"+name+"="+n, func(s string) error {
			on, err := strconv.ParseBool(s)
			if on {
				c.chosen = append(c.chosen, n)
			}
			return err
		})
	}
}

// value returns the index of the chosen name, 0 if none was chosen.
func (c *choice) value(flag string) (int, error) {
	at := 0
	for i, chosen := range c.chosen {
		if i > 0 && chosen != c.chosen[0] {
			return 0, usagef("-%s: give either %s or %s", flag, c.chosen[0], chosen)
		}
		at = -1
		for j, name := range c.names {
			if name == chosen {
				at = j
			}
		}
		if at < 0 {
			return 0, usagef("-%s: no %q; there are %s", flag, chosen, strings.Join(c.names, ", "))
		}
	}
	return at, nil
}

// seconds is a time in seconds, as in pprof, or a Go duration.
type seconds time.Duration

func (s *seconds) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *seconds) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		text = fmt.Sprintf("%ds", n)
	}
	d, err := time.ParseDuration(text)
	*s = seconds(d)
	return err
}
