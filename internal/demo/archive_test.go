package demo

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write leftpad.txtar from examples/leftpad")

const examples = "../../examples/leftpad"

// The archive equals examples/leftpad, file for file.
func TestArchiveHoldsTheExamples(t *testing.T) {
	want := txtar.Format(&txtar.Archive{Comment: []byte(comment), Files: tree(t, examples)})
	if *update {
		if err := os.WriteFile("leftpad.txtar", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(archive, want) {
		t.Errorf("leftpad.txtar is not examples/leftpad; run go generate ./internal/demo\n%s",
			cmp.Diff(string(archive), string(want)))
	}
}

const comment = "Copy of examples/leftpad, made by go generate ./internal/demo; edit there.\n\n"

// What is extracted equals the files in examples, byte for byte: the archive's format loses nothing
// (a missing last newline, a line that looks like a file marker).
func TestExtract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	before, after, err := Extract(dir)
	if err != nil {
		t.Fatal(err)
	}
	if before != filepath.Join(dir, "before") || after != filepath.Join(dir, "after") {
		t.Errorf("extracted to %s and %s", before, after)
	}
	if diff := cmp.Diff(tree(t, examples), tree(t, dir)); diff != "" {
		t.Errorf("extracted files differ from examples (-want +got):\n%s", diff)
	}

	// The second time, extracting repairs what was changed and leaves the rest alone.
	old := filepath.Join(before, "leftpad.go")
	stale := filepath.Join(after, "of_another_version.go")
	for _, path := range []string{old, stale} {
		if err := os.WriteFile(path, []byte("package stale"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	untouched := filepath.Join(before, "main.go")
	first, err := os.Stat(untouched)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Extract(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, examples), tree(t, dir)); diff != "" {
		t.Errorf("after the second extraction (-want +got):\n%s", diff)
	}
	if second, err := os.Stat(untouched); err != nil || !second.ModTime().Equal(first.ModTime()) {
		t.Errorf("%s was written again: %v", untouched, err)
	}
}

func TestExtractFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Extract(file); err == nil {
		t.Error("no error when the directory is a file")
	}
}

// Both modules have the same tests, which show that they give the same answers.
func TestBothModulesHaveTheSameTests(t *testing.T) {
	for _, name := range []string{"answers_test.go", "main_test.go", "go.mod"} {
		before, err := os.ReadFile(filepath.Join(examples, "before", name))
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(filepath.Join(examples, "after", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Errorf("%s differs (-before +after):\n%s", name, diff)
		}
	}
}

// tree reads every file below dir, in the order of their names.
func tree(t *testing.T, dir string) []txtar.File {
	t.Helper()
	var files []txtar.File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		// A binary or a profile left in the directory is not part of the example.
		if ext := filepath.Ext(path); ext != ".go" && ext != ".mod" && ext != ".md" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, txtar.File{Name: filepath.ToSlash(name), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
