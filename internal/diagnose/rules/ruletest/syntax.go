package ruletest

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/typecheck"
	"github.com/hone-go/hone/profile/symbol"
)

// openCode opens the code of a program in a directory, without the go command: the paths of a
// program's files show whose they are, and asking takes 0.1 s of CPU for each of hundreds of
// programs.
func openCode(t *testing.T, dir, importPath, buildInfo string) *gocode.Index {
	t.Helper()
	code, err := gocode.Open(t.Context(), gocode.Config{
		Dir: dir, ImportPath: importPath, BuildInfo: buildInfo, CacheDir: t.TempDir(), GoCommand: "not-asked",
	})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// syntaxOf returns the typed syntax of packages of the program in a directory.
func syntaxOf(t *testing.T, code *gocode.Index, dir string, pkgs []string) *gocode.Syntax {
	t.Helper()
	if err := expect(); err != nil {
		t.Fatal(err)
	}
	program, err := typecheck.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var loaded []*packages.Package
	for _, path := range pkgs {
		p, err := program.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		loaded = append(loaded, p)
	}
	return code.SyntaxOf(loaded)
}

// expect prepares for what the programs in the test's folder, or folders, import.
var expect = sync.OnceValue(func() error {
	var archives, paths []string
	for _, pattern := range []string{"testdata/*.txtar", "*/testdata/*.txtar"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			return err
		}
		archives = append(archives, found...)
	}
	seen := map[string]bool{}
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			return err
		}
		for _, f := range a.Files {
			if filepath.Ext(f.Name) != ".go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
			if err != nil {
				return fmt.Errorf("%s: %w", archive, err)
			}
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return fmt.Errorf("%s: %w", archive, err)
				}
				if symbol.Standard(path) && !seen[path] {
					seen[path] = true
					paths = append(paths, path)
				}
			}
		}
	}
	return typecheck.Expect(paths)
})
