package changed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// release writes a module to a directory. The text is an archive of files, or one file.
func release(t testing.TB, version, text string) Release {
	t.Helper()
	dir := t.TempDir()
	archive := txtar.Parse([]byte(text))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "m.go", Data: []byte(text)}}
	}
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Release{Module: "example.com/m", Version: version, Dir: dir}
}

// compare compares F of two modules.
func compare(t testing.TB, old, new, name string) *Change {
	t.Helper()
	c, err := Function(release(t, "v1.0.0", old), release(t, "v1.1.0", new), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func texts(list []Fact) (out []string) {
	for _, f := range list {
		out = append(out, f.Text)
	}
	return out
}

// TestFacts has a pair of sources for each kind of fact.
func TestFacts(t *testing.T) {
	for _, c := range pairs {
		t.Run(c.name, func(t *testing.T) {
			got := compare(t, "package m\n"+c.old, "package m\n"+c.new, "example.com/m.F")
			check(t, "gone", texts(got.Gone), c.gone)
			check(t, "new", texts(got.New), c.now)
			if len(got.Diff) == 0 && !got.Same || len(got.Diff) > maxDiff {
				t.Errorf("the diff has %d lines", len(got.Diff))
			}
		})
	}
}

// check compares texts with those wanted, separated by semicolons, in any order.
func check(t *testing.T, what string, got []string, want string) {
	t.Helper()
	wanted := []string{}
	for text := range strings.SplitSeq(want, "; ") {
		if text != "" {
			wanted = append(wanted, text)
		}
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, wanted)
	}
}
