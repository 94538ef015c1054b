// Command mandelbrot draws a fractal in one of six ways, which differ only in
// how they share the work between goroutines:
//
//	hone run ./examples/mandelbrot -- -mode px
//
// Its CPU profiles are nearly alike; the execution traces are not. With -listen
// it is a web service that draws a picture for each GET /mandelbrot, as many at
// a time as are asked for. Within its means, and beyond those of two cores:
//
//	hone run ./examples/mandelbrot -load http://127.0.0.1:8082/mandelbrot -rate 1 -- -listen 127.0.0.1:8082
//	hone run ./examples/mandelbrot -load http://127.0.0.1:8082/mandelbrot -rate 3 -- -listen 127.0.0.1:8082
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "seq", "how to share the work: "+strings.Join(modes(), ", "))
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "goroutines of the workers modes")
	size := flag.Int("size", 1024, "width and height in pixels")
	out := flag.String("o", "", "PNG file to write; without one the picture is encoded and dropped")
	listen := flag.String("listen", "", "serve GET /mandelbrot on this address instead")
	flag.Parse()

	paint, err := painterOf(*mode, *workers)
	if err != nil {
		log.Fatalf("mandelbrot: %v", err)
	}
	if err := checkSize(*size); err != nil {
		log.Fatalf("mandelbrot: -size %v", err)
	}
	if *listen != "" {
		err = listenAndServe(*listen, paint, *size)
	} else {
		err = drawFile(*out, paint, *size)
	}
	if err != nil {
		log.Fatalf("mandelbrot: %v", err)
	}
}

// maxSize bounds the memory for a picture: 4 bytes a pixel.
const maxSize = 8192

func checkSize(size int) error {
	if size < 1 || size > maxSize {
		return fmt.Errorf("%d: want 1 to %d", size, maxSize)
	}
	return nil
}

// drawFile draws a picture into the named file, or to nowhere.
func drawFile(name string, paint painter, size int) error {
	if name == "" {
		return draw(io.Discard, paint, size)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(draw(w, paint, size), w.Flush(), f.Close())
}

// draw writes the whole set as a PNG.
func draw(w io.Writer, paint painter, size int) error {
	p := newPicture(size)
	paint(p)
	return png.Encode(w, p.image)
}

func listenAndServe(addr string, paint painter, size int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s/mandelbrot", listener.Addr())
	return serve(ctx, listener, newHandler(paint, size))
}
