package upstream

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// copyModule copies a module's source. A module older than modules gets a go.mod.
func copyModule(dir, source, module string) error {
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		return err
	}
	gomod := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(gomod); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(gomod, []byte("module "+module+"\n"), 0o644)
}

// treeDiff returns a unified diff of two directories, of the files that are Go source, go.mod or
// assembly: files that tests leave behind are not part of a patch.
func treeDiff(old, new string) (string, error) {
	var names []string
	for _, root := range []string{old, new} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == ".git" {
				return fs.SkipDir
			}
			name, err := filepath.Rel(root, path)
			if ext := filepath.Ext(name); d.Type().IsRegular() && (ext == ".go" || ext == ".mod" || ext == ".s") {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range slices.Compact(names) {
		a, err := fileOf(old, name)
		if err != nil {
			return "", err
		}
		z, err := fileOf(new, name)
		if err != nil {
			return "", err
		}
		if bytes.Equal(a, z) {
			continue
		}
		slash := filepath.ToSlash(name)
		_, text, _ := strings.Cut(string(diff.Diff("a/"+slash, a, "b/"+slash, z)), "\n") // without the line "diff a b"
		b.WriteString(text)
	}
	return b.String(), nil
}

// fileOf reads a file; a file that does not exist is empty.
func fileOf(root, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
