package inflate_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hone-go/hone/internal/inflate"
)

// texts are data of different kinds: runs, words, noise, numbers.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var words, few bytes.Buffer
	for words.Len() < 500_000 {
		fmt.Fprintf(&words, "example.org/shop/part%d.Function%d ", r.IntN(50), int(r.ExpFloat64()*100))
	}
	for few.Len() < 200_000 {
		few.WriteByte("aaaaaaaaaaaaaabc"[r.IntN(16)])
	}
	return map[string][]byte{
		"nothing": nil, "one byte": {7}, "zeros": make([]byte, 1<<20), "noise": noise,
		"words": words.Bytes(), "few letters": few.Bytes(), "pairs": []byte(strings.Repeat("ab", 70_000)),
		"noise and words": append(append([]byte{}, noise...), words.Bytes()...),
	}
}

func zip(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Name, w.Comment, w.Extra = "a name", "", []byte("extra")
	for len(data) > 0 { // flushes cause stored and fixed blocks
		n := min(len(data), 90_001)
		w.Write(data[:n])
		if data = data[n:]; n%3 == 0 {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func inflated(r io.Reader) ([]byte, error) {
	d, err := inflate.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(d)
}

func TestInflatesWhatGzipWrote(t *testing.T) {
	for name, data := range texts() {
		for _, level := range []int{gzip.HuffmanOnly, gzip.NoCompression, gzip.BestSpeed, gzip.DefaultCompression, gzip.BestCompression} {
			zipped := zip(t, data, level)
			for how, r := range map[string]io.Reader{
				"whole": bytes.NewReader(zipped), "halves": iotest.HalfReader(bytes.NewReader(zipped)),
				"with its end": iotest.DataErrReader(bytes.NewReader(zipped)), "a byte, then the rest": io.MultiReader(bytes.NewReader(zipped[:1]), bytes.NewReader(zipped[1:])),
			} {
				got, err := inflated(r)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s, level %d, %s: %d bytes of %d, error %v", name, level, how, len(got), len(data), err)
				}
			}
		}
	}
}

func TestReaderIsAReader(t *testing.T) {
	data := texts()["words"][:50_000]
	d, err := inflate.NewReader(bytes.NewReader(zip(t, data, 6)))
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(d, data); err != nil {
		t.Error(err)
	}
	if got, err := inflated(iotest.OneByteReader(bytes.NewReader(zip(t, data, 9)))); err != nil || !bytes.Equal(got, data) {
		t.Errorf("from a source that gives single bytes: %d bytes, %v", len(got), err)
	}
}

func TestMembersAreJoined(t *testing.T) {
	joined := append(zip(t, []byte("one, "), 6), zip(t, []byte("one, two"), 9)...)
	if got, err := inflated(bytes.NewReader(joined)); err != nil || string(got) != "one, one, two" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := inflated(bytes.NewReader(append(joined, "tail"...))); !errors.Is(err, inflate.ErrCorrupt) {
		t.Errorf("with a tail: %v", err)
	}
}

// TestEveryCutIsSeen truncates a stream everywhere: the data before the cut is right, and the error
// is the right one.
func TestEveryCutIsSeen(t *testing.T) {
	data := texts()["words"][:2000]
	for _, level := range []int{0, 1, 9} {
		zipped := zip(t, data, level)
		for n := range zipped {
			got, err := inflated(bytes.NewReader(zipped[:n]))
			if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(data, got) {
				t.Fatalf("level %d, %d of %d bytes: error %v after %d bytes", level, n, len(zipped), err, len(got))
			}
		}
	}
}

func TestErrorsOfTheSourceComeThrough(t *testing.T) {
	zipped := zip(t, texts()["noise"], 6)
	broken := errors.New("the wire is cut")
	_, err := inflated(io.MultiReader(bytes.NewReader(zipped[:100_000]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// sameAsGzip compares with compress/gzip: the same data, and an error for the same inputs.
func sameAsGzip(t *testing.T, zipped []byte) {
	t.Helper()
	const most = 8 << 20
	var want []byte
	zr, wantErr := gzip.NewReader(bytes.NewReader(zipped))
	if wantErr == nil {
		want, wantErr = io.ReadAll(io.LimitReader(zr, most))
	}
	var got []byte
	d, err := inflate.NewReader(bytes.NewReader(zipped))
	if err == nil {
		got, err = io.ReadAll(io.LimitReader(d, most))
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, compress/gzip has %v", err, wantErr)
	}
	// At an error, either reader may have read a little further.
	if err == nil && !bytes.Equal(got, want) || !bytes.HasPrefix(want, got) && !bytes.HasPrefix(got, want) {
		t.Fatalf("%d bytes, error %v; compress/gzip has %d, %v", len(got), err, len(want), wantErr)
	}
}

func TestFlippedBitsAreJudgedAsByGzip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, data := range texts() {
		data = data[:min(len(data), 3000)]
		for _, level := range []int{gzip.HuffmanOnly, 0, 1, 9} {
			zipped := zip(t, data, level)
			for range 100 {
				broken := bytes.Clone(zipped)
				for range 1 + r.IntN(3) {
					broken[r.IntN(len(broken))] ^= 1 << r.IntN(8)
				}
				t.Run(name, func(t *testing.T) { sameAsGzip(t, broken) })
			}
		}
	}
}

func TestNamesAreAsLongAsForGzip(t *testing.T) {
	for _, n := range []int{0, 1, 510, 511, 512, 513, 5000} {
		name := strings.Repeat("n", n)
		for _, h := range []gzip.Header{{Name: name}, {Comment: name}, {Name: "short", Comment: name}} {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Header = h
			if _, err := w.Write([]byte("the data")); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			sameAsGzip(t, b.Bytes())
			for _, cut := range []int{5, 12, b.Len() / 2, b.Len() - 30} {
				sameAsGzip(t, b.Bytes()[:max(cut, 0)])
			}
		}
	}
}

func FuzzAsGzip(f *testing.F) {
	for _, data := range texts() {
		f.Add(zip(f, data[:min(len(data), 200)], 9))
		f.Add(zip(f, data[:min(len(data), 200)], gzip.HuffmanOnly))
	}
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x04\xc0\x01\x01\x00\x00\x00\x00\x20\x10\xa0"))
	f.Add([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff" + strings.Repeat("n", 600) + "\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(sameAsGzip)
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"words", "few letters", "zeros"} {
		data := texts()[name]
		zipped := zip(b, data, gzip.DefaultCompression)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				d, err := inflate.NewReader(bytes.NewReader(zipped))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
