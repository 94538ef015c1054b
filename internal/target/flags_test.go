package target

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSplitFlags(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                  nil,
		" -a  -b ":                          {"-a", "-b"},
		`-ldflags="-X main.v=1 -s" -tags x`: {"-ldflags=-X main.v=1 -s", "-tags", "x"},
		`'-ldflags=-X "main.v=a b"'`:        {`-ldflags=-X "main.v=a b"`},
		`-tags ""`:                          {"-tags", ""},
	} {
		if got, err := SplitFlags(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("SplitFlags(%q) is %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := SplitFlags(`-ldflags="-s`); err == nil {
		t.Error("a quote without end")
	}
}

func TestMergeFlags(t *testing.T) {
	const ours = "-ldflags=" + linkFlag
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		goflags string
		user    []string
		want    []string
		overlay string
	}{
		{"nothing", "", nil, []string{ours}, ""},
		{"GOFLAGS alone", "-tags=x -ldflags=-s", nil, []string{ours, "-ldflags=-s " + linkFlag}, ""},
		{"quoted GOFLAGS", `'-ldflags=-s -w' -v`, nil, []string{ours, "-ldflags=-s -w " + linkFlag}, ""},
		{
			"both", "-ldflags=-s", []string{"-ldflags", "-w", "-race"},
			[]string{ours, "-ldflags=-s " + linkFlag, "-ldflags=-w " + linkFlag, "-race"}, "",
		},
		{
			"patterns", "", []string{"-ldflags=all=-s", "-ldflags=fmt=", "-ldflags="},
			[]string{ours, "-ldflags=all=-s " + linkFlag, "-ldflags=fmt=" + linkFlag, ours}, "",
		},
		{"a definition that ends in =", "", []string{"-ldflags=-X=main.v="}, []string{ours, "-ldflags=-X=main.v= " + linkFlag}, ""},
		{"gcflags", "-gcflags=-m", []string{"-gcflags=all=-N"}, []string{ours, "-gcflags=all=-N"}, ""},
		{
			"paths", "-modfile=a.mod", []string{"-pgo=x.pprof", "-pgo=auto", "-overlay", "o.json"},
			[]string{ours, "-modfile=" + filepath.Join(dir, "a.mod"), "-pgo=" + filepath.Join(dir, "x.pprof"), "-pgo=auto"},
			filepath.Join(dir, "o.json"),
		},
		{"the user's overlay", "-overlay=a.json", []string{"-overlay=b.json"}, []string{ours}, filepath.Join(dir, "b.json")},
	} {
		goflags, err := parseGOFLAGS(c.goflags)
		if err != nil {
			t.Fatal(err)
		}
		user, err := parseFlags(c.user)
		if err != nil {
			t.Fatal(err)
		}
		m := mergeFlags(goflags, user, dir, linkFlag)
		if !slices.Equal(m.words, c.want) || m.overlay != c.overlay {
			t.Errorf("%s: %q and overlay %q; want %q and %q", c.name, m.words, m.overlay, c.want, c.overlay)
		}
	}
	user, err := parseFlags([]string{"-ldflags=-s", "-x"})
	if err != nil {
		t.Fatal(err)
	}
	if m := mergeFlags(nil, user, dir, ""); !slices.Equal(m.words, []string{"-ldflags=-s", "-x"}) {
		t.Errorf("without probe: %q", m.words)
	}
}

func TestAtLeast(t *testing.T) {
	for v, want := range map[string]bool{
		"go1.23": true, "go1.23rc1": true, "go1.26.8": true, "go1.22.12": false, "go1.9": false,
		"devel go1.27-abcdef Mon Jan 2": true, "go1.22.5 X:rangefunc": false, "": false, "weekly": false,
	} {
		if atLeast(v, "go1.23") != want {
			t.Errorf("atLeast(%q) is not %v", v, want)
		}
	}
}

func FuzzFlags(f *testing.F) {
	f.Add(`'-ldflags=-X a=b' -v`)
	f.Add(`-tags "x y`)
	f.Add("-ldflags fmt= -x=")
	f.Fuzz(func(t *testing.T, s string) {
		words, err := SplitFlags(s)
		if err != nil {
			return
		}
		flags, err := parseFlags(words)
		if err != nil {
			return
		}
		for _, w := range mergeFlags(nil, flags, "/", linkFlag).words {
			if strings.HasPrefix(w, "-ldflags=") && !strings.HasSuffix(w, linkFlag) {
				t.Errorf("%q drops our flag: %q", s, w)
			}
		}
		if goflags, err := parseGOFLAGS(s); err == nil {
			mergeFlags(goflags, flags, "/", linkFlag)
		}
	})
}
