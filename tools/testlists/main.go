// Command testlists lists tests for the sections of .ci/run that run some of them once more.
//
//	go run ./tools/testlists live   # the tests that do more with the build tag live: DIR TEST
//	go run ./tools/testlists race   # the packages that start goroutines or guard data: DIR
//
// The other tests would do the same again. Directories are searched from the working directory on,
// without testdata and other modules.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	lines, err := run(os.Args[1:], ".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlists:", err)
		os.Exit(1)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}

func run(args []string, root string) ([]string, error) {
	if len(args) != 1 || args[0] != "live" && args[0] != "race" {
		return nil, errors.New("usage: testlists live|race")
	}
	folders, err := parse(root)
	if err != nil {
		return nil, err
	}
	var lines []string
	for dir, files := range folders {
		name := "./" + filepath.ToSlash(dir)
		switch {
		case args[0] == "live":
			for _, test := range liveTests(files) {
				lines = append(lines, name+" "+test)
			}
		case slices.ContainsFunc(files, concurrent):
			lines = append(lines, name)
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// source is a Go file.
type source struct {
	*ast.File
	name   string
	tagged bool // its build constraint depends on the tag live
}

// parse reads the files of all packages below root, by directory relative to it.
func parse(root string) (map[string][]source, error) {
	folders := map[string][]source{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || hasFile(path, "go.mod")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		folders[dir] = append(folders[dir], source{file, d.Name(), tagged(file)})
		return err
	})
	return folders, err
}

func hasFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// tagged reports whether a file's build constraint needs the tag live, or its absence.
func tagged(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() > file.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			x, err := constraint.Parse(c.Text)
			return err == nil && x.Eval(func(string) bool { return true }) != x.Eval(func(tag string) bool { return tag != "live" })
		}
	}
	return false
}

// concurrent reports whether a file starts goroutines or imports what guards data. Files with the
// tag live do not count: they are not run under the race detector.
func concurrent(s source) (found bool) {
	if s.tagged {
		return false
	}
	for _, spec := range s.Imports {
		switch strings.Trim(spec.Path.Value, "\"`") {
		case "sync", "sync/atomic", "golang.org/x/sync/errgroup":
			return true
		}
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		_, ok := n.(*ast.GoStmt)
		found = found || ok
		return !found
	})
	return found
}
