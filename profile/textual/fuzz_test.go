package textual_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

// Whatever the text, reading returns a profile that can be written and read again, or an error,
// with memory proportional to the text.
func FuzzDecode(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 2000)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := textual.Decode(bytes.NewReader(text), 1<<20)
		if err != nil {
			return
		}
		if textual.Detect(text) == "" && len(text) < textual.HeadBytes {
			t.Error("decoded, but not detected")
		}
		if frames := size(p); frames > 4*len(text)+16 {
			t.Errorf("%d table entries from %d bytes", frames, len(text))
		}
		var b bytes.Buffer
		if err := p.EncodeRaw(&b); err != nil {
			t.Fatal(err)
		}
		again, err := profile.Decode(&b, 0)
		if err != nil {
			t.Fatalf("read again: %v", err)
		}
		if again.NumSamples() != p.NumSamples() {
			t.Errorf("%d samples, then %d", p.NumSamples(), again.NumSamples())
		}
	})
}

func size(p *profile.Profile) int {
	n := len(p.Functions) + len(p.Locations) + len(p.Mappings)
	for row := range p.NumSamples() {
		n += 1 + len(p.Stack(row))
	}
	return n
}

func FuzzGoroutines(f *testing.F) {
	for _, name := range []string{"goroutine-states.txt", "panic.txt"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dump, err := textual.Goroutines(bytes.NewReader(text), 1<<20)
		if err != nil {
			return
		}
		for _, g := range dump {
			if n := len(g.Stack); n > 0 && g.Stack[n-1].Inlined {
				t.Errorf("goroutine %d: its root is inlined", g.ID)
			}
		}
	})
}
