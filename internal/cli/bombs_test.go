package cli

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
)

// bomb writes a recording with one part, which repeats text up to size bytes.
func bomb(t *testing.T, part string, text []byte, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.hone")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	m := recording.Manifest{
		Schema: recording.Schema, ID: "bomb", Created: time.Now(), Complete: true,
		Phases: []recording.Phase{{Name: recording.PhaseCPU}},
		Parts:  []recording.Part{{Name: part, Phase: recording.PhaseCPU, Bytes: int64(size)}},
	}
	w, err := z.Create(part)
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat(text, max(1, 1<<20/len(text)))
	for left := size; left > 0 && err == nil; left -= len(chunk) {
		_, err = w.Write(chunk[:min(left, len(chunk))])
	}
	if err == nil {
		w, err = z.Create("manifest.json")
	}
	if err == nil {
		err = json.NewEncoder(w).Encode(m)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tiny is a compressed profile of 64 MiB, with locations that have only an id.
func tiny(t *testing.T) []byte {
	t.Helper()
	var records bytes.Buffer
	for id := uint64(1); records.Len() < 1<<20; id++ {
		body := binary.AppendUvarint([]byte{0x08}, id)
		records.Write(append([]byte{0x22, byte(len(body))}, body...))
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	for range 64 {
		if err == nil {
			_, err = z.Write(records.Bytes()) // ids repeat, which shows when all are read
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// TestBombs: recordings that unpack to far more than they may contain are refused with a clear
// error, within 512 MiB.
func TestBombs(t *testing.T) {
	live.Only(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	small := tiny(t)
	for _, b := range []struct{ name, path, want string }{
		{"1 GiB of a profile", bomb(t, recording.PartCPU, []byte{0}, 1<<30), "no real part does"},
		{"tiny records", bomb(t, recording.PartCPU, small, len(small)), "no real profile does"},
		{"1 GiB of metrics", bomb(t, recording.PartMetrics, []byte("{}\n"), 1<<30), "no real part does"},
	} {
		metrics := strings.Contains(b.name, "metrics")
		for _, args := range [][]string{{"findings", b.path}, {"top", b.path}, {"list", ".", b.path}, {"compare", b.path, b.path}, {"diff", b.path, b.path}} {
			cmd := exec.Command(self)
			cmd.Args = append([]string{"hone"}, args...)
			cmd.Env = append(os.Environ(), "HONE_CACHE="+t.TempDir())
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			said := stdout.String() + stderr.String()
			if peak := peakMemory(cmd.ProcessState); peak > 512<<20 {
				t.Errorf("%s: hone %s: took %d MiB", b.name, args[0], peak>>20)
			}
			if err == nil && args[0] != "compare" && !metrics {
				t.Errorf("%s: hone %s: no error", b.name, args[0])
			}
			if !strings.Contains(said, b.want) && args[0] != "compare" && (!metrics || args[0] == "findings") {
				t.Errorf("%s: hone %s: says %s", b.name, args[0], said)
			}
			t.Logf("%s: hone %s: %d MiB, %s: %.400s", b.name, args[0], peakMemory(cmd.ProcessState)>>20, cmd.ProcessState.UserTime().Round(time.Millisecond), said)
		}
	}
}

// TestMaxMemory: a command that exceeds its memory limit is stopped, with an error that names the
// flag.
func TestMaxMemory(t *testing.T) {
	live.Only(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var folded bytes.Buffer
	for i := range 1 << 17 {
		fmt.Fprintf(&folded, "main.main;main.f%d;main.g%d 7\n", i%5000, i)
	}
	path := filepath.Join(t.TempDir(), "big.folded")
	if err := os.WriteFile(path, folded.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	top := func(size string) (string, error) {
		cmd := exec.Command(self)
		cmd.Args = []string{"hone", "top", "-max_memory", size, path}
		cmd.Env = append(os.Environ(), "HONE_CACHE="+t.TempDir())
		cmd.Stdout = io.Discard
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		return stderr.String(), err
	}
	if said, err := top("30MiB"); err == nil || !strings.Contains(said, "-max_memory") {
		t.Errorf("with 30MiB: %v, %s", err, said)
	}
	for _, size := range []string{"4GiB", "0"} {
		if said, err := top(size); err != nil {
			t.Errorf("with %s: %v, %s", size, err, said)
		}
	}
	if said, err := top("much"); err == nil || !strings.Contains(said, "not a size") {
		t.Errorf("with much: %v, %s", err, said)
	}
}
