package pprofdriver

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/driver"
	google "github.com/google/pprof/profile"
)

// Run returns what `pprof ARGS PROFILE` prints. -diff_base=base in args names base, which may be
// nil.
func Run(t testing.TB, p, base *google.Profile, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	fs := flag.NewFlagSet("pprof", flag.ContinueOnError)
	err := driver.PProf(&driver.Options{
		Flagset: &driverFlags{fs, slices.Concat(defaults(), args, []string{"-symbolize=none", "-output=out", "profile"})},
		Fetch:   fetchProfile{p, base},
		Writer:  outputWriter{&out},
		Obj:     noBinaries{},
		UI:      quietUI{},
	})
	if err != nil {
		t.Fatalf("pprof %v: %v", args, err)
	}
	return out.String()
}

// defaults sets all options but those of a group, because options outlive a call.
func defaults() []string {
	args := []string{
		"-unit=minimum", "-nodecount=-1", "-nodefraction=0.005", "-edgefraction=0.001", "-trim=true", "-divide_by=1", "-mean=false",
		"-normalize=false", "-drop_negative=false", "-relative_percentages=false", "-call_tree=false", "-compact_labels=false",
		"-noinlines=false", "-showcolumns=false",
	}
	for _, o := range []string{"sample_index", "focus", "ignore", "hide", "show", "show_from", "prune_from", "tagfocus", "tagignore",
		"tagshow", "taghide", "tagroot", "tagleaf", "source_path", "trim_path"} {
		args = append(args, "-"+o+"=")
	}
	return args
}

type driverFlags struct {
	*flag.FlagSet
	args []string
}

func (f *driverFlags) StringList(name, value, usage string) *[]*string {
	list := new([]*string)
	f.Func(name, usage, func(s string) error { *list = append(*list, &s); return nil })
	return list
}
func (f *driverFlags) ExtraUsage() string   { return "" }
func (f *driverFlags) AddExtraUsage(string) {}
func (f *driverFlags) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		panic(err)
	}
	return f.Args()
}

type fetchProfile struct{ p, base *google.Profile }

func (f fetchProfile) Fetch(source string, _, _ time.Duration) (*google.Profile, string, error) {
	if source == "base" {
		return f.base.Copy(), "", nil
	}
	return f.p.Copy(), "", nil
}

type outputWriter struct{ io.Writer }

func (w outputWriter) Open(string) (io.WriteCloser, error) { return w, nil }
func (outputWriter) Close() error                          { return nil }

// noBinaries keeps pprof from looking for disassemblers on this machine.
type noBinaries struct{}

func (noBinaries) Open(file string, _, _, _ uint64, _ string) (driver.ObjFile, error) {
	return nil, errors.New("not here")
}
func (noBinaries) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errors.New("not here")
}

type quietUI struct{}

func (quietUI) ReadLine(string) (string, error)     { return "", io.EOF }
func (quietUI) Print(...any)                        {}
func (quietUI) PrintErr(...any)                     {}
func (quietUI) IsTerminal() bool                    { return false }
func (quietUI) WantBrowser() bool                   { return false }
func (quietUI) SetAutoComplete(func(string) string) {}
