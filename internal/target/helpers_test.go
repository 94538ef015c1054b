package target

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// soon returns a context that outlives every step that works.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// tree unpacks a txtar archive into a new directory.
func tree(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// snapshot maps every file of a tree to its content and its mode.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		info, ierr := d.Info()
		if err != nil || ierr != nil {
			return err
		}
		files[path] = info.Mode().String() + " " + string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// mustBuild builds with the probe, and fails the test if the probe is missing.
func mustBuild(t *testing.T, s BuildSpec) *Binary {
	t.Helper()
	if s.WorkDir == "" {
		s.WorkDir = t.TempDir()
	}
	b, err := Build(soon(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Probe {
		t.Fatalf("built without probe: %q", b.Notes)
	}
	return b
}

// mustStart starts the program and stops it with the test.
func mustStart(t *testing.T, b *Binary, s RunSpec) *Process {
	t.Helper()
	p, err := b.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(soon(t)); err != nil {
			t.Error(err)
		}
	})
	return p
}

// finish waits until the program exits.
func finish(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not end")
	}
	return p.Exit()
}

// inflate returns a profile's protobuf, in which the names of functions are plain text.
func inflate(t *testing.T, profile []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		t.Fatalf("not a pprof profile: %v: %.80q", err, profile)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantIn(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in %.2000q", w, text)
		}
	}
}

// topLevel returns the names that a file declares or imports, and what it imports.
func topLevel(t *testing.T, src []byte) (names, imports []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "probe.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range f.Imports {
		path, err := strconv.Unquote(im.Path.Value)
		if err != nil || im.Name == nil {
			t.Fatalf("import %s has no name of its own, %v", im.Path.Value, err)
		}
		names, imports = append(names, im.Name.Name), append(imports, path)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names, imports
}

// waitProbe waits until the probe of a process has started, when package main is initialised.
// Without probe it does not wait.
func waitProbe(ctx context.Context, p *Process) error {
	if p.wire == nil {
		return nil
	}
	select {
	case <-p.wire.greeted:
		return nil
	case <-p.done:
		return endedBefore(p.exit, "the probe")
	case <-ctx.Done():
		return fmt.Errorf("waited for the probe, which starts with package main: %w", ctx.Err())
	}
}
