package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

const shellStacks = "main.main;main.a;main.c 60\nmain.main;main.a;runtime.mallocgc 10\nmain.main;main.bell;main.(*T).Do 30\n"

// shellRun runs the lines of a script on shellStacks. DIR in them is the directory of the source.
func shellRun(t *testing.T, script string, args ...string) (code int, stdout, stderr, dir string) {
	t.Helper()
	dir = t.TempDir()
	source := filepath.Join(dir, "x.folded")
	if err := os.WriteFile(source, []byte(shellStacks), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := Env{Stdin: strings.NewReader(script), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, CacheDir: filepath.Join(dir, "cache"), Dir: dir, Version: "test"}
	code = Main(context.Background(), append([]string{"shell", source}, args...), env)
	return code, out.String(), errs.String(), dir
}

// TestShellSaysWhatCommandsSay: a line at the prompt prints the same as the command line with the
// source.
func TestShellSaysWhatCommandsSay(t *testing.T) {
	for _, tc := range []struct{ lines, command string }{
		{"top", "top"},
		{"text", "top"},
		{"top2", "top -top 2"},
		{"top 2 -cum", "top -cum -top 2"},
		{"top -1", "top -top -1"},
		{"top a -mallocgc", "top -focus a -ignore mallocgc"},
		{"top a bell", "top -focus a|bell"},
		{"focus=main\\.a\ntop", "top -focus main\\.a"},
		{"focus='main\\.a|bell'\ntop -focus c", "top -focus c"},
		{"focus=a\nfocus=\ntop", "top"},
		{"focus=a\nignore=b\n:\ntop", "top"},
		{"cum\ntop", "top -cum"},
		{"cum\ntop -flat", "top"},
		{"lines\nfiles\ntop", "top -files"},
		{"nodecount=1\ntop3", "top -top 3"},
		{"relative_percentages\nfocus=a$\ntop", "top -relative_percentages -focus a$"},
		{"json=true\ntop", "top -json"},
		{"tree", "tree"},
		{"peek 'main\\.a$'", "peek main\\.a$"},
		{"list bell", "list bell"},
		{"list 'main' bell", "list main -focus bell"},
		{"traces bell", "traces -focus bell"},
		{"raw", "raw"},
		{"folded", "folded"},
		{"callgrind", "callgrind"},
		{"dot", "graph -format dot"},
		{"flame -json", "flame -json"},
	} {
		_, got, errs, dir := shellRun(t, tc.lines)
		var want bytes.Buffer
		env := Env{Stdin: strings.NewReader(""), Stdout: &want, Stderr: &want, Getenv: func(string) string { return "" }, CacheDir: filepath.Join(dir, "cache"), Dir: dir}
		words := strings.Fields(tc.command)
		code := Main(context.Background(), append(words, filepath.Join(dir, "x.folded")), env)
		if code != 0 || errs != "" || got != want.String() || got == "" {
			t.Errorf("%q: %s%s\nwant what hone %s says: %s", tc.lines, got, errs, tc.command, want.String())
		}
	}
}

func TestShellReadsOnce(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "x.folded")
	if err := os.WriteFile(source, []byte(shellStacks), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	env := Env{Stdout: &out, Stderr: &errs, CacheDir: filepath.Join(dir, "cache"), Dir: dir}
	env.Stdin = readerFunc(func(b []byte) (int, error) { // when it asks for commands, the source is removed
		os.Remove(source)
		env.Stdin = nil
		return copy(b, "top\nbase="+source+"\nsample_index=samples\ntraces\nquit\n"), nil
	})
	if code := Main(context.Background(), []string{"shell", source}, env); code != 0 || errs.Len() > 0 || !strings.Contains(out.String(), "main.bell") {
		t.Errorf("code %d: %s%s", code, out.String(), errs.String())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestShellErrors(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"tpo", `did you mean "top"`},
		{"focsu=x", `no option "focsu" (did you mean "focus"?)`},
		{"focus=(", "-focus: error parsing"},
		{"sample_index=foo", "none of: samples"},
		{"granularity=words", "there are functions"},
		{"nodefraction=5", "half a percent"},
		{"nodecount=many", "nodecount=many"},
		{"list", "give a regular expression"},
		{"top -nodecount", "-nodecount needs a value"},
		{"top >", "no file behind >"},
		{"> x", "no command"},
		{"diff a b", "diff_base=OLD"},
		{"run ./cmd", "leave the shell"},
		{"png", "hone graph"},
		{"help nosuch", "no command or option"},
		{"tags", "no sample has a label"},
	} {
		code, out, errs, _ := shellRun(t, "\n"+tc.line+"\n# a comment\nfolded bell\n")
		if code != 0 || !strings.HasPrefix(errs, "hone: line 2: ") || !strings.Contains(errs, tc.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, stderr %q lacks %q", tc.line, code, errs, tc.want)
		}
		if out != "main.main;main.bell;main.(*T).Do 30\n" {
			t.Errorf("%s: the next line says %q", tc.line, out)
		}
		code, out, errs, _ = shellRun(t, tc.line+"\nfolded\n", "-e")
		if code != exitFailed || out != "" || !strings.HasPrefix(errs, "hone: line 1: ") {
			t.Errorf("-e, %s: code %d, %q, %q", tc.line, code, out, errs)
		}
	}
}

func TestShellTakesFlagsAsOptions(t *testing.T) {
	_, out, errs, _ := shellRun(t, "o\nfolded", "-focus", "bell", "-cum")
	for _, want := range []string{"\n* focus = bell ", "\n* sort = cum ", "\n  ignore = ", "main.main;main.bell;main.(*T).Do 30\n"} {
		if !strings.Contains("\n"+out, want) || errs != "" {
			t.Errorf("%s%s lacks %q", out, errs, want)
		}
	}
}

func TestShellWritesFiles(t *testing.T) {
	_, out, errs, dir := shellRun(t, "folded > out.txt\nproto >p.pprof\nflame > f.svg\nflame\nweb\nweb")
	if out != "" {
		t.Errorf("stdout: %s", out)
	}
	for file, want := range map[string]string{"out.txt": "main.main;main.a;main.c 60\n", "p.pprof": "\x1f\x8b", "f.svg": "<svg"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v %.40q", file, err, data)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "cache", "pages", "*"))
	if err != nil || len(pages) != 3 {
		t.Fatalf("pages: %q %v", pages, err)
	}
	for _, page := range pages {
		if !strings.Contains(errs, "wrote "+page) {
			t.Errorf("%s is not explained in %s", page, errs)
		}
	}
}

func TestShellKeepsFewPages(t *testing.T) {
	_, _, _, dir := shellRun(t, strings.Repeat("web -q\n", keepPages+3))
	pages, _ := filepath.Glob(filepath.Join(dir, "cache", "pages", "*"))
	if len(pages) != keepPages {
		t.Errorf("%d pages, want %d", len(pages), keepPages)
	}
}

func TestShellPipes(t *testing.T) {
	if runtime.GOOS == "windows" {
		_, _, errs, _ := shellRun(t, "top | more")
		if !strings.Contains(errs, "needs a Unix shell") {
			t.Error(errs)
		}
		return
	}
	_, out, errs, _ := shellRun(t, "folded | grep bell | wc -l | tr -d ' '\nfolded | true\noptions | head -1\ntop -focus=( | echo never\ntop | exit 3\ncomments | echo empty")
	if want := "1\n  add_comment = "; !strings.HasPrefix(out, want) || !strings.HasSuffix(out, "\nempty\n") || strings.Contains(out, "never") {
		t.Errorf("%s, want %s", out, want)
	}
	for _, want := range []string{"line 4: -focus", "line 5: | exit 3: exit status 3"} {
		if !strings.Contains(errs, want) || strings.Count(errs, "\n") != 2 {
			t.Errorf("%s lacks %s", errs, want)
		}
	}
}

func TestShellHelp(t *testing.T) {
	_, out, errs, _ := shellRun(t, "help")
	golden := filepath.Join("testdata", "shell_help.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out != strings.ReplaceAll(string(want), "\r\n", "\n") || errs != "" {
		t.Errorf("%s%s\nwant\n%s", out, errs, want)
	}
	_, out, _, _ = shellRun(t, "help focus\nhelp peek\ntree -h\nhelp top7")
	for _, want := range []string{"focus = ", "usage: hone peek", "usage: hone tree", "usage: hone top"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %s", out, want)
		}
	}
}

func TestShellCompletes(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "x.folded")
	if err := os.WriteFile(source, []byte(shellStacks), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := newShell(context.Background(), Env{CacheDir: dir, Dir: dir, Stderr: &bytes.Buffer{}}, []string{source})
	if err := sh.set("sample_index", "samples"); err != nil { // reads the source
		t.Fatal(err)
	}
	for _, tc := range []struct{ line, want string }{
		{"topp", "topproto"},
		{"foc", "focus="},
		{"call_t", "call_tree"},
		{"granu", "granularity="},
		{"sample_index=", "sample_index=samples"},
		{"sort=", "sort=cum sort=flat"},
		{"trim=f", "trim=false"},
		{"focus=main.b", `focus=main\.bell`},
		{"list main.b", `main\.bell`},
		{`list main\.b`, `main\.bell`},
		{"top7 Do", `main\.\(\*T\)\.Do`},
		{"top -runt", `-runtime\.mallocgc`},
		{"top -cu", "-cum"},
		{"help tr", "traces tree trim trim_path"},
		{"nosuch x", ""},
		{"nosuch=", ""},
	} {
		words := strings.Split(tc.line, " ")
		got := sh.candidates(words[:len(words)-1], words[len(words)-1])
		if !slices.Equal(got, strings.Fields(tc.want)) {
			t.Errorf("%s: %q, want %q", tc.line, got, tc.want)
		}
	}
}

func TestCtrlCAbandonsTheLine(t *testing.T) {
	var screen bytes.Buffer
	sh := newShell(context.Background(), Env{Width: 80, Stderr: &bytes.Buffer{}}, []string{"x"})
	term := sh.newTerminal(strings.NewReader("not this\x1b[D\x1b[D\x03top\t 5\r\x1b[A\r"), &screen)
	for range 2 { // typed, then brought back from the history
		line, err := term.ReadLine()
		if err != nil || line != "top 5" {
			t.Errorf("line %q, %v", line, err)
		}
	}
	if !strings.Contains(screen.String(), "topproto") {
		t.Errorf("the choices are not on the screen: %q", screen.String())
	}
}

// TestShellKeepsProfilesUnchanged: a command does not change the source for the next one.
func TestShellKeepsProfilesUnchanged(t *testing.T) {
	_, first, _, dir := shellRun(t, "folded")
	base := filepath.Join(dir, "x.folded")
	_, out, errs, _ := shellRun(t, "folded -base "+base+"\ntop -focus bell > x\nfolded -add_comment x\nhide=main\nhide=\nfolded\n")
	if out != first+first || errs != "" {
		t.Errorf("%s%s, want twice %s", out, errs, first)
	}
}
