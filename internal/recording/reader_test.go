package recording

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample writes a recording of n parts, and returns its bytes and the file's length after each
// part.
func sample(t testing.TB, n int) (data []byte, after []int) {
	t.Helper()
	w, path := create(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		body := make([]byte, rnd.IntN(300))
		for j := range body {
			body[j] = byte(rnd.IntN(4)) // compresses
		}
		if i%2 == 0 {
			body = append([]byte{0x1f, 0x8b}, body...) // is stored
		}
		must(t, w.Add(fmt.Sprintf("part%d", i), PhaseCPU, body))
		fi, err := os.Stat(path)
		must(t, err)
		after = append(after, int(fi.Size()))
	}
	must(t, w.Close(true))
	data, err := os.ReadFile(path)
	must(t, err)
	return data, after
}

// TestCutAnywhere: a file truncated at any byte opens with the parts that were finished before.
func TestCutAnywhere(t *testing.T) {
	data, after := sample(t, 6)
	for cut := range len(data) + 1 {
		r, err := read(bytes.NewReader(data[:cut]), int64(cut))
		if cut < after[0] {
			if err == nil {
				t.Fatalf("cut at %d, before the first checkpoint at %d: opened", cut, after[0])
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		finished, border := 0, cut == len(data)
		for i, a := range after {
			if a <= cut {
				finished = i + 1
			}
			border = border || a == cut
		}
		if got := len(r.Manifest.Parts); got != finished {
			t.Fatalf("cut at %d: %d parts, want %d", cut, got, finished)
		}
		if r.Cut == border {
			t.Fatalf("cut at %d: Cut is %v", cut, r.Cut)
		}
		if r.Manifest.Complete != (cut == len(data)) {
			t.Fatalf("cut at %d: Complete is %v", cut, r.Manifest.Complete)
		}
		if err := r.Verify(); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

// TestTornTail: what a crash leaves after the last checkpoint does not matter: noise, zeros or
// pieces of zip.
func TestTornTail(t *testing.T) {
	data, _ := sample(t, 3)
	rapid.Check(t, func(t *rapid.T) {
		tail := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 1, 400),
			rapid.Custom(func(t *rapid.T) []byte {
				return bytes.Repeat([]byte("PK\x05\x06"), rapid.IntRange(1, 50).Draw(t, "n"))
			}),
			rapid.Custom(func(t *rapid.T) []byte { return make([]byte, rapid.IntRange(1, 200_000).Draw(t, "zeros")) }),
			rapid.Custom(func(t *rapid.T) []byte {
				return appendEnd([]byte("x"), rapid.IntRange(0, 9).Draw(t, "entries"), uint32(len(data)), 1)
			}),
		).Draw(t, "tail")
		torn := append(bytes.Clone(data), tail...)
		r, err := read(bytes.NewReader(torn), int64(len(torn)))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Manifest.Parts) != 3 {
			t.Fatalf("%d parts", len(r.Manifest.Parts))
		}
		if err := r.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEndAcrossChunks(t *testing.T) {
	data, _ := sample(t, 2)
	for shift := range 2 * endLen {
		torn := append(bytes.Clone(data), make([]byte, 64<<10-shift)...)
		r, err := read(bytes.NewReader(torn), int64(len(torn)))
		if err != nil || !r.Cut || len(r.Manifest.Parts) != 2 {
			t.Fatalf("shift %d: %v", shift, err)
		}
	}
}

// makeZip writes a zip of files in order, as other tools would.
func makeZip(t testing.TB, nameThenBody ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(nameThenBody); i += 2 {
		f, err := z.Create(nameThenBody[i])
		must(t, err)
		f.Write([]byte(nameThenBody[i+1]))
	}
	must(t, z.Close())
	return b.Bytes()
}

func manifestText(t testing.TB, parts ...Part) string {
	t.Helper()
	b, err := json.Marshal(Manifest{Schema: Schema, Parts: parts})
	must(t, err)
	return string(b)
}

func TestPackedAgain(t *testing.T) {
	data := makeZip(t, "folder/", "", "notes.txt", "mine", "manifest.json", manifestText(t, Part{Name: "a", Bytes: 2}), "a", "aa")
	r, err := read(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if b, err := r.Bytes("a"); string(b) != "aa" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if r.Has("notes.txt") {
		t.Error("a file that the manifest does not name is a part")
	}
	if err := r.Verify(); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("Verify without a checksum: %v", err)
	}
}

func TestForeignFiles(t *testing.T) {
	whole, after := sample(t, 2)
	tests := []struct {
		name string
		data []byte
		want string
		our  bool // our own, damaged: not ErrForeign
	}{
		{"empty", nil, "the file is empty", false},
		{"pprof", zipped("profile"), "gzip'd, perhaps a pprof profile", false},
		{"trace", []byte("go 1.26 trace\x00\x00\x00rest"), "an execution trace", false},
		{"text", []byte("goos: linux\ngoarch: amd64\n"), `begins with "goos: linux`, false},
		{"binary", []byte("\x7fELF\x02\x01"), "an executable", false},
		{"zip of something", makeZip(t, "a.txt", "a"), "a zip without manifest.json", false},
		{"empty zip", makeZip(t), "a zip without content", false},
		{"other manifest", makeZip(t, "manifest.json", `{"name":"web app"}`), `has the schema ""`, false},
		{"newer schema", makeZip(t, "manifest.json", `{"schema":"hone/recording/v2","parts":7}`), "a newer hone wrote it", false},
		{"no JSON", makeZip(t, "manifest.json", "{"), "decode manifest.json", true},
		{"before the first checkpoint", whole[:after[0]-1], "ends before its first part was finished", true},
		{"part not there", makeZip(t, "manifest.json", manifestText(t, Part{Name: "a"})), "names a, which the file does not hold", true},
		{"part twice", makeZip(t, "manifest.json", manifestText(t, Part{Name: "a"}, Part{Name: "a"}), "a", ""), "names a twice", true},
		{"entry twice", makeZip(t, "manifest.json", manifestText(t), "a", "", "a", "x"), `"a" occurs twice`, true},
		{"other size", makeZip(t, "manifest.json", manifestText(t, Part{Name: "a", Bytes: 9}), "a", "x"), "says 9 bytes for a", true},
		{"name climbs", makeZip(t, "manifest.json", manifestText(t, Part{Name: "../a"}), "../a", ""), `bad part name "../a"`, true},
		{"huge part", makeZip(t, "manifest.json", manifestText(t, Part{Name: "a", Bytes: 1 << 40}), "a", ""), "at most", true},
		{"huge manifest", makeZip(t, "manifest.json", strings.Repeat(" ", maxManifestBytes+1)), "more than the allowed", true},
		{"too many entries", makeZip(t, manyNames(maxParts+2)...), "ends before its first part", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hone")
			must(t, os.WriteFile(path, tt.data, 0o644))
			_, err := Open(path)
			if err == nil {
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q does not say %q and the file", err, tt.want)
			}
			if errors.Is(err, ErrForeign) == tt.our {
				t.Errorf("ErrForeign: %v", !tt.our)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no.hone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func manyNames(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(i), "")
	}
	return list
}

// TestBomb: a part that inflates beyond its declared size is an error.
func TestBomb(t *testing.T) {
	body := strings.Repeat("a", 1<<20)
	data := makeZip(t, "manifest.json", manifestText(t, Part{Name: "a", Bytes: 10}), "a", body)
	// The directory states a wrong size, too.
	at := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], 10)
	r, err := read(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if b, err := r.Bytes("a"); err == nil || len(b) > 10 {
		t.Errorf("read %d bytes, %v", len(b), err)
	}
	if r.Verify() == nil {
		t.Error("Verify is content")
	}
}

// TestFlippedByte: Verify finds every changed byte of a part.
func TestFlippedByte(t *testing.T) {
	data, _ := sample(t, 2)
	for at := range data {
		bad := bytes.Clone(data)
		bad[at] ^= 0x40
		r, err := read(bytes.NewReader(bad), int64(len(bad)))
		if err != nil || r.Verify() != nil || r.Cut {
			continue
		}
		for _, p := range r.Manifest.Parts {
			got, err := r.Bytes(p.Name)
			must(t, err)
			if want := partOf(t, data, p.Name); !bytes.Equal(got, want) {
				t.Fatalf("byte %d changed %s and Verify did not see it", at, p.Name)
			}
		}
	}
}

func partOf(t *testing.T, data []byte, name string) []byte {
	t.Helper()
	r, err := read(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	b, err := r.Bytes(name)
	must(t, err)
	return b
}

func FuzzOpen(f *testing.F) {
	data, after := sample(f, 3)
	f.Add(data)
	f.Add(data[:after[1]+5])
	f.Add(makeZip(f, "manifest.json", manifestText(f, Part{Name: "a", Bytes: 1}), "a", "x"))
	f.Add(zipped("profile"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, p := range r.Manifest.Parts {
			if b, err := r.Bytes(p.Name); err == nil && int64(len(b)) != p.Bytes {
				t.Errorf("%s: %d bytes, the manifest says %d", p.Name, len(b), p.Bytes)
			}
		}
		_ = r.Verify()
	})
}

// BenchmarkOpenCut opens a recording of which a large part was cut off.
func BenchmarkOpenCut(b *testing.B) {
	data, _ := sample(b, 3)
	tail := make([]byte, 16<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range tail {
		tail[i] = byte(rnd.Uint32())
	}
	torn := append(data, tail...)
	b.SetBytes(int64(len(torn)))
	for b.Loop() {
		if r, err := read(bytes.NewReader(torn), int64(len(torn))); err != nil || !r.Cut {
			b.Fatal(err)
		}
	}
}
