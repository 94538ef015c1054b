package exectrace_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestRecorded reads traces that older versions of Go wrote (testdata/recorder), and compares them
// with golang.org/x/exp/trace.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.trace.gz")
	if err != nil || len(files) < 3 {
		t.Fatal("recordings are missing", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data := gunzip(t, name)
			tr := compare(t, data, &consistent{t: t})
			info := tr.Info()
			want, _ := strconv.Atoi(regexp.MustCompile(`1\.(\d+)`).FindStringSubmatch(name)[1])
			if info.Version != want || info.Generations < 2 || info.Goroutines < 150 || info.Stacks < 30 {
				t.Errorf("Info = %+v", info)
			}
			if info.Start.IsZero() != (want < 25) {
				t.Errorf("it began %v; the wall clock is there since Go 1.25", info.Start)
			}
			for n := len(data) / 2; n < len(data); n += len(data)/40 + 1 {
				if _, err := read(t, data[:n]); err == nil {
					t.Logf("%d bytes of %d are a good trace", n, len(data))
				}
			}
		})
	}
}

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
