package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/load"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: t.TempDir(), Version: "test"}
	code = Main(context.Background(), args, env)
	return code, out.String(), errs.String()
}

func TestNoArgumentsTeaches(t *testing.T) {
	code, out, _ := run(t)
	if code != 0 || !strings.Contains(out, "hone demo") || !strings.Contains(out, "hone run ./cmd/server") {
		t.Errorf("code %d, out %q", code, out)
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string // in the one line on stderr
	}{
		{"rnu", `did you mean "run"`},
		{"run", "no target"},
		{"run . ./b", "one target at a time"},
		{"run . -laod x", `did you mean "load"`},
		{"run . -rate 5", "-rate, -connections, -max_connections, -method, -body and -expect need a -load"},
		{"run . -expect 404", "-expect need a -load"},
		{"run . -load http://127.0.0.1:1/ -expect 4", "want a list like 200,404 or 4xx"},
		{"load http://127.0.0.1:1/ -method a(b", "is not a method"},
		{"load targets.txt -body x", "targets.txt"},
		{"run . -load http://127.0.0.1:1/ -max_connections 5", "-max_connections limits the connections of a -rate"},
		{"run . -duration 0s", "-duration 0s"},
		{"run . -phases cpu,foo", `no phase "foo"`},
		{"run . -load ftp://x", "ftp"},
		{"run . -build '-tags", "unfinished"},
		{"run . -load http://127.0.0.1:1/ -header nocolon", "Name: value"},
		{"run http://127.0.0.1:1 -bench X", "-bench needs a package"},
		{"run . -pprof /x", "-pprof is for URL"},
		{"findings a b", "takes one recording"},
		{"compare a", "give two recordings"},
		{"diff a", "give two sources"},
		{"diff a b c", "give two sources"},
		{"diff -old a", "-old and -new must be given together"},
		{"diff -old a -new b c", "neither -old nor -new"},
		{"diff a,,b c", "an empty name"},
		{"diff -by x a b", "there are own, flat and cum"},
		{"diff -paths -by cum a b", "give either"},
		{"diff -threshold 200% a b", "want a share"},
		{"diff -threshold much a b", "want a share"},
		{"diff -base x a b", "give the base as the old side"},
		{"diff -granularity addresses a b", "addresses move between builds"},
		{"diff -mean a b", "no sampling error"},
		{"load", "give one URL"},
		{"demo -duration 1s", "at least 4s"},
		{"completion tcsh", "no script"},
		{"rules concat-lop", `did you mean "concat-loop"`},
		{"help fnidings", `did you mean "findings"`},
	} {
		code, out, stderr := run(t, strings.Fields(tc.args)...)
		if code != exitUsage {
			t.Errorf("hone %s: exit code %d, want 2: %s", tc.args, code, stderr)
		}
		if !strings.Contains(stderr, tc.want) {
			t.Errorf("hone %s: stderr %q lacks %q", tc.args, stderr, tc.want)
		}
		if out != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("hone %s: want one line on stderr only, got %q and %q", tc.args, out, stderr)
		}
	}
}

func TestFlagsMayComeAnywhere(t *testing.T) {
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	v := fs.Bool("v", false, "")
	o := fs.String("o", "", "")
	words, rest, err := parse(fs, []string{"a", "-v", "b", "--o", "file", "--", "-n", "--", "7"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(words, []string{"a", "b"}) || !slices.Equal(rest, []string{"-n", "--", "7"}) || !*v || *o != "file" {
		t.Errorf("words %q rest %q v %v o %q", words, rest, *v, *o)
	}
}

func TestEveryCommandHasHelpAndExamplesThatParse(t *testing.T) {
	for _, c := range commands() {
		code, out, stderr := run(t, "help", c.name)
		if code != 0 || !strings.Contains(out, "usage: hone "+c.name) {
			t.Errorf("help %s: code %d, %q %q", c.name, code, out, stderr)
		}
		for _, e := range c.examples {
			if !strings.HasPrefix(e, "hone "+c.name) {
				if c.name != "completion" && c.name != "record" {
					t.Errorf("%s: example %q is of another command", c.name, e)
				}
				continue
			}
			words, err := splitQuoted(e)
			if err != nil {
				t.Errorf("%s: example %q: %v", c.name, e, err)
				continue
			}
			fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
			fs.SetOutput(io.Discard)
			c.declare(fs)
			if _, _, err := parse(fs, words[2:]); err != nil {
				t.Errorf("%s: example %q: %v", c.name, e, err)
			}
		}
	}
}

// TestHelpShowsATargetsFile: the help of -load explains the file that it reads.
func TestHelpShowsATargetsFile(t *testing.T) {
	for _, name := range []string{"run", "record", "load"} {
		_, out, _ := run(t, "help", name)
		for _, want := range []string{"A targets file lists requests", "    GET http://127.0.0.1:8080/items/1\n    Accept: application/json\n", "@item.json", "relative to the targets file"} {
			if !strings.Contains(out, want) {
				t.Errorf("help %s lacks %q", name, want)
			}
		}
	}
	// Hone can read the example.
	_, text, _ := strings.Cut(targetsHelp, "\n\n")
	text, _, _ = strings.Cut(text, "\n\nA target is")
	dir := t.TempDir()
	for name, content := range map[string]string{"targets.txt": text, "item.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := load.ParseTargets(filepath.Join(dir, "targets.txt"), nil)
	if err != nil || len(got) != 2 || got[1].Method != "POST" || string(got[1].Body) != "{}" || len(got[0].Header) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMethodAndBodyOfAURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		arg, method, body string
		wantMethod, want  string
	}{
		{"http://x/", "", "", "GET", ""},
		{"http://x/", "", "a b", "POST", "a b"},
		{"http://x/", "PUT", "@" + file, "PUT", "{}"},
		{"http://x/", "DELETE", "", "DELETE", ""},
		{"PUT http://x/", "", "a", "PUT", "a"},
		{"PUT http://x/", "PUT", "a", "PUT", "a"},
	} {
		l := loadFlags{method: tc.method, body: tc.body}
		o, err := l.options(tc.arg)
		if err != nil || len(o.Targets) != 1 || o.Targets[0].Method != tc.wantMethod || string(o.Targets[0].Body) != tc.want {
			t.Errorf("%+v: %+v, %v", tc, o, err)
		}
	}
	for _, l := range []loadFlags{{method: "GET"}, {body: "@" + file + ".gone"}} {
		if _, err := l.options("POST http://x/"); err == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
}

func TestSplitQuoted(t *testing.T) {
	got, err := splitQuoted(`-tags prod  -ldflags "-X main.v=1 -s" -gcflags='all=-N -l' ''`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-tags", "prod", "-ldflags", "-X main.v=1 -s", "-gcflags=all=-N -l", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEditDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"run", "run", 0}, {"rnu", "run", 2}, {"fnidings", "findings", 2}, {"", "abc", 3}, {"kitten", "sitting", 3}} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestCompletionScriptsNameEveryCommand(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		_, out, _ := run(t, "completion", shell)
		for _, name := range commandNames() {
			if !strings.Contains(out, name) {
				t.Errorf("%s completion lacks %s", shell, name)
			}
		}
		for _, word := range []string{"blocking", "concat-loop", "hone completion recordings"} { // a view, a rule, a command that lists recordings
			if !strings.Contains(out, word) {
				t.Errorf("%s completion lacks %s", shell, word)
			}
		}
	}
}

// TestBashCompletion asks the script in a bash for completions of some lines.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	_, script, _ := run(t, "completion", "bash")
	for line, want := range map[string]string{
		"trace bloc": "blocking", "rules concat-l": "concat-loop", "top base": "baseline", "compa": "compare", "top -nodef": "-nodefraction", "help comm": "comments",
	} {
		words := strings.Fields(line)
		ask := fmt.Sprintf("cd /; hone() { echo baseline; }\n%s\nCOMP_WORDS=(hone %s); COMP_CWORD=%d; _hone; printf '%%s\\n' \"${COMPREPLY[@]}\"", script, line, len(words))
		out, err := exec.Command(bash, "-c", ask).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q (%v), want %q", line, got, err, want)
		}
	}
}
