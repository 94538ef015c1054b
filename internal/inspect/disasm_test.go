package inspect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// spin builds the program of testdata/spin, runs it with profiling, and returns the paths of both.
func spin(t *testing.T, flags ...string) (binary, cpu string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("written for Linux: only there does a profile say where a program was mapped from")
	}
	dir := t.TempDir()
	binary, cpu = filepath.Join(dir, "spin"), filepath.Join(dir, "cpu.pprof")
	build := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", binary}, flags...), ".")...)
	build.Dir = filepath.Join("testdata", "spin")
	build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if out, err := exec.Command(binary, cpu).CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return binary, cpu
}

func viewOf(t *testing.T, cpu string, o source.Opener) (*source.Source, *report.View) {
	t.Helper()
	src, err := o.Profile(t.Context(), cpu)
	if err != nil {
		t.Fatal(err)
	}
	v, err := report.NewView(src.Profile, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return src, v
}

// TestDisassembleProfile charges the instructions of a program that ran, wherever it was loaded and
// whatever was stripped from it.
func TestDisassembleProfile(t *testing.T) {
	builds := map[string][]string{"plain": nil}
	if live.On { // these compile the standard library again
		builds["pie"], builds["stripped"] = []string{"-buildmode=pie"}, []string{"-trimpath", "-ldflags=-s -w"}
	}
	for name, flags := range builds {
		t.Run(name, func(t *testing.T) {
			_, cpu := spin(t, flags...)
			c := source.Opener{CacheDir: t.TempDir()}
			src, v := viewOf(t, cpu, c)
			d, err := Disassemble(t.Context(), c, src, v, regexp.MustCompile(`^main\.work$`), DisasmOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Functions) != 1 {
				t.Fatalf("%d functions", len(d.Functions))
			}
			f := d.Functions[0]
			var flat int64
			deepest := 0
			for _, in := range f.Insts {
				flat += in.Flat
				deepest = max(deepest, len(in.Frames))
			}
			if flat != f.Flat || flat == 0 || f.Cum < f.Flat {
				t.Errorf("instructions sum to %d, the function is %d, %d", flat, f.Flat, f.Cum)
			}
			if deepest != 2 {
				t.Errorf("chains have %d calls, want mix in work", deepest)
			}
			checkLines(t, v, f)
			if name == "plain" {
				againstPprof(t, f, cpu)
			}
		})
	}
}

// checkLines compares the chain of each sampled address with what the runtime wrote into the
// profile.
func checkLines(t *testing.T, v *report.View, f DisassembledFunc) {
	t.Helper()
	p := v.Profile
	byPlace := map[string]int64{}
	for row, x := range p.Values(v.Index) {
		if stack := p.Stack(row); len(stack) > 0 {
			l := p.Locations[stack[0]]
			if outer := p.Functions[l.Lines[len(l.Lines)-1].Func]; outer.Name == f.Name {
				key := ""
				for _, ln := range l.Lines {
					key += fmt.Sprintf("%s:%d ", p.Functions[ln.Func].Name, ln.Line)
				}
				byPlace[key] += x
			}
		}
	}
	for _, in := range f.Insts {
		key := ""
		for _, fr := range in.Frames {
			key += fmt.Sprintf("%s:%d ", fr.Function, fr.Line)
		}
		byPlace[key] -= in.Flat
	}
	for key, left := range byPlace {
		if left != 0 {
			t.Errorf("%s: %d more in the profile than at its instructions", key, left)
		}
	}
}

var pprofLine = regexp.MustCompile(`^ *(\S+) +(\S+) +([0-9a-f]+):`)

// againstPprof compares every instruction's numbers with go tool pprof's.
func againstPprof(t *testing.T, f DisassembledFunc, cpu string) {
	t.Helper()
	live.Only(t)
	// pprof matches the expression against more than the name, so it cannot be anchored.
	cmd := exec.Command("go", "tool", "pprof", "-disasm=main\\.work", f.Binary, cpu)
	cmd.Env = append(cmd.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("go tool pprof: %v", err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if m := pprofLine.FindStringSubmatch(line); m != nil {
			want[m[3]] = m[1] + " " + m[2]
		}
	}
	if len(want) < len(f.Insts) {
		t.Errorf("pprof has %d instructions, want %d:\n%s", len(want), len(f.Insts), out)
	}
	value := func(x int64) string {
		if x == 0 {
			return "."
		}
		return measure.Format(x, "nanoseconds", "auto")
	}
	for _, in := range f.Insts {
		if got := value(in.Flat) + " " + value(in.Cum); got != want[fmt.Sprintf("%x", in.Addr)] {
			t.Errorf("%#x %s: %s, pprof has %s", in.Addr, in.Text, got, want[fmt.Sprintf("%x", in.Addr)])
		}
	}
}

func TestSumGroupsOfAView(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "contentions", Unit: "count"}, profile.ValueType{Type: "delay", Unit: "nanoseconds"})
	leaf, root := profile.FrameSpec{Function: "leaf"}, profile.FrameSpec{Function: "root"}
	b.Add([]profile.FrameSpec{leaf, root}, 4, 100)
	b.Add([]profile.FrameSpec{root}, 1, -600)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		mean, drop bool
		want       [2]profile.GroupCost // of leaf and root
	}{
		{false, false, [2]profile.GroupCost{{Flat: 100, Cum: 100}, {Flat: -600, Cum: -500}}},
		{true, false, [2]profile.GroupCost{{Flat: 25, Cum: 25}, {Flat: -600, Cum: -100}}},
		{false, true, [2]profile.GroupCost{{Flat: 100, Cum: 100}, {}}},
	} {
		o := report.DefaultOptions()
		o.Mean, o.DropNegative = tc.mean, tc.drop
		v, err := report.NewView(p, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sumGroups(v, []int32{0, 1}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if [2]profile.GroupCost(got) != tc.want {
			t.Errorf("mean %v, drop_negative %v: %v, want %v", tc.mean, tc.drop, got, tc.want)
		}
	}
}

// TestDisassembleRefusals: each error says what to do.
func TestDisassembleRefusals(t *testing.T) {
	live.Only(t)
	binary, cpu := spin(t)
	other := filepath.Join(t.TempDir(), "other")
	// Its functions have other addresses, so no sample of a short profile falls into the right one
	// by chance.
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-B none -s -w -randlayout=7", "-gcflags=-N", "-o", other, ".")
	build.Dir = filepath.Join("testdata", "spin")
	build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	c := source.Opener{CacheDir: t.TempDir()}
	src, v := viewOf(t, cpu, c)
	try := func(re string, o DisasmOptions) error {
		_, err := Disassemble(t.Context(), c, src, v, regexp.MustCompile(re), o)
		return err
	}
	for _, tc := range []struct {
		what, re string
		o        DisasmOptions
		want     string
	}{
		{"no such function", "nobody", DisasmOptions{}, "no function that matches"},
		{"inlined everywhere", `main\.mix`, DisasmOptions{}, "their instructions are in main.work"},
		{"another build", `main\.work`, DisasmOptions{Binary: other}, "is not the program that was profiled"},
		{"not there", `main\.work`, DisasmOptions{Binary: "nowhere"}, "nowhere"},
		{"no program", `main\.work`, DisasmOptions{Binary: cpu}, "not a program"},
	} {
		if err := try(tc.re, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.what, err)
		}
	}
	moved := binary + "-moved"
	if err := os.Rename(binary, moved); err != nil {
		t.Fatal(err)
	}
	if err := try(`main\.work`, DisasmOptions{}); err == nil || !strings.Contains(err.Error(), "give it with -binary FILE") {
		t.Errorf("binary gone: %v", err)
	}
	if err := try(`main\.work`, DisasmOptions{Binary: moved, Syntax: disasm.IntelSyntax}); err != nil {
		t.Errorf("binary given: %v", err)
	}
}
