package ruletest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/hone-go/hone/internal/gocode"
)

// syntax returns the syntax of packages of a program. Programs that need only the standard library
// are loaded together, as a workspace: the go command takes a quarter of a second to answer,
// however much it is asked for.
func syntax(t *testing.T, code *gocode.Index, archive string, pkgs []string) *gocode.Syntax {
	t.Helper()
	if alone(t, archive) {
		s, err := code.Syntax(t.Context(), pkgs)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	all, err := workspace()
	if err != nil {
		t.Fatal(err)
	}
	var loaded []*packages.Package
	for _, path := range pkgs {
		if p := all[path]; p != nil {
			loaded = append(loaded, p)
		} else {
			t.Errorf("%s is not in the workspace", path)
		}
	}
	return code.SyntaxOf(loaded)
}

// alone reports whether the module in an archive requires others, or is in another folder than the
// test.
func alone(t *testing.T, archive string) bool {
	t.Helper()
	if !filepath.IsLocal(archive) {
		return true
	}
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	return requires(text)
}

func requires(archive []byte) bool { return bytes.Contains(archive, []byte("\nrequire ")) }

// workspace loads the packages of all programs of the folder, or folders, that the test is in, by
// import path.
var workspace = sync.OnceValues(func() (map[string]*packages.Package, error) {
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if len(archives) == 0 && err == nil {
		archives, err = filepath.Glob(filepath.Join("*", "testdata", "*.txtar"))
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ruletest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	work := "go 1.26\n"
	var patterns []string
	for i, archive := range archives {
		text, err := os.ReadFile(archive)
		if err != nil {
			return nil, err
		}
		if requires(text) {
			continue
		}
		module := fmt.Sprintf("m%d", i)
		if err := unpackInto(filepath.Join(dir, module), archive); err != nil {
			return nil, err
		}
		work += "use ./" + module + "\n"
		patterns = append(patterns, "./"+module+"/...")
	}
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte(work), 0o644); err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: gocode.SyntaxMode, Dir: dir, Env: append(os.Environ(), "GOPACKAGESDRIVER=off", "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS="),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	all := map[string]*packages.Package{}
	for _, p := range loaded {
		if len(p.Errors) > 0 && !slices.ContainsFunc(p.Errors, func(e packages.Error) bool { return strings.Contains(e.Msg, "build constraints") }) {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		all[p.PkgPath] = p
	}
	return all, nil
})
