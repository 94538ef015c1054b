package ruletest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
)

// Places type-checks one Go file as package main of a module of its own and
// returns the places of its lines that carry a comment "//@ name".
func Places(t *testing.T, src string) map[string]*gocode.Place {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	for path, text := range map[string]string{file: src, filepath.Join(dir, "go.mod"): "module example.com/places\n\ngo 1.25\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, err := gocode.Open(t.Context(), gocode.Config{Dir: dir, ImportPath: "example.com/places", CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	syntax, err := code.Syntax(t.Context(), []string{"example.com/places"})
	if err != nil {
		t.Fatal(err)
	}
	if _, lacking := syntax.Packages(); len(lacking) > 0 {
		t.Fatal(lacking)
	}
	places := map[string]*gocode.Place{}
	for i, line := range strings.Split(src, "\n") {
		_, name, ok := strings.Cut(line, "//@ ")
		if !ok {
			continue
		}
		p, ok := syntax.At(file, i+1)
		if !ok {
			t.Fatalf("line %d (%s) holds no code", i+1, name)
		}
		places[strings.TrimSpace(name)] = p
	}
	return places
}
