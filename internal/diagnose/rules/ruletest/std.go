package ruletest

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/profile/symbol"
)

// fileSet has the positions of all programs of the test, and of what they import.
var fileSet = token.NewFileSet()

// std is the standard library, which all programs of the test share.
var std = newLibrary()

// A library imports the packages of the standard library from their export data, which the go
// command keeps in its cache. Each is read once.
type library struct {
	mu    sync.Mutex
	files map[string]string // export data by import path
	types types.Importer
}

func newLibrary() *library {
	l := &library{files: map[string]string{}}
	l.types = importer.ForCompiler(fileSet, "gc", func(path string) (io.ReadCloser, error) {
		if l.files[path] == "" {
			return nil, fmt.Errorf("the go command names no export data of %s", path)
		}
		return os.Open(l.files[path])
	})
	return l
}

// Import implements [types.Importer].
func (l *library) Import(path string) (*types.Package, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.types.Import(path)
}

// need asks the go command for the export data of packages that are not known yet. It is asked
// first for all that the programs in the test's folder import, because it takes a quarter of a
// second to answer, however much it is asked for.
func (l *library) need(paths []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.files) == 0 {
		all, err := importsOfArchives()
		if err != nil {
			return err
		}
		paths = append(paths, all...)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return l.files[path] != "" || path == "unsafe" })
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}, slices.Compact(paths)...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		l.files[path] = file
	}
	return nil
}

// importsOfArchives returns the packages of the standard library that the programs in the test's
// folder, or folders, import.
func importsOfArchives() (paths []string, err error) {
	var archives []string
	for _, pattern := range []string{"testdata/*.txtar", "*/testdata/*.txtar"} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			return nil, err
		}
		archives = append(archives, found...)
	}
	seen := map[string]bool{}
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			return nil, err
		}
		for _, f := range a.Files {
			if filepath.Ext(f.Name) != ".go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", archive, err)
			}
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", archive, err)
				}
				if symbol.Standard(path) && !seen[path] {
					seen[path] = true
					paths = append(paths, path)
				}
			}
		}
	}
	return paths, nil
}
