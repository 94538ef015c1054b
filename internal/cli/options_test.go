package cli

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/driver"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// pprofFlags returns the names of all flags that google/pprof's driver declares.
func pprofFlags(t *testing.T) []string {
	t.Helper()
	fs := &recordedFlags{FlagSet: flag.NewFlagSet("pprof", flag.ContinueOnError)}
	if err := driver.PProf(&driver.Options{Flagset: fs}); err == nil {
		t.Fatal("pprof did something without a source")
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

type recordedFlags struct{ *flag.FlagSet }

func (f *recordedFlags) StringList(name, value, usage string) *[]*string {
	f.String(name, value, usage)
	return &[]*string{}
}
func (f *recordedFlags) ExtraUsage() string    { return "" }
func (f *recordedFlags) AddExtraUsage(string)  {}
func (f *recordedFlags) Parse(func()) []string { return nil }

// TestAllPprofFlagsAreKnown: what pprof accepts, hone accepts, or docs/pprof.md says why not.
func TestAllPprofFlagsAreKnown(t *testing.T) {
	reports := []string{"callgrind", "comments", "disasm", "dot", "eog", "evince", "gif", "gv", "kcachegrind", "list", "pdf", "peek",
		"png", "proto", "ps", "raw", "svg", "tags", "text", "top", "topproto", "traces", "tree", "web", "weblist"}
	elsewhere := []string{
		"http", "no_browser", // the web UI is a command
		"buildid", "tools", // hone symbolizes nothing, and calls no other program for it
		"intel_syntax", // disasm's own
	}
	fs := flag.NewFlagSet("top", flag.ContinueOnError)
	topCommand().declare(fs)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "pprof.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pprofFlags(t) {
		if fs.Lookup(name) == nil && !slices.Contains(reports, name) && !slices.Contains(elsewhere, name) {
			t.Errorf("pprof has -%s, hone does not", name)
		}
		if !regexp.MustCompile("`-?" + name + "[`=]").Match(page) {
			t.Errorf("docs/pprof.md does not mention -%s", name)
		}
	}
}

func parsed(t *testing.T, args ...string) (*profileFlags, error) {
	t.Helper()
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	p := &profileFlags{}
	p.declare(fs, "`N` rows")
	return p, fs.Parse(args)
}

func TestProfileOptions(t *testing.T) {
	for _, tc := range []struct {
		args string
		ok   func(report.Options) bool
	}{
		{"", func(o report.Options) bool {
			return o.NodeCount == -1 && o.NodeFraction == 0.005 && o.Unit == "minimum"
		}},
		{"-cum -lines", func(o report.Options) bool { return o.Order == report.ByCum && o.Granularity == profile.ByLine }},
		{"-sort=cum -granularity=addresses", func(o report.Options) bool {
			return o.Order == report.ByCum && o.Granularity == profile.ByAddress
		}},
		{"-cum=false", func(o report.Options) bool { return o.Order == report.ByFlat }},
		{"-alloc_objects", func(o report.Options) bool { return o.SampleIndex == "alloc_objects" }},
		{"-total_delay", func(o report.Options) bool { return o.SampleIndex == "delay" && !o.Mean }},
		{"-mean_delay", func(o report.Options) bool { return o.SampleIndex == "delay" && o.Mean }},
		{"-sample_index=mean_delay", func(o report.Options) bool { return o.SampleIndex == "delay" && o.Mean }},
		{"-nodecount=7", func(o report.Options) bool { return o.NodeCount == 7 }},
		{"-top=7", func(o report.Options) bool { return o.NodeCount == 7 && o.NodeFraction == 0.005 }},
		{"-top=-1", func(o report.Options) bool { return o.NodeCount == 0 && o.NodeFraction == 0 }},
		{"-trim=false", func(o report.Options) bool {
			return o.NodeCount == 0 && o.NodeFraction == 0 && o.EdgeFraction == 0
		}},
		{"-tagroot=a,,b", func(o report.Options) bool { return slices.Equal(o.TagRoot, []string{"a", "b"}) }},
		{"-tagfocus=bytes=1kb:", func(o report.Options) bool { return o.TagFocus.String() == "bytes=1kb:" }},
	} {
		p, err := parsed(t, strings.Fields(tc.args)...)
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		o, err := p.options()
		if err != nil || !tc.ok(o) {
			t.Errorf("%s: %+v, %v", tc.args, o, err)
		}
	}
}

func TestProfileOptionErrors(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"-lines -files", "give either lines or files"},
		{"-sort=name", "there are flat, cum"},
		{"-divide_by=0", "must not be 0"},
		{"-nodefraction=5", "0.005 is half a percent"},
		{"-top=3 -nodecount=4", "are the same"},
		{"-show_from=(", "-show_from"},
		{"-tagignore=a=(", "-tagignore"},
		{"-base=a -diff_base=b", "give either"},
		{"-normalize", "needs a -base"},
	} {
		p, err := parsed(t, strings.Fields(tc.args)...)
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		_, err = p.options()
		if err == nil {
			_, _, err = p.bases()
		}
		var usage *usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v lacks %q", tc.args, err, tc.want)
		}
	}
}

func TestTimeoutTakesSecondsAndDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"90": 90 * time.Second, "2m": 2 * time.Minute} {
		p, err := parsed(t, "-timeout="+text)
		if err != nil || time.Duration(p.timeout) != want {
			t.Errorf("-timeout=%s: %v, %v", text, time.Duration(p.timeout), err)
		}
	}
}
