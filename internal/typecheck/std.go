package typecheck

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
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

// Expect says what programs will import from the standard library. The go command takes a quarter
// of a second to answer, however much it is asked for.
func Expect(paths []string) error { return std.need(paths) }

// need asks the go command for the export data of packages that are not known yet.
func (l *library) need(paths []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return l.files[path] != "" || path == "unsafe" })
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
