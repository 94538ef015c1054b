package demo

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/tools/txtar"
)

//go:generate go test -run TestArchiveHoldsTheExamples -update

// archive holds examples/leftpad: the modules "before" and "after".
//
//go:embed leftpad.txtar
var archive []byte

// Extract writes the two modules to dir, and returns the directory of each. Files that are already
// right are not written, so that a recording of an earlier demo keeps its sources; files of another
// version of the example are replaced.
func Extract(dir string) (before, after string, err error) {
	before, after = filepath.Join(dir, "before"), filepath.Join(dir, "after")
	wanted := make(map[string][]byte)
	for _, f := range txtar.Parse(archive).Files {
		wanted[filepath.Join(dir, filepath.FromSlash(f.Name))] = f.Data
	}
	for _, module := range []string{before, after} {
		if err := removeOthers(module, wanted); err != nil {
			return "", "", fmt.Errorf("extract the demo: %w", err)
		}
	}
	for path, data := range wanted {
		if err := writeChanged(path, data); err != nil {
			return "", "", fmt.Errorf("extract the demo: %w", err)
		}
	}
	return before, after, nil
}

// removeOthers deletes the files directly in dir that are not wanted: a source file of another
// version would be built into the program.
func removeOthers(dir string, wanted map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, keep := wanted[path]; keep || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// writeChanged writes a file unless it already contains data.
func writeChanged(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
