package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLists(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a_test.go": `package a
import "` + livePackage + `"
func TestSelf(t *T) { live.Only(t) }
func TestSub(t *T) { t.Run("x", sub) }
func TestDeep(t *T) { deep(t) }
func TestTable(t *T) { use(table) }
func TestNot(t *T) { plain(t); println("live.Only") }
func TestMain(m *M) { live.Only(nil) }
func deep(t *T) { sub(t) }
func sub(t *T) { live.Only(t) }
func plain(t *T) { println(live()) }
var table = []bool{live.On}
`,
		"a/other_test.go":    "package a_test\nfunc TestOther(t *T) { live.Only(t) }\nfunc TestCount(t *T) { use(count) }\n",
		"a/on_test.go":       "//go:build live\n\npackage a_test\nconst count = 2\nfunc TestTagged(t *T) {}\n",
		"a/off_test.go":      "//go:build !live && linux\n\npackage a_test\nconst count = 1\n",
		"b/b_test.go":        "package b\nimport on \"" + livePackage + "\"\nfunc TestNamed(t *T) { on.Only(t) }\nfunc TestNot(t *T) {}\n",
		"c/c.go":             "package c\nfunc f() { go f() }\n",
		"d/d.go":             "package d\nimport \"sync/atomic\"\n",
		"e/e.go":             "package e\nvar text = `\n\tgo run()\n\"sync\"\n`\n",
		"e/live_test.go":     "//go:build live\n\npackage e\nimport \"sync\"\n",
		"f/testdata/f.go":    "package f\nimport \"sync\"\n",
		"examples/g/go.mod":  "module g\n",
		"examples/g/g.go":    "package g\nimport \"sync\"\n",
		"examples/h_test.go": "package h\nimport \"golang.org/x/sync/errgroup\"\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for list, want := range map[string]string{
		"live": "./a TestCount|./a TestDeep|./a TestSelf|./a TestSub|./a TestTable|./a TestTagged|./b TestNamed",
		"race": "./c|./d|./examples",
	} {
		got, err := run([]string{list}, root)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %v\n got %s\nwant %s", list, err, strings.Join(got, "|"), want)
		}
	}
	if _, err := run([]string{"other"}, root); err == nil {
		t.Error("a list that does not exist was accepted")
	}
}

// TestProject: every package of this project that uses package live has a test in the list.
func TestProject(t *testing.T) {
	root := filepath.Join("..", "..")
	folders, err := parse(root)
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range folders {
		uses := slices.ContainsFunc(files, func(s source) bool {
			return strings.HasSuffix(s.name, "_test.go") && (s.tagged || importName(s.File) != "")
		})
		if uses && len(liveTests(files)) == 0 {
			t.Errorf("%s uses package live, but no test is listed", dir)
		}
	}
}
