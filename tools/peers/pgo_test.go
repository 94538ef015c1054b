package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile/report"
)

// TestProfileIsOfThisHone looks for the functions of release.pgo in the source: a profile of
// functions that no longer exist is useless. If this test fails, record it again: go run
// ./tools/peers pgo.
func TestProfileIsOfThisHone(t *testing.T) {
	file := filepath.Join("..", "..", "cmd", "hone", "release.pgo")
	p := decodeFile(t, file)
	names := declared(t, filepath.Join("..", ".."))
	top, err := report.Top(p, report.TopOptions{SampleIndex: len(p.SampleTypes) - 1})
	if err != nil {
		t.Fatal(err)
	}
	var ours, gone int64
	for _, r := range top.Rows {
		name := sourceName(r.Name)
		if r.Flat == 0 || !strings.HasPrefix(name, module) {
			continue
		}
		ours += r.Flat
		if !names[name] {
			gone += r.Flat
			t.Logf("%s no longer exists", name)
		}
	}
	if ours < top.Total/2 {
		t.Errorf("%d of %d ns are hone's own", ours, top.Total)
	}
	if 10*gone > ours {
		t.Errorf("%d of %d ns are in functions that are no more", gone, ours)
	}
	for _, f := range p.Functions {
		if f.Filename != "" {
			t.Fatalf("%s says where a file lay: %s", file, f.Filename)
		}
		if f.StartLine == 0 && strings.HasPrefix(f.Name, module) {
			t.Fatalf("%s begins at no line: the compiler could not use it", f.Name)
		}
	}
}

const module = "github.com/hone-go/hone/"

var (
	closures  = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.deferwrap\d+|-range\d+|\.\d+|-fm)+$`)
	instances = regexp.MustCompile(`\[.*\]`)
)

// sourceName returns the source function that a profile's function is, or is declared in.
func sourceName(function string) string {
	return closures.ReplaceAllString(instances.ReplaceAllString(function, ""), "")
}

// declared returns the functions of a module, named as in profiles.
func declared(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // test data that is broken on purpose
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[module+filepath.ToSlash(filepath.Dir(path))+"."+declaredName(f)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func declaredName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	switch of := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return fmt.Sprintf("(*%s).%s", typeName(of.X), f.Name.Name)
	default:
		return typeName(of) + "." + f.Name.Name
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}
