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
	_, places := PlacesIn(t, src)
	return places
}

// PlacesIn is [Places] with the syntax of the program.
func PlacesIn(t *testing.T, src string) (*gocode.Syntax, map[string]*gocode.Place) {
	t.Helper()
	_, syntax, file := oneFile(t, "example.com/places", src)
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
	return syntax, places
}

// oneFile type-checks a Go file as the only one of a module.
func oneFile(t *testing.T, module, src string) (code *gocode.Index, syntax *gocode.Syntax, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "main.go")
	for path, text := range map[string]string{file: src, filepath.Join(dir, "go.mod"): "module " + module + "\n\ngo 1.25\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code = openCode(t, dir, module, "")
	return code, syntaxOf(t, code, dir, []string{module}), file
}
