package altmod

import (
	"archive/zip"
	"os"
	"testing"
)

// writeZip writes a module's archive.
func writeZip(t *testing.T, path, prefix string, files map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	for name, text := range files {
		e, err := w.Create(prefix + name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
