package rewrite

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/typecheck"
)

var update = flag.Bool("update", false, "write the golden files")

// mark is a line of a program with the change that must happen to it.
type mark struct {
	line         int
	leave        bool
	rule, reason string
}

func marks(src []byte) (all []mark) {
	pattern := regexp.MustCompile(`// (fix|leave) ([a-z-]+)(?:: (.*))?$`)
	for i, l := range strings.Split(string(src), "\n") {
		if m := pattern.FindStringSubmatch(l); m != nil {
			all = append(all, mark{i + 1, m[1] == "leave", m[2], m[3]})
		}
	}
	return all
}

// module writes a module with the program and returns the file.
func module(t *testing.T, src []byte) (dir, file string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "code.go")
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/code\n\ngo 1.26\n"))
	write(t, file, src)
	return dir, file
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewritten makes all changes that the marks ask for, one after the other as a user would.
func rewritten(t *testing.T, src []byte) []byte {
	t.Helper()
	dir, file := module(t, src)
	for {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := marks(text)
		i := slices.IndexFunc(all, func(m mark) bool { return !m.leave })
		if i < 0 {
			return text
		}
		m := all[i]
		var lines []int // consecutive lines of the rule: one finding
		for _, o := range all[i:] {
			if !o.leave && o.rule == m.rule && o.line <= m.line+2 {
				lines = append(lines, o.line)
			}
		}
		program, err := typecheck.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		pkg, err := program.Load("example.com/code")
		if err != nil {
			t.Fatal(err)
		}
		c, err := Suggest(pkg, file, nil, m.rule, lines)
		if err != nil {
			t.Fatalf("line %d: %s is not rewritten: %v\n%s", m.line, m.rule, err, text)
		}
		if c.Why == "" || c.Risk == "" || bytes.Equal(c.Old, c.New) {
			t.Errorf("line %d: %s: why %q, risk %q", m.line, m.rule, c.Why, c.Risk)
		}
		// The marks of these lines are done.
		done := regexp.MustCompile(`[ \t]*// fix ` + m.rule + `$`)
		count := func(text []byte) int { return bytes.Count(text, []byte("// fix "+m.rule+"\n")) }
		left := len(lines) - (count(text) - count(c.New)) // those that the rewrite did not remove itself
		out := strings.Split(string(c.New), "\n")
		for j, l := range out {
			if left > 0 && done.MatchString(l) {
				out[j] = done.ReplaceAllString(l, "")
				left--
			}
		}
		write(t, file, []byte(strings.Join(out, "\n")))
	}
}

// TestGolden: each rewrite does what its golden file shows, and changes nothing else.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.go.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	covered := map[string][2]int{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marks(src) {
			n := covered[m.rule]
			if m.leave {
				n[1]++
			} else {
				n[0]++
			}
			covered[m.rule] = n
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir, file := module(t, src)
			pkg, err := Load(t.Context(), dir, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range marks(src) {
				if !m.leave {
					continue
				}
				if c, err := Suggest(pkg, file, nil, m.rule, []int{m.line}); err == nil {
					t.Errorf("line %d: %s is rewritten: %s", m.line, m.rule, c.New)
				} else if !strings.Contains(err.Error(), m.reason) {
					t.Errorf("line %d: %s is left alone since %v, want %s", m.line, m.rule, err, m.reason)
				}
			}
			got := rewritten(t, src)
			golden := strings.TrimSuffix(name, ".go.txt") + ".golden"
			if *update {
				write(t, golden, got)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	for _, rule := range Rules() {
		if n := covered[rule]; n[0] == 0 || n[1] == 0 && rule != "constant-work" {
			t.Errorf("%s has %d programs that are rewritten and %d that are left alone", rule, n[0], n[1])
		}
	}
}
