package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// OutputCap bounds the stdout and stderr files; what comes after is counted and dropped.
const OutputCap = 8 << 20

// outputLook is the interval at which an output file's size is checked.
const outputLook = 100 * time.Millisecond

// output is a file that the program writes to directly: a pipe would cost it a third more per line.
// The file is opened for appending, so that hone can cut it back to its cap at any time and the
// program continues at the new end.
type output struct {
	file *os.File // the program's
	look *os.File // hone's; nil when nothing is kept
	temp bool     // the file goes with the process

	mu      sync.Mutex
	dropped int64
	tail    []byte // last bytes, where they are wanted
	want    bool
	echo    *echo
	shown   int64 // of the file, to echo
}

// echo passes on what a program prints as it prints it. A piece ends at a line's end where
// possible, so that lines of stdout and stderr do not mix.
type echo struct {
	mu sync.Mutex
	w  io.Writer
}

func newEcho(w io.Writer) *echo {
	if w == nil {
		return nil
	}
	return &echo{w: w}
}

// show passes on the file's content from o.shown to size, up to the last line's end unless it is
// the final piece.
func (o *output) show(size int64, last bool) {
	const most = 64 << 10
	for o.echo != nil && o.shown < size {
		b := make([]byte, min(most, size-o.shown))
		n, err := o.look.ReadAt(b, o.shown)
		if b = b[:n]; n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return
		}
		if end := bytes.LastIndexByte(b, '\n') + 1; end > 0 {
			b = b[:end]
		} else if !last && n < most {
			return
		}
		o.shown += int64(len(b))
		o.echo.mu.Lock()
		o.echo.w.Write(b) // an error of the reader is not the program's concern
		o.echo.mu.Unlock()
	}
}

// openOutput creates the file; "" drops the output, unless its tail is wanted: then a file in dir
// takes it.
func openOutput(path, dir string, tail bool, e *echo) (*output, error) {
	o := &output{want: tail, echo: e}
	var err error
	switch {
	case path == "" && !tail:
		o.file, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		return o, err
	case path == "":
		f, err := os.CreateTemp(dir, "stderr-")
		if err != nil {
			return nil, err
		}
		path, o.temp = f.Name(), true
		f.Close()
	}
	if o.file, err = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	if o.look, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// watch calls cut at intervals, until the program has exited.
func (o *output) watch(done <-chan struct{}) {
	if o.look == nil {
		return
	}
	t := time.NewTicker(outputLook)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			o.cut()
		case <-done:
			return
		}
	}
}

// cut frees the disk space of output beyond the cap.
func (o *output) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	st, err := o.look.Stat()
	if err != nil {
		return
	}
	o.show(st.Size(), false)
	if st.Size() > OutputCap && !o.hollow(st.Size()) {
		o.shorten(st.Size())
	}
}

// shorten cuts back a file that the program writes to, where holes are not possible.
func (o *output) shorten(size int64) {
	o.keepTail(size)
	// What the program writes between the last look at the size and the cut is lost, and may be its
	// last words: nothing slow may stand there.
	for range 4 {
		st, err := o.look.Stat()
		if err != nil || st.Size() <= size {
			break
		}
		o.addTail(size, st.Size())
		size = st.Size()
		o.show(size, true)
	}
	o.drop(size)
}

// hollow frees the disk blocks of output that was already read. The file keeps its size, so the
// program's next write goes to the same offset as before, and nothing is lost. It reports false if
// the system or the file system cannot free blocks.
func (o *output) hollow(size int64) bool {
	end := size - stderrTail
	if o.echo != nil {
		end = min(end, o.shown)
	}
	return end <= OutputCap || punchHole(o.look, OutputCap, end-OutputCap) == nil
}

// drop shortens a file of that size to the cap.
func (o *output) drop(size int64) {
	if size > OutputCap && o.look.Truncate(OutputCap) == nil {
		o.dropped += size - OutputCap
		o.shown = min(o.shown, OutputCap)
	}
}

// keepTail reads the last bytes of a file of that size.
func (o *output) keepTail(size int64) {
	if !o.want {
		return
	}
	from := max(0, size-stderrTail)
	if o.dropped > 0 {
		// The bytes before the cap are older than what was dropped after it.
		from = max(from, OutputCap)
	}
	if o.dropped == 0 {
		o.tail = nil
	}
	o.addTail(from, size)
}

// addTail adds the bytes between two offsets of the file to the tail.
func (o *output) addTail(from, to int64) {
	if !o.want {
		return
	}
	b := make([]byte, to-max(from, to-stderrTail))
	n, err := o.look.ReadAt(b, to-int64(len(b)))
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	b = append(o.tail, b[:n]...)
	o.tail = b[max(0, len(b)-stderrTail):]
}

// finish reads the tail, closes the files, and returns how many bytes were dropped.
func (o *output) finish() int64 {
	if o.look != nil {
		o.mu.Lock()
		if st, err := o.look.Stat(); err == nil {
			o.keepTail(st.Size())
			o.show(st.Size(), true)
			o.drop(st.Size())
		}
		o.mu.Unlock()
	}
	o.Close()
	return o.dropped
}

// Close closes the files and removes a temporary one.
func (o *output) Close() error {
	err := o.file.Close()
	if o.look != nil {
		o.look.Close()
	}
	if o.temp {
		if rm := os.Remove(o.file.Name()); rm != nil && err == nil {
			err = fmt.Errorf("remove the program's stderr: %w", rm)
		}
	}
	return err
}
