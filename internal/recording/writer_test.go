package recording

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// create starts a recording in a fresh directory.
func create(t testing.TB) (*Writer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hone")
	w, err := Create(path, Manifest{Hone: "test", Target: Target{Kind: "service", Arg: "./cmd/server"}})
	if err != nil {
		t.Fatal(err)
	}
	return w, path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *Recording {
	t.Helper()
	r, err := Open(path)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.Bytes()
}

// files lists what is in a directory.
func files(t testing.TB, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestRoundTrip(t *testing.T) {
	w, path := create(t)
	parts := map[string][]byte{
		PartCPU:       zipped("a profile"),
		PartBuildInfo: []byte(strings.Repeat("dep\texample.com/x\tv1.0.0\n", 500)),
		PartStdout:    nil,
		"before/x":    {0, 1, 2},
	}
	for _, name := range []string{PartCPU, PartBuildInfo, PartStdout, "before/x"} {
		must(t, w.Add(name, PhaseCPU, parts[name]))
	}
	clean := Phase{Name: PhaseClean, Start: noon, Seconds: 6, Requests: 12,
		Latency: &Quantiles{P50: 0.001, P999: 0.2}, Windows: []Window{{Seconds: 1, Requests: 2}}}
	w.Update(func(m *Manifest) {
		m.Phases = append(m.Phases, clean)
		m.Missing = append(m.Missing, Missing{Part: PartMutex, Why: "its rate is 0", How: "call runtime.SetMutexProfileFraction"})
		m.Schema, m.Parts = "nonsense", nil // must not change: it is the caller's
	})
	must(t, w.Close(true))
	must(t, w.Close(true))

	r := open(t, path)
	must(t, r.Verify())
	if r.Cut || !r.Manifest.Complete {
		t.Errorf("Cut %v, Complete %v", r.Cut, r.Manifest.Complete)
	}
	if d := cmp.Diff(w.Manifest(), r.Manifest); d != "" {
		t.Errorf("manifest changed on its way (-written +read):\n%s", d)
	}
	if got, ok := r.Phase(PhaseClean); !ok || !cmp.Equal(got, clean) {
		t.Errorf("phase clean: %+v", got)
	}
	for name, want := range parts {
		got, err := r.Bytes(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	_, err := r.Part(PartMutex)
	if err == nil || !strings.Contains(err.Error(), "its rate is 0 (call runtime.SetMutexProfileFraction)") {
		t.Errorf("a missing part does not say why: %v", err)
	}
	if r.Has(PartMutex) || !r.Has(PartCPU) {
		t.Error("Has is wrong")
	}
	if err := w.Add("late", "", nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Add after Close: %v", err)
	}
}

// TestOtherTools: every checkpoint is a valid zip for archive/zip and unzip.
func TestOtherTools(t *testing.T) {
	w, path := create(t)
	unzip, _ := exec.LookPath("unzip")
	for i := range 3 {
		must(t, w.Add(fmt.Sprintf("part%d.txt", i), "", []byte(strings.Repeat("text ", i*100))))
		z, err := zip.OpenReader(path)
		must(t, err)
		var names []string
		for _, f := range z.File {
			rc, err := f.Open()
			must(t, err)
			_, err = io.Copy(io.Discard, rc) // checks the CRC
			must(t, err)
			names = append(names, f.Name)
		}
		z.Close()
		if len(names) != i+2 || names[len(names)-1] != "manifest.json" {
			t.Errorf("after part %d archive/zip sees %q", i, names)
		}
		if unzip == "" {
			continue
		}
		if out, err := exec.Command(unzip, "-t", path).CombinedOutput(); err != nil {
			t.Errorf("after part %d: unzip -t: %v\n%s", i, err, out)
		}
	}
	must(t, w.Close(true))
	if unzip == "" {
		t.Skip("no unzip here; archive/zip was enough")
	}
}

func TestReplacePart(t *testing.T) {
	w, path := create(t)
	must(t, w.Add(PartMetrics, "", []byte("1\n")))
	must(t, w.Add(PartCPU, PhaseCPU, zipped("cpu")))
	must(t, w.Add(PartMetrics, "", []byte("1\n2\n")))
	must(t, w.Close(true))
	r := open(t, path)
	must(t, r.Verify())
	if b, err := r.Bytes(PartMetrics); string(b) != "1\n2\n" || err != nil {
		t.Errorf("metrics.jsonl is %q, %v", b, err)
	}
	if n := len(r.Manifest.Parts); n != 2 {
		t.Errorf("%d parts", n)
	}
}

func TestNothingLeftWhenNothingAdded(t *testing.T) {
	w, path := create(t)
	w.Update(func(m *Manifest) { m.Notes = append(m.Notes, "x") })
	must(t, w.Close(false))
	if got := files(t, filepath.Dir(path)); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestOverwriteOnFirstAddOnly(t *testing.T) {
	w, path := create(t)
	must(t, os.WriteFile(path, []byte("an older recording"), 0o644))
	must(t, w.Close(false))
	if b, _ := os.ReadFile(path); string(b) != "an older recording" {
		t.Fatalf("a recording without parts replaced the file: %q", b)
	}
	w, err := Create(path, Manifest{})
	must(t, err)
	must(t, w.Add("a.txt", "", []byte("a")))
	must(t, w.Close(true))
	if r := open(t, path); !r.Has("a.txt") || r.Cut {
		t.Error("the new recording did not replace the old file")
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	for _, path := range []string{"", dir, filepath.Join(dir, "no", "x.hone"), filepath.Join(dir, "file", "x.hone")} {
		if _, err := Create(path, Manifest{}); err == nil {
			t.Errorf("Create(%q) succeeded", path)
		}
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("left behind: %q", got)
	}
}

func TestAddRefuses(t *testing.T) {
	w, path := create(t)
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a//b", "a/../b", `a\b`, "c:x", ".hidden",
		"manifest.json", "Manifest.JSON", "a\nb", strings.Repeat("x", 201)} {
		if err := w.Add(name, "", nil); err == nil {
			t.Errorf("Add(%q) succeeded", name)
		}
	}
	must(t, w.Close(true))
	if _, err := os.Stat(path); err == nil {
		t.Error("refused parts left a file")
	}
}

// smallDisk is a file on a disk with room for size bytes.
type smallDisk struct {
	*os.File
	size int64
}

func (d *smallDisk) WriteAt(b []byte, off int64) (int, error) {
	if room := d.size - off; int64(len(b)) > room {
		n, _ := d.File.WriteAt(b[:max(0, room)], off)
		return n, &os.PathError{Op: "write", Path: d.Name(), Err: syscall.ENOSPC}
	}
	return d.File.WriteAt(b, off)
}

func TestDiskFull(t *testing.T) {
	w, path := create(t)
	disk := &smallDisk{size: 16 << 10}
	w.begin = func(path string, first []byte) (appendFile, error) {
		f, err := beginFile(path, first)
		if err == nil {
			disk.File = f.(*os.File)
		}
		return disk, err
	}
	must(t, w.Add("small", "", []byte("fits")))
	big := make([]byte, 32<<10)
	for i := range big {
		big[i] = byte(i * i >> 3 * 7)
	}
	err := w.Add("big", "", append([]byte{0x1f, 0x8b}, big...)) // is stored without compression
	if err == nil || !strings.Contains(err.Error(), "add big: disk full") {
		t.Fatalf("a full disk gives %v", err)
	}
	// The file on disk is complete again, and small parts still fit.
	if r := open(t, path); r.Cut || !r.Has("small") || r.Has("big") {
		t.Errorf("after the failed Add: cut %v, parts %v", r.Cut, r.Manifest.Parts)
	}
	w.Update(func(m *Manifest) { m.Notes = append(m.Notes, err.Error()) })
	must(t, w.Close(false))
	r := open(t, path)
	must(t, r.Verify())
	if len(r.Manifest.Notes) != 1 || r.Manifest.Complete {
		t.Errorf("the last manifest was not written: %+v", r.Manifest)
	}
}

func TestDiskFullAtOnce(t *testing.T) {
	w, path := create(t)
	w.begin = func(string, []byte) (appendFile, error) { return nil, syscall.ENOSPC }
	if err := w.Add("a", "", nil); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a full disk gives %v", err)
	}
	must(t, w.Close(false))
	if got := files(t, filepath.Dir(path)); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	w, _ := create(b)
	defer w.Close(true)
	data := []byte(strings.Repeat(`{"t":1.0,"phase":"clean","m":{"/gc/heap/allocs:bytes":{"v":12345}}}`+"\n", 1000))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := w.Add(PartMetrics, "", data); err != nil {
			b.Fatal(err)
		}
	}
}
