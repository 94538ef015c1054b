package main

import (
	"bytes"
	"context"
	"image/color"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The picture does not depend on how the work is divided.
func TestModesDrawTheSamePicture(t *testing.T) {
	const size = 33
	var want []byte
	for _, name := range modes() {
		for _, workers := range []int{1, 3} {
			paint, err := painterOf(name, workers)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := draw(&got, paint, size); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Bytes()
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s with %d workers draws another picture", name, workers)
			}
		}
	}
}

// The escape counts of these points are known: 0 never escapes, -2 is on the boundary, 1 goes 1, 2,
// 5.
func TestEscape(t *testing.T) {
	for _, tc := range []struct {
		c    complex128
		want int
	}{{0, depth}, {-2, depth}, {-1, depth}, {1, 2}, {2 + 2i, 0}} {
		if got := escape(tc.c); got != tc.want {
			t.Errorf("escape(%v) = %d, want %d", tc.c, got, tc.want)
		}
	}
}

// The set is black, and what is outside of it is not. The origin is at (81, 50) of 100.
func TestPicture(t *testing.T) {
	p := newPicture(100)
	paintSequentially(p)
	inside := p.image.NRGBAAt(81, 50)
	outside := p.image.NRGBAAt(0, 0)
	if inside != (color.NRGBA{A: 255}) || outside == inside {
		t.Errorf("origin %v, corner %v", inside, outside)
	}
}

func TestPainterOfRefuses(t *testing.T) {
	if _, err := painterOf("diagonal", 1); err == nil {
		t.Error("no error for an unknown mode")
	}
	if _, err := painterOf("workers", 0); err == nil {
		t.Error("no error for 0 workers")
	}
	for _, size := range []int{-1, 0, maxSize + 1} {
		if checkSize(size) == nil {
			t.Errorf("no error for size %d", size)
		}
	}
}

func TestDrawFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "set.png")
	if err := drawFile(name, paintSequentially, 8); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := png.DecodeConfig(f); err != nil || got.Width != 8 || got.Height != 8 {
		t.Errorf("%v, %v, want 8 × 8", got, err)
	}
	if err := drawFile(filepath.Join(name, "below"), paintSequentially, 8); err == nil {
		t.Error("no error for a file that cannot be made")
	}
}

// The service answers with the picture, and stops on request.
func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, newHandler(paintRowsApart, 16)) }()

	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + listener.Addr().String() + "/mandelbrot")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := draw(&want, paintSequentially, 16); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) || resp.Header.Get("Content-Type") != "image/png" {
		t.Errorf("%d bytes of %s, want the picture", len(got), resp.Header.Get("Content-Type"))
	}

	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still serving 10 s after the stop")
	}
}

func BenchmarkModes(b *testing.B) {
	for _, name := range modes() {
		b.Run(name, func(b *testing.B) {
			paint, err := painterOf(name, 4)
			if err != nil {
				b.Fatal(err)
			}
			for i := 0; i < b.N; i++ {
				paint(newPicture(128))
			}
		})
	}
}
