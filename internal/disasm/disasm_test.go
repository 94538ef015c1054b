package disasm

import (
	"bufio"
	"bytes"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hone-go/hone/internal/live"
)

// A build is one way to build the fixture.
type build struct {
	name  string
	env   []string
	flags []string
}

// quickBuilds use the standard library as it is in the build cache: only linking is needed.
var quickBuilds = []build{
	{name: "plain"},
	{name: "stripped", flags: []string{"-ldflags=-s -w"}},
}

// slowBuilds compile the standard library again, so they need the tag live.
var slowBuilds = []build{
	{name: "pie", flags: []string{"-buildmode=pie"}},
	{name: "trimmed", flags: []string{"-trimpath"}},
	{name: "stripped-pie", flags: []string{"-buildmode=pie", "-ldflags=-s -w"}},
}

// builds returns those for this system.
func builds() []build {
	if !live.On {
		return quickBuilds
	}
	return slices.Concat(quickBuilds, slowBuilds)
}

var crossBuilds = []build{
	{"linux-arm64", []string{"GOOS=linux", "GOARCH=arm64"}, nil},
	{"windows", []string{"GOOS=windows", "GOARCH=amd64"}, nil},
	{"windows-stripped", []string{"GOOS=windows", "GOARCH=amd64"}, []string{"-ldflags=-s -w"}},
	{"darwin-arm64", []string{"GOOS=darwin", "GOARCH=arm64"}, nil},
}

var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// program builds the fixture once per test run.
func program(t testing.TB, b build) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "disasm-test-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir, built.paths = dir, map[string]string{}
	}
	if p := built.paths[b.name]; p != "" {
		return p
	}
	path := filepath.Join(built.dir, b.name)
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", path}, b.flags...), ".")...)
	cmd.Dir = filepath.Join("testdata", "fixture")
	cmd.Env = append(cmd.Environ(), append(b.env, "CGO_ENABLED=0", "GOWORK=off")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", b.name, err, out)
	}
	built.paths[b.name] = path
	return path
}

func open(t testing.TB, b build) *Binary {
	t.Helper()
	bin, err := Open(program(t, b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bin.Close() })
	return bin
}

func (b *Binary) named(t testing.TB, name string) Func {
	t.Helper()
	i := slices.IndexFunc(b.funcs, func(f Func) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s: no function %s", b.Path, name)
	}
	return b.funcs[i]
}

// TestRunningProgram runs the fixture, which prints its program counters with their calls: at each
// address the disassembly must know the same chain of calls, wherever the system loaded the
// program.
func TestRunningProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/self/maps")
	}
	for _, bd := range builds() {
		t.Run(bd.name, func(t *testing.T) {
			bin := open(t, bd)
			cmd := exec.Command(bin.Path)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			maps, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			bias := mappedBias(t, bin, string(maps))
			if pie := strings.Contains(bd.name, "pie"); pie == (bias == 0) {
				t.Errorf("bias %#x", bias)
			}
			checked := 0
			for chain := range chains(t, stderr.String()) {
				f, ok := bin.FuncAt(chain.pc - bias)
				if !ok {
					t.Errorf("no function at %#x", chain.pc-bias)
					continue
				}
				insts, err := bin.Disassemble(f, GoSyntax)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(insts, func(in Inst) bool {
					return in.Addr <= chain.pc-bias && chain.pc-bias < in.Addr+uint64(in.Size)
				})
				if i < 0 || !strings.HasPrefix(insts[i].Text, "CALL") {
					t.Errorf("%s: not at a call", chain.frames[0].Function)
					continue
				}
				if !slices.Equal(insts[i].Frames, chain.frames) {
					t.Errorf("at %#x\n got %v\nwant %v", chain.pc, insts[i].Frames, chain.frames)
				}
				checked += len(chain.frames)
			}
			if checked < 4 {
				t.Errorf("only %d frames checked", checked)
			}
		})
	}
}

func mappedBias(t *testing.T, bin *Binary, maps string) uint64 {
	t.Helper()
	for line := range strings.Lines(maps) {
		var start, limit, offset uint64
		var perm string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &start, &limit, &perm, &offset); n == 4 && strings.Contains(perm, "x") && strings.Contains(line, bin.Path) {
			bias, err := bin.Bias(start, limit, offset)
			if err != nil {
				t.Fatal(err)
			}
			return bias
		}
	}
	t.Fatalf("the program is not in its own map:\n%s", maps)
	return 0
}

type chain struct {
	pc     uint64
	frames []Frame
}

// chains reads the fixture's output: the frames of one address come one after the other, innermost
// first; inlined ones may have their own address.
func chains(t *testing.T, said string) func(func(chain) bool) {
	return func(yield func(chain) bool) {
		var c chain
		s := bufio.NewScanner(strings.NewReader(said))
		for s.Scan() {
			var pc uint64
			var f Frame
			if n, _ := fmt.Sscanf(s.Text(), "frame %d %d %s %s", &pc, &f.Line, &f.File, &f.Function); n != 4 {
				continue
			}
			if c.pc == 0 {
				c.pc = pc
			}
			c.frames = append(c.frames, f)
			if f.Function == "main.outer" || f.Function == "main.main" {
				if !yield(c) {
					return
				}
				c = chain{}
			}
		}
		if len(c.frames) > 0 && c.frames[0].Function == "" {
			t.Errorf("left over: %v", c)
		}
	}
}

// TestAgainstObjdump compares every instruction of some functions with go tool objdump.
func TestAgainstObjdump(t *testing.T) {
	all := quickBuilds[:1]
	if live.On {
		all = []build{quickBuilds[0], slowBuilds[0], slowBuilds[1], crossBuilds[0], crossBuilds[1], crossBuilds[3]}
	}
	for _, bd := range all {
		t.Run(bd.name, func(t *testing.T) {
			bin := open(t, bd)
			for _, name := range []string{"main.outer", "main.generic[go.shape.string]", "main.main", "runtime.schedule"} {
				f := bin.named(t, name)
				insts, err := bin.Disassemble(f, GoSyntax)
				if err != nil {
					t.Fatal(err)
				}
				want := objdump(t, bin.Path, name)
				for len(want) > len(insts) && isFill(want[len(want)-1]) {
					want = want[:len(want)-1]
				}
				if len(insts) != len(want) {
					t.Errorf("%s: %d instructions, objdump has %d", name, len(insts), len(want))
					continue
				}
				for i, in := range insts {
					got := fmt.Sprintf("%s:%d %#x %s", baseName(in.Frames[0].File), in.Frames[0].Line, in.Addr, in.Text)
					if got != want[i] {
						t.Errorf("%s: got %q, want %q", name, got, want[i])
					}
				}
			}
		})
	}
}

func isFill(line string) bool {
	return strings.HasSuffix(line, "INT $0x3") || strings.HasSuffix(line, " ?")
}

func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

func objdump(t *testing.T, path, name string) []string {
	t.Helper()
	quoted := strings.NewReplacer(".", `\.`, "[", `\[`, "]", `\]`).Replace(name)
	out, err := exec.Command("go", "tool", "objdump", "-s", "^"+quoted+"$", path).Output()
	if err != nil {
		t.Skipf("go tool objdump: %v", err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.Trim(line, " \t\n"), "\t")
		cells = slices.DeleteFunc(cells, func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(cells) == 4 {
			lines = append(lines, fmt.Sprintf("%s %s %s", strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3])))
		}
	}
	return lines
}

// TestAgainstGosym compares all functions, and the innermost line of many addresses, with the
// standard library's reader.
func TestAgainstGosym(t *testing.T) {
	for _, bd := range builds() {
		t.Run(bd.name, func(t *testing.T) {
			if runtime.GOOS != "linux" {
				t.Skip("reads an ELF file")
			}
			bin := open(t, bd)
			f, err := elf.Open(bin.Path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			data, err := f.Section(".gopclntab").Data()
			if err != nil {
				t.Fatal(err)
			}
			want, err := gosym.NewTable(nil, gosym.NewLineTable(data, f.Section(".text").Addr))
			if err != nil {
				t.Fatal(err)
			}
			got := bin.table.functions()
			if len(got) != len(want.Funcs) || len(got) < 500 {
				t.Fatalf("%d functions, want %d", len(got), len(want.Funcs))
			}
			for i, f := range got {
				w := want.Funcs[i]
				if f != (Func{w.Name, w.Entry, w.End}) {
					t.Fatalf("function %d: %v, want %s %#x-%#x", i, f, w.Name, w.Entry, w.End)
				}
				if i%20 != 0 {
					continue
				}
				l := bin.linesOf(f)
				for at := f.Entry; at < f.End; at += 7 {
					file, line, _ := want.PCToLine(at)
					if gotFile, gotLine := l.position(at - f.Entry); gotFile != file || gotLine != max(0, line) {
						t.Fatalf("%s+%#x: %s:%d, want %s:%d", f.Name, at-f.Entry, gotFile, gotLine, file, line)
					}
				}
			}
		})
	}
}

// TestInlinedEverywhere reads the inlined calls of a function from each kind of file.
func TestInlinedEverywhere(t *testing.T) {
	all := builds()
	if live.On {
		all = slices.Concat(all, crossBuilds)
	}
	for _, bd := range all {
		t.Run(bd.name, func(t *testing.T) {
			bin := open(t, bd)
			insts, err := bin.Disassemble(bin.named(t, "main.outer"), GoSyntax)
			if err != nil {
				t.Fatal(err)
			}
			deepest := 0
			for _, in := range insts {
				if in.Text == "?" {
					t.Errorf("%#x is not an instruction", in.Addr)
				}
				deepest = max(deepest, len(in.Frames))
				if last := in.Frames[len(in.Frames)-1]; last.Function != "main.outer" || baseName(last.File) != "main.go" {
					t.Errorf("%#x: the outermost call is %v", in.Addr, last)
				}
			}
			// A stripped Windows program does not say where its inline trees are.
			if want := 3; bd.name != "windows-stripped" && deepest != want {
				t.Errorf("deepest chain %d, want %d", deepest, want)
			}
		})
	}
}

// TestVectorCode decodes assembly with AVX instructions: every instruction must be known, and after
// an unknown one the decoder must find the next.
func TestVectorCode(t *testing.T) {
	bin := open(t, quickBuilds[0])
	if bin.Arch != "amd64" {
		t.Skip("the fixture is not for amd64")
	}
	for _, name := range []string{"indexbytebody", "runtime.memclrNoHeapPointers", "runtime.memmove"} {
		insts, err := bin.Disassemble(bin.named(t, name), GoSyntax)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, in := range insts {
			if all += in.Text + "\n"; in.Text == "?" {
				t.Errorf("%s: %#x is not known", name, in.Addr)
			}
		}
		if !strings.Contains(all, "VZEROUPPER") {
			t.Errorf("%s has no VZEROUPPER:\n%s", name, all)
		}
	}
}

func TestIntelSyntax(t *testing.T) {
	bin := open(t, quickBuilds[0])
	if bin.Arch != "amd64" {
		t.Skip("the fixture is not for amd64")
	}
	insts, err := bin.Disassemble(bin.named(t, "main.outer"), IntelSyntax)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := insts[0].Text, "cmp rsp, qword ptr [r14+0x10]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBuildID(t *testing.T) {
	bin := open(t, quickBuilds[0])
	if runtime.GOOS == "linux" && len(bin.BuildID) != 40 {
		t.Errorf("build id %q", bin.BuildID)
	}
}

func TestNotPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "#!/bin/sh\nexit\n", "elf": "\x7fELF\x02\x01\x01", "mz": "MZ\x90\x00 and nothing", "macho": "\xcf\xfa\xed\xfe",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
}
