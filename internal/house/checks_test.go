package house

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The checks themselves, on a module that breaks every rule.

const page = "# Page\n\n| floor | package | its one job |\n|---|---|---|\n" +
	"| 0 | `stats` | `numbers` |\n| 2 | `internal/a`, `internal/b` | x |\n|8|`cmd/hone`|y|\n\n| 9 apples | `none` | z |\n"

func TestParseFloors(t *testing.T) {
	got, err := parseFloors([]byte(page))
	if diff := cmp.Diff(floors{"stats": 0, "internal/a": 2, "internal/b": 2, "cmd/hone": 8}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"", "no table", "| 1 | `a` | x |\n| 2 | `a` | y |\n"} {
		if got, err := parseFloors([]byte(bad)); err == nil {
			t.Errorf("%q gives %v", bad, got)
		}
	}
}

func TestCheck(t *testing.T) {
	table, err := parseFloors([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	got := table.check([]goPackage{
		{ImportPath: module + "stats", Imports: []string{"math", "example.com/other"}},
		{ImportPath: module + "internal/a", Imports: []string{module + "stats", module + "internal/a/part"}},
		{ImportPath: module + "internal/a/part", Imports: []string{module + "internal/a", module + "internal/b"}},
		{ImportPath: module + "internal/b", TestImports: []string{module + "cmd/hone"}, XTestImports: []string{module + "internal/b"}},
		{ImportPath: module + "internal/c"},
	})
	want := []problem{
		{"internal/a/part", "import internal/b", "floor 2 imports floor 2"},
		{"internal/b", "import cmd/hone", "floor 2 imports floor 8"},
		{"internal/c", "floor", "not in the table of ARCHITECTURE.md"},
		{"cmd/hone", "floor", "in the table of ARCHITECTURE.md, but not there"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(problem{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestCheckSource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a_windows.go", "package a\n\nimport (\n\t. \"log\"\n\tsystem \"os\"\n)\n\n"+
		"func init() { println(system.Getenv(\"X\")); Fatal() }\n")
	write("a_test.go", "package a\n\nimport \"fmt\"\n\nfunc init() { fmt.Println() }\n")
	write("c_test.go", "package a\n\nimport \"C\"\n")

	what := func(floor int) (list []string) {
		table := floors{"a": floor}
		for _, p := range table.checkSource(t, goPackage{Dir: dir, ImportPath: module + "a"}) {
			list = append(list, p.what)
		}
		slices.Sort(list)
		return list
	}
	always := []string{"func init", `import "C"`, "package comment"}
	for floor, want := range map[int][]string{
		2: append([]string{`import "log"`, "os.Getenv", "println"}, always...),
		7: append([]string{"os.Getenv"}, always...),
		8: always,
	} {
		want = slices.Sorted(slices.Values(want))
		if diff := cmp.Diff(want, what(floor)); diff != "" {
			t.Errorf("floor %d (-want +got):\n%s", floor, diff)
		}
	}
	write("doc.go", "// Package a is documented.\npackage a\n")
	if slices.Contains(what(2), "package comment") {
		t.Error("the package comment was not seen")
	}
}

func TestIsPackageComment(t *testing.T) {
	for text, want := range map[string]bool{
		"// Package a does.\npackage a\n":                 true,
		"// Package b does.\npackage a\n":                 false,
		"// Package a does.\n\npackage a\n":               false,
		"//go:build linux\n\npackage a\n":                 false,
		"package a\n":                                     false,
		"// Command tool does.\npackage main\n":           true,
		"// Package main does.\npackage main\n":           false,
		"/*\nPackage a does.\n*/\npackage a\n":            true,
		"// Package a does.\n//\n// More.\npackage a\n":   true,
		"//go:build x\n\n// Package a does.\npackage a\n": true,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := isPackageComment(file); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
