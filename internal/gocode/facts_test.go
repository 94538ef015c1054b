package gocode

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// site is what the compiler must say about a line that allocates.
type site struct {
	file, mark string
	message    string // "" = no escape record
	flow       string // part of a step
}

var allocSites = []site{
	{"app/cmd/run/main.go", "// site makes", "make([]byte, n) escapes to heap", "flow: {heap} = &{storage for make([]byte, n)}"},
	{"app/cmd/run/main.go", "// site variable", "", ""},
	{"app/cmd/run/main.go", "// site box", "v escapes to heap", "from v (spill)"},
	{"app/cmd/run/main.go", "// site buffer", "moved to heap: buf", "(call parameter)"},
	{"app/cmd/run/main.go", "// site captured", "moved to heap: x", "(captured by a closure)"},
	{"app/cmd/run/main.go", "// site closure", "func literal escapes to heap", "from func literal (spill)"},
	{"app/cmd/run/main.go", "// site inlined", "&sub.T{...} escapes to heap", "(return)"},
	{"app/cmd/run/main.go", "// site generic", "moved to heap: in.v", ""},
	{"app/in/in.go", "// site sprintf", "v escapes to heap", "from ... argument (slice-literal-element)"},
}

// A recorded profile is joined with the compiler's reasons, line by line through inlining, whatever
// file names the binary has.
func TestFactsJoinAProfile(t *testing.T) {
	for _, flags := range [][]string{nil, {"-trimpath"}} {
		t.Run(strings.Join(append([]string{"build"}, flags...), " "), func(t *testing.T) {
			dir := unpack(t, "allocs.txtar")
			app := filepath.Join(dir, "app")
			bin := filepath.Join(t.TempDir(), "run.exe")
			run(t, app, "go", append(append([]string{"build", "-o", bin}, flags...), "./cmd/run")...)
			p, err := profile.ParseData(output(t, bin))
			if err != nil {
				t.Fatal(err)
			}
			x := open(t, Config{Dir: filepath.Join(app, "cmd", "run"), ImportPath: "example.com/app/cmd/run",
				BuildFlags: flags, CacheDir: t.TempDir(), BuildInfo: buildInfo(t, bin)})
			pkgs := []string{"example.com/app/cmd/run", "example.com/app/in", "example.com/Dep/sub"}
			f, err := x.Facts(context.Background(), pkgs)
			if err != nil {
				t.Fatal(err)
			}
			if have, lacking := f.Packages(); len(have) != 3 || len(lacking) != 0 {
				t.Fatalf("have %v, lacking %v", have, lacking)
			}
			for _, s := range allocSites {
				checkSite(t, dir, p, f, s)
			}
			// The blamed frames have owners and sources.
			for _, fn := range p.Function {
				if !strings.HasPrefix(fn.Name, "example.com/") && !strings.HasPrefix(fn.Name, "main.") {
					continue
				}
				o := x.Owner(fn.Name, fn.Filename)
				if o.Kind != Main && o.Module != "example.com/Dep" {
					t.Errorf("%s in %s is owned by %+v", fn.Name, fn.Filename, o)
				}
				if src, err := x.Source(fn.Filename); err != nil || !strings.HasPrefix(src, dir) {
					t.Errorf("source of %s: %s, %v", fn.Filename, src, err)
				}
			}
		})
	}
}

// checkSite finds the samples of a site and the facts of their stacks.
func checkSite(t *testing.T, dir string, p *profile.Profile, f *Facts, s site) {
	t.Helper()
	line := lineOf(t, filepath.Join(dir, filepath.FromSlash(s.file)), s.mark)
	var chain []Pos
	for _, sample := range p.Sample {
		loc := sample.Location[0]
		outer := loc.Line[len(loc.Line)-1]
		if int(outer.Line) != line || filepath.Base(outer.Function.Filename) != filepath.Base(s.file) || sample.Value[0] < 50 {
			continue
		}
		chain = nil
		for _, l := range slices.Backward(loc.Line) {
			chain = append(chain, Pos{File: l.Function.Filename, Line: int(l.Line)})
		}
	}
	if chain == nil {
		t.Errorf("%s: no sample in the profile", s.mark)
		return
	}
	var escapes []Fact
	for _, fact := range f.AtChain(chain) {
		if fact.Code == "escape" {
			escapes = append(escapes, fact)
		}
	}
	if s.message == "" {
		if len(escapes) > 0 {
			t.Errorf("%s: the compiler says it escapes: %+v", s.mark, escapes)
		}
		return
	}
	for _, e := range escapes {
		if e.Message != s.message {
			continue
		}
		if s.flow != "" && !slices.ContainsFunc(e.Flow, func(st FlowStep) bool { return strings.Contains(st.Text, s.flow) }) {
			t.Errorf("%s: no step with %q in %+v", s.mark, s.flow, e.Flow)
		}
		return
	}
	t.Errorf("%s: no %q among %+v for %v; at the line: %+v", s.mark, s.message, escapes, chain, f.At(chain[0].File, chain[0].Line))
}

func TestFactsOfEveryKind(t *testing.T) {
	dir := unpack(t, "allocs.txtar")
	app := filepath.Join(dir, "app")
	x := open(t, Config{Dir: filepath.Join(app, "in"), ImportPath: "example.com/app/in", Test: true, CacheDir: t.TempDir()})
	f, err := x.Facts(context.Background(), []string{"example.com/app/in", "example.com/nowhere", "unicode/utf8"})
	if err != nil {
		t.Fatal(err)
	}
	have, lacking := f.Packages()
	if !slices.Equal(have, []string{"example.com/app/in", "unicode/utf8"}) || lacking["example.com/nowhere"] == "" {
		t.Errorf("have %v, lacking %v", have, lacking)
	}
	for _, c := range []struct{ file, mark, code, message string }{
		{"in.go", "c := *b", "copy", "400 bytes"},
		{"in.go", "// site index", "isInBounds", ""},
		{"in.go", "func Index", "canInlineFunction", "cost: "},
		{"in.go", "func Deferred", "cannotInlineFunction", "DEFER"},
		{"in.go", "func Deferred", "leak", "parameter f leaks to"},
		{"in_test.go", "// site test", "escape", "make([]int, 100) escapes to heap"},
		{"ext_test.go", "// site external test", "escape", "new(int) escapes to heap"},
	} {
		file := filepath.Join(app, "in", c.file)
		facts := f.At(file, lineOf(t, file, c.mark))
		if !slices.ContainsFunc(facts, func(f Fact) bool { return f.Code == c.code && strings.Contains(f.Message, c.message) }) {
			t.Errorf("%s %s: no %s %q in %+v", c.file, c.mark, c.code, c.message, facts)
		}
	}
	utf8 := filepath.Join(x.goEnv().GOROOT, "src", "unicode", "utf8", "utf8.go")
	if facts := f.At("unicode/utf8/utf8.go", lineOf(t, utf8, "func FullRune(")); len(facts) == 0 {
		t.Error("no facts of the standard library")
	}
	if facts := f.AtChain(nil); facts != nil {
		t.Errorf("facts of nothing: %v", facts)
	}
}

func output(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	return out
}

// buildInfo returns the text of a binary's debug.BuildInfo.
func buildInfo(t testing.TB, bin string) string {
	t.Helper()
	// The first line is "file: go1.26.8"; the others are indented by a tab.
	var b strings.Builder
	for i, line := range strings.Split(string(output(t, "go", "version", "-m", bin)), "\n") {
		if i == 0 {
			b.WriteString("go\t" + strings.TrimSpace(line[strings.LastIndex(line, ":")+1:]) + "\n")
			continue
		}
		b.WriteString(strings.TrimPrefix(line, "\t") + "\n")
	}
	return b.String()
}
